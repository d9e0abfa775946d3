// kernel.c — what reads texts of /proc, some of which other processes decide on, and the variables by which sockets are handed over.
#include "base/kernel_text.h"
#include "fuzz.h"
#include "runloop_listener.h"

// A question is a function of this file's own.
#include "../../../Sources/CRunLoopDiagnostics/src/waiting_thread.c"

enum { MOST = 4095, MOST_SOCKETS = 6 };

/// /proc/PID/task/TID/syscall, which is at most 255 bytes: the last two words are the registers.
static void check_registers(char *text) {
    struct frame frame = {.code = 0};
    unsigned long registers[2];
    bool is_found = find_registers(text, &frame);
    CHECK(!is_found || frame.code != 0);
    // One that is written as the kernel does is found.
    registers[0] = strlen(text) + 1;
    registers[1] = strlen(text) * 4097 + 1;
    snprintf(text + strlen(text), 64, " 0x%lx 0x%lx\n", registers[0], registers[1]);
    CHECK(find_registers(text, &frame) && frame.stack == registers[0] && frame.code == registers[1]);
}

static void check_status(char *text) {
    uint64_t blocked = text_blocked_signals(text);
    bool is_said = strstr(text, "\nSigBlk:");
    CHECK(is_said || blocked == 0);
    strcat(text, "\nSigBlk:\t0000000000010002\nSigIgn:\t0\n");
    // The first line of the name decides.
    CHECK(text_blocked_signals(text) == (is_said ? blocked : 0x10002));
}

static void check_name(char *text) {
    size_t length = strlen(text);
    text_make_printable(text);
    CHECK(strlen(text) <= length);
    for (const char *byte = text; *byte; byte++)
        CHECK(*byte >= ' ' && *byte <= '~');
}

/// The words, joined again, are the text, but for what has no null.
static void check_words(char *text, size_t size) {
    char **words = text_words(text, size);
    size_t at = 0, count = 0;
    CHECK(words);
    for (; words[count]; count++) {
        CHECK(words[count] == text + at);
        at += strlen(words[count]) + 1;
        CHECK(at <= size);
    }
    CHECK(!memchr(text + at, 0, size - at));
    free(words);
}

/// Texts for the variables, with line ends between them. Names that are too long are cut, and empty ones called so.
static void check_inherited(char *text) {
    runloop_inherited_socket sockets[MOST_SOCKETS];
    char process[16], *names = strchr(text, '\n'), *count = text;
    snprintf(process, sizeof process, "%d", (int)getpid());
    if (names)
        *names++ = 0;
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_PID", process, 1);
    names ? setenv("LISTEN_FDNAMES", names, 1) : unsetenv("LISTEN_FDNAMES");
    int result = runloop_take_inherited_sockets(sockets, MOST_SOCKETS);
    CHECK((result >= 0 && result <= MOST_SOCKETS) || result == -EINVAL || result == -E2BIG || result == -EBADF);
    CHECK(result < 0 || atoi(count) == result);
    CHECK(result < 0 || (!getenv("LISTEN_FDS") && !getenv("LISTEN_PID") && !getenv("LISTEN_FDNAMES")));
    for (int i = 0; i < result; i++) {
        size_t length = names ? strcspn(names, ":") : 0, kept = strlen(sockets[i].name);
        CHECK(kept < sizeof sockets[i].name &&
              (length ? strncmp(sockets[i].name, names, kept) == 0 : strcmp(sockets[i].name, "unknown") == 0));
        CHECK(length == 0 || kept == (length < sizeof sockets[i].name ? length : sizeof sockets[i].name - 1));
        names = names && names[length] ? names + length + 1 : NULL;
    }
}

/// Their numbers must stand for something.
static void make_sockets(void) {
    static bool has_made;
    for (int number = 3; number < 3 + MOST_SOCKETS && !has_made; number++)
        if (fcntl(number, F_GETFD) < 0)
            CHECK(dup2(STDERR_FILENO, number) == number);
    has_made = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + (size < MOST ? size : MOST)};
    unsigned which = bytes_take(&bytes, 5);
    size_t length = (size_t)(bytes.end - bytes.next);
    if (which == 0 && length > 255)
        length = 255;
    // With space for what a check adds.
    char *text = malloc(length + 1 + 64);
    CHECK(text);
    memcpy(text, bytes.next, length);
    text[length] = 0;
    make_sockets();
    switch (which) {
    case 0: check_registers(text); break;
    case 1: check_status(text); break;
    case 2: check_name(text); break;
    case 3: check_words(text, length); break;
    default: check_inherited(text);
    }
    free(text);
    return 0;
}
