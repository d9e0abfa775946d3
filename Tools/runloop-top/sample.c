// sample.c — asks a process, and picks what the table shows from its answer.

#include "sample.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "json.h"

const char *const sample_kinds[SAMPLE_KINDS] = {"observer",          "timer", "signalled source",
                                                "descriptor source", "task",  "main queue"};

//===-- the answer ---------------------------------------------------------------------------------------------------===//

static void read_statistic(struct loop_sample *loop, const char *name, const char *value) {
    double number = strtod(value, NULL);
    loop->has_statistics = true;
    if (strcmp(name, "elapsedNs") == 0)
        loop->elapsed_ns = number;
    else if (strcmp(name, "runningNs") == 0)
        loop->running_ns = number;
    else if (strcmp(name, "asleepNs") == 0)
        loop->asleep_ns = number;
    else if (strcmp(name, "iterations") == 0)
        loop->iterations = number;
    else if (strcmp(name, "sleeps") == 0)
        loop->sleeps = number;
    else if (strcmp(name, "lateness.p99Ns") == 0)
        loop->lateness_p99_ns = number;
    else if (strcmp(name, "callout.maxNs") == 0)
        loop->longest_ns = number;
    else if (strcmp(name, "longest") == 0)
        snprintf(loop->longest, sizeof loop->longest, "%s", value);
    for (int kind = 0; kind < SAMPLE_KINDS && strncmp(name, "callouts.", 9) == 0; kind++) {
        if (strcmp(name + 9, sample_kinds[kind]) == 0)
            loop->callouts[kind] = number;
    }
}

static void read_value(void *context, const char *path, const char *value) {
    struct sample *sample = context;
    char *field;
    long place = strtol(path, &field, 10);
    if (place < 0 || *field++ != '.')
        return;
    sample->loop_count = (int)place + 1;
    if (place >= SAMPLE_LOOPS)
        return;
    struct loop_sample *loop = &sample->loops[place];
    sample->count = (int)place + 1;
    if (strcmp(field, "loop") == 0)
        snprintf(loop->address, sizeof loop->address, "%s", value);
    else if (strcmp(field, "isMain") == 0)
        loop->is_main = strcmp(value, "true") == 0;
    else if (strcmp(field, "state") == 0)
        snprintf(loop->state, sizeof loop->state, "%s", value);
    else if (strcmp(field, "mode") == 0)
        snprintf(loop->mode, sizeof loop->mode, "%s", value);
    else if (strncmp(field, "statistics.", 11) == 0)
        read_statistic(loop, field + 11, value);
    else if (strncmp(field, "tasks.", 6) == 0 && sample->task_count < SAMPLE_TASKS)
        snprintf(sample->tasks[sample->task_count++], sizeof sample->tasks[0], "%s", value);
}

int sample_read(const char *answer, struct sample *sample) {
    *sample = (struct sample){.count = 0};
    return answer[0] == '[' && json_walk(answer, read_value, sample) ? 0 : -EPROTO;
}

//===-- the question -------------------------------------------------------------------------------------------------===//

/// The whole answer, from malloc. NULL, and why in `*error`.
static char *receive(int descriptor, int *error) {
    enum { PATIENCE_MS = 5000, LARGEST = 64 << 20 };
    char *text = NULL;
    size_t size = 0, capacity = 0;
    for (;;) {
        if (size + 1 >= capacity) {
            capacity = capacity * 2 + 65536;
            char *larger = capacity > LARGEST ? NULL : realloc(text, capacity);
            *error = larger ? 0 : -ENOMEM;
            if (!larger)
                break;
            text = larger;
        }
        struct pollfd answer = {.fd = descriptor, .events = POLLIN};
        int ready = poll(&answer, 1, PATIENCE_MS);
        ssize_t got = ready > 0 ? recv(descriptor, text + size, capacity - size - 1, 0) : -1;
        if (got < 0 && ready != 0 && errno == EINTR)
            continue;
        *error = ready == 0 ? -ETIMEDOUT : got < 0 ? -errno : size == 0 && got == 0 ? -EACCES : 0;
        if (*error || got == 0)
            break;
        size += (size_t)got;
    }
    if (!*error) {
        text[size] = 0;
        return text;
    }
    free(text);
    return NULL;
}

int sample_take(const char *path, struct sample *sample) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    // Without waiting: a process that is stopped may have as many in its queue as it takes.
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -errno;
    int error = connect(descriptor, (const struct sockaddr *)&address, sizeof address) ? -errno : 0;
    char *text = error ? NULL : receive(descriptor, &error);
    close(descriptor);
    if (!text)
        return error;
    error = sample_read(text, sample);
    free(text);
    return error;
}
