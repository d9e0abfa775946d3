// uv.c — W14 on libuv.

#include <signal.h>
#include <stdlib.h>
#include <uv.h>

#include "events.h"

static uv_loop_t *loop;

static void check(int result) {
    if (result < 0)
        abort();
}

void events_open(void) {
    loop = uv_default_loop();
}

static void signalled(uv_signal_t *handle, int number) {
    (void)number;
    ((void (*)(void))handle->data)();
}

void events_watch_signal(void (*told)(void)) {
    static uv_signal_t handle;
    handle.data = (void *)told;
    check(uv_signal_init(loop, &handle));
    check(uv_signal_start(&handle, signalled, SIGUSR1));
}

static void changed(uv_fs_event_t *handle, const char *name, int events, int status) {
    (void)name, (void)events, (void)status;
    ((void (*)(void))handle->data)();
}

void events_watch_file(const char *path, void (*told)(void)) {
    static uv_fs_event_t handle;
    handle.data = (void *)told;
    check(uv_fs_event_init(loop, &handle));
    check(uv_fs_event_start(&handle, changed, path, 0));
}

static void closed(uv_handle_t *handle) {
    free(handle);
}

static void exited(uv_process_t *process, int64_t status, int number) {
    (void)status, (void)number;
    ((void (*)(void))process->data)();
    uv_close((uv_handle_t *)process, closed);
}

void events_watch_child(const char *program, const char *argument, void (*told)(void)) {
    char *arguments[] = {(char *)program, (char *)argument, NULL};
    uv_process_options_t options = {.exit_cb = exited, .file = program, .args = arguments};
    uv_process_t *process = malloc(sizeof *process);
    process->data = (void *)told;
    check(uv_spawn(loop, process, &options));
    // It sets the field to 0.
    process->data = (void *)told;
}

void events_run(void) {
    uv_run(loop, UV_RUN_DEFAULT);
}

void events_stop(void) {
    uv_stop(loop);
}
