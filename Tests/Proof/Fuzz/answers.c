// answers.c — what reads texts of others: JSON of a publication, a sample of it and its table, addresses, and the strings that diagnostics write.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fuzz.h"
#include "json.h"
#include "runloop_linux.h"
#include "sample.h"
#include "sockets/socket_address.h"
#include "table.h"

// Not the header of this name in runloop-top's folder.
#include "../../../Sources/CRunLoopDiagnostics/src/json.h"

enum { MOST = 4096 };

struct seen {
    int values;
    char last[128];
};

static void see(void *context, const char *path, const char *value) {
    struct seen *seen = context;
    CHECK(strlen(path) < 256 && strlen(value) < sizeof seen->last);
    seen->values++;
    strcpy(seen->last, value);
}

static void check_json(const char *text) {
    struct seen seen = {0};
    bool is_right = json_walk(text, see, &seen);
    CHECK(seen.values <= (int)strlen(text));
    CHECK(!is_right || *text);
}

/// A string that is written is JSON, and read again it is the same; control characters, and bytes that are no letter of UTF-8, are written as
/// \u, which is read as '?'.
static void check_written(const char *text) {
    char *json = NULL, expected[128] = {0};
    size_t size;
    FILE *file = open_memstream(&json, &size);
    CHECK(file);
    json_write_string(file, text);
    fclose(file);
    for (const char *byte = json; *byte; byte++)
        CHECK((unsigned char)*byte >= 0x20);
    for (size_t count = 0, size; *text && count + 1 < sizeof expected; text += size ? size : 1) {
        size = json_letter((const unsigned char *)text, strlen(text));
        if (size == 0 || (unsigned char)*text < 0x20)
            expected[count++] = '?';
        for (size_t i = 0; size > 0 && (unsigned char)*text >= 0x20 && i < size && count + 1 < sizeof expected; i++)
            expected[count++] = text[i];
    }
    struct seen seen = {0};
    CHECK(json_walk(json, see, &seen) && seen.values == 1);
    CHECK(strcmp(seen.last, expected) == 0);
    free(json);
}

/// An address that is one is written as text that is the same address.
static void check_address(const char *text, uint16_t port) {
    struct socket_address address, again;
    char written[128];
    int result = runloop__ip_address(&address, text, port);
    CHECK(result == 0 || result == -EINVAL);
    if (result == 0) {
        CHECK(runloop__address_text(&address, written, sizeof written) >= 0 && strlen(written) < sizeof written);
        CHECK(address.any.sa_family == AF_INET || address.any.sa_family == AF_INET6);
    }
    for (int is_abstract = 0; is_abstract < 2; is_abstract++) {
        result = runloop__local_address(&again, text, is_abstract);
        CHECK(result == 0 || result == -EINVAL || result == -ENAMETOOLONG);
        CHECK(result != 0 || again.size <= sizeof again.local);
        for (size_t capacity = 0; result == 0 && capacity < 8; capacity++) {
            memset(written, 'x', sizeof written);
            runloop__address_text(&again, written, capacity);
            CHECK(written[capacity] == 'x');
        }
    }
}

struct answer {
    int socket;
    const char *text;
};

static void *serve(void *argument) {
    struct answer *answer = argument;
    // The socket does not wait.
    struct pollfd listener = {.fd = answer->socket, .events = POLLIN};
    while (poll(&listener, 1, -1) < 0)
        CHECK(errno == EINTR);
    int client = accept(answer->socket, NULL, NULL);
    CHECK(client >= 0);
    size_t length = strlen(answer->text);
    CHECK(send(client, answer->text, length, MSG_NOSIGNAL) <= (ssize_t)length);
    close(client);
    return NULL;
}

/// A table of it has lines of a width, and nothing that commands a terminal. (Such characters of Unicode have two bytes at least.)
static void check_table(const struct sample *sample, int width) {
    char *table = NULL;
    size_t size, length = 0;
    FILE *file = open_memstream(&table, &size);
    CHECK(file);
    table_write(file, sample, sample, width, 8, "\n");
    fclose(file);
    for (const char *byte = table; *byte; byte++) {
        length = *byte == '\n' ? 0 : length + 1;
        CHECK((unsigned char)*byte >= ' ' || *byte == '\n');
        CHECK(*byte != 0x7f && length <= (size_t)width);
        CHECK((unsigned char)*byte != 0xc2 || (unsigned char)byte[1] >= 0xa0);
    }
    free(table);
}

static void check_read(const char *text, struct sample *sample) {
    int result = sample_read(text, sample);
    CHECK(result == 0 || result == -EPROTO);
    CHECK(sample->count >= 0 && sample->count <= SAMPLE_LOOPS && sample->count <= sample->loop_count);
    CHECK(sample->task_count >= 0 && sample->task_count <= SAMPLE_TASKS);
    if (sample->count > 0)
        check_table(sample, (int)(strlen(text) % 200));
}

/// What a process that is not one of ours answers to runloop-top.
static void check_sample(const char *text) {
    static struct sample sample, read;
    char path[64];
    snprintf(path, sizeof path, "/tmp/runloop-fuzz-%d.sock", (int)getpid());
    unlink(path);
    struct answer answer = {.socket = runloop_listen_unix(path, 0600, 1), .text = text};
    CHECK(answer.socket >= 0);
    pthread_t server;
    CHECK(pthread_create(&server, NULL, serve, &answer) == 0);
    int result = sample_take(path, &sample);
    CHECK(pthread_join(server, NULL) == 0);
    CHECK(result == 0 || result == -EPROTO || (result == -EACCES && !*text));
    check_read(text, &read);
    CHECK(result != 0 || (sample.count == read.count && sample.task_count == read.task_count));
    close(answer.socket);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[MOST + 1];
    struct bytes bytes = {data, data + (size < MOST ? size : MOST)};
    unsigned which = bytes_take(&bytes, 16);
    uint16_t port = (uint16_t)(bytes_take(&bytes, 256) * 257);
    size_t length = (size_t)(bytes.end - bytes.next);
    memcpy(text, bytes.next, length);
    text[length] = 0;
    static struct sample sample;
    // A socket costs a thread and a file, its text nothing.
    if (which == 0 && size % 16 == 15)
        check_sample(text);
    else if (which == 0)
        check_read(text, &sample);
    else if (which < 8)
        check_json(text);
    else if (which < 12)
        check_written(text);
    else
        check_address(text, port);
    return 0;
}
