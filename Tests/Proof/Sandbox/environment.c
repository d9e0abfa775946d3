// environment.c — prints what the libraries believe of the environment: `environment FOLDER`. Tests/bin/sandboxed starts it with variables that name
// the folder, and then a copy with set-user-ID, for which the loader tells AT_SECURE.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "runloop.h"
#include "runloop_diagnostics.h"
#include "runloop_linux.h"

static void say(const char *variable, int is_read) {
    printf("%s: %s\n", variable, is_read ? "read" : "not read");
}

/// Is the program of that name found, which is in no folder but the one that PATH names?
static int finds_program(void) {
    const char *const arguments[] = {"runloop-found-by-path", NULL};
    runloop_child_start_config config = {.arguments = arguments, .searches = true};
    runloop_child *child;
    return runloop_child_start(&config, &child) == 0;
}

int main(int count, char **arguments) {
    char published[4096];
    runloop_inherited_socket sockets[1];
    if (count != 2)
        return 2;
    printf("AT_SECURE: %lu\n", getauxval(AT_SECURE));
    say("RUNLOOP_DIAGNOSTICS", !runloop_diagnostics_are_enabled());
    int listening = runloop_channel_listen("runloop-channel", 0600, 1);
    say("XDG_RUNTIME_DIR, channels", listening != -ENOENT);
    int error = runloop_publish(NULL);
    snprintf(published, sizeof published, "%s/runloop-%d.sock", arguments[1], (int)getpid());
    say("XDG_RUNTIME_DIR, publications", error || access(published, F_OK) == 0);
    runloop_unpublish();
    say("PATH", finds_program());
    say("LISTEN_FDS", runloop_take_inherited_sockets(sockets, 1) == 1);
    return 0;
}
