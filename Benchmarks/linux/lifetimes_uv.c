// lifetimes_uv.c — W14 on libuv.

#include <stdlib.h>
#include <uv.h>

#include "lifetimes.h"

static void check(int result) {
    if (result < 0)
        abort();
}

static void exited(uv_process_t *process, int64_t status, int number) {
    (void)status, (void)number;
    uv_close((uv_handle_t *)process, NULL);
}

void lifetimes_child(const char *program) {
    char *arguments[] = {(char *)program, NULL};
    uv_process_options_t options = {.exit_cb = exited, .file = program, .args = arguments};
    uv_process_t process;
    check(uv_spawn(uv_default_loop(), &process, &options));
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static void connected(uv_connect_t *request, int status) {
    check(status);
    uv_close((uv_handle_t *)request->handle, NULL);
}

void lifetimes_connect(int port) {
    struct sockaddr_in address;
    uv_tcp_t socket;
    uv_connect_t request;
    check(uv_ip4_addr("127.0.0.1", port, &address));
    check(uv_tcp_init(uv_default_loop(), &socket));
    check(uv_tcp_nodelay(&socket, 1));
    check(uv_tcp_connect(&request, &socket, (struct sockaddr *)&address, connected));
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static int accepted_count;

static void closed(uv_handle_t *connection) {
    free(connection);
}

static void arrived(uv_stream_t *listener, int status) {
    // Not one for all: it is closed a little later, and the next one may have arrived.
    uv_tcp_t *connection = malloc(sizeof *connection);
    check(connection ? status : -1);
    check(uv_tcp_init(uv_default_loop(), connection));
    check(uv_accept(listener, (uv_stream_t *)connection));
    check(uv_tcp_nodelay(connection, 1));
    uv_close((uv_handle_t *)connection, closed);
    accepted_count++;
}

int lifetimes_accept(int listening) {
    static uv_tcp_t listener;
    if (!listener.loop) {
        check(uv_tcp_init(uv_default_loop(), &listener));
        check(uv_tcp_open(&listener, listening));
        check(uv_listen((uv_stream_t *)&listener, 128, arrived));
    }
    for (accepted_count = 0; accepted_count == 0;)
        uv_run(uv_default_loop(), UV_RUN_ONCE);
    return accepted_count;
}
