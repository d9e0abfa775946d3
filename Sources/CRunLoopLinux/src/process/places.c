// places.c — the descriptors of a program that is started: what is asked for, and what is opened for it.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/open.h"
#include "process/start.h"

//===-- the plan -----------------------------------------------------------------------------------------------------===//

static struct place *place_of(struct start *start, int number) {
    struct place *place = start->places, *end = place + start->place_count;
    while (place < end && place->number < number)
        place++;
    return place < end && place->number == number ? place : NULL;
}

static void insert(struct start *start, runloop_child_descriptor asked, int source) {
    struct place *place = start->places + start->place_count++;
    for (; place > start->places && place[-1].number > asked.number; place--)
        *place = place[-1];
    *place = (struct place){.number = asked.number, .source = source, .opened = -1, .parent_end = -1, .asked = asked};
}

static bool is_for_parent(const runloop_child_descriptor *asked) {
    return asked->kind == RUNLOOP_CHILD_INPUT_PIPE || asked->kind == RUNLOOP_CHILD_OUTPUT_PIPE ||
           asked->kind == RUNLOOP_CHILD_TERMINAL;
}

static int fails(struct start *start, int error, int number) {
    start->error = error;
    start->subject = "descriptor";
    start->number = number;
    return -error;
}

/// It is asked for once, and a terminal of its own needs a session, which is new.
static bool makes_sense(struct start *start, const runloop_child_descriptor *asked) {
    if (asked->number < 0 || asked->kind > RUNLOOP_CHILD_TERMINAL || place_of(start, asked->number) ||
        (is_for_parent(asked) && !asked->parent_end) || (asked->kind == RUNLOOP_CHILD_DESCRIPTOR && asked->from < 0))
        return false;
    const runloop_child_start_config *config = start->config;
    return asked->kind != RUNLOOP_CHILD_TERMINAL ||
           (!start->has_own_terminal && !config->has_terminal &&
            (config->group == RUNLOOP_CHILD_PARENTS_GROUP || config->group == RUNLOOP_CHILD_NEW_SESSION));
}

static int plan(struct start *start) {
    const runloop_child_start_config *config = start->config;
    for (size_t i = 0; i < config->descriptor_count; i++) {
        const runloop_child_descriptor *asked = &config->descriptors[i];
        if (!makes_sense(start, asked))
            return fails(start, EINVAL, asked->number);
        start->has_own_terminal |= asked->kind == RUNLOOP_CHILD_TERMINAL;
        insert(start, *asked, asked->number);
    }
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (!place_of(start, number))
            insert(start, (runloop_child_descriptor){.number = number}, -1);
    return 0;
}

/// Whether what is to be the same as another is that of one that is not such itself.
static int find_same(struct start *start) {
    for (const struct place *place = start->places; place < start->places + start->place_count; place++) {
        const struct place *same = place_of(start, place->asked.from);
        if (place->asked.kind == RUNLOOP_CHILD_SAME && (!same || same->asked.kind == RUNLOOP_CHILD_SAME))
            return fails(start, EINVAL, place->number);
    }
    return 0;
}

/// Asked before anything is opened: a number that is not open would become that, and seem to be there.
static int find_open(struct start *start) {
    for (const struct place *place = start->places; place < start->places + start->place_count; place++) {
        const struct place *same = place_of(start, place->asked.from);
        int source = -1;
        if (place->asked.kind == RUNLOOP_CHILD_INHERITED)
            source = place->source;
        else if (place->asked.kind == RUNLOOP_CHILD_DESCRIPTOR ||
                 (place->asked.kind == RUNLOOP_CHILD_SAME && same->source < 0))
            source = place->asked.from;
        if (source >= 0 && fcntl(source, F_GETFD) < 0)
            return fails(start, errno, place->number);
    }
    return 0;
}

int runloop__places_plan(struct start *start) {
    int result = plan(start);
    if (result == 0)
        result = find_same(start);
    return result < 0 ? result : find_open(start);
}

//===-- what is opened -----------------------------------------------------------------------------------------------===//

static int open_pipe(struct place *place) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    bool reads = place->asked.kind == RUNLOOP_CHILD_INPUT_PIPE;
    place->source = place->opened = ends[!reads];
    place->parent_end = ends[reads];
    // Not the child's end: most programs expect that theirs block.
    return fcntl(place->parent_end, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

/// The other side of a pseudo-terminal. By its name where the kernel is older than Linux 4.13, or does not want to be asked otherwise.
static int open_peer(int side) {
    int number = ioctl(side, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[32];
    if (number >= 0)
        return number;
    int result = ptsname_r(side, name, sizeof name);
    number = result == 0 ? open_whole(name, O_RDWR | O_NOCTTY) : -1;
    return number >= 0 ? number : result ? -result : -errno;
}

static int open_terminal(struct start *start, struct place *place) {
    const struct winsize size = {.ws_row = start->config->terminal_rows, .ws_col = start->config->terminal_columns};
    do
        place->parent_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    while (place->parent_end < 0 && errno == EINTR);
    if (place->parent_end < 0 || grantpt(place->parent_end) < 0 || unlockpt(place->parent_end) < 0 ||
        ioctl(place->parent_end, TIOCSWINSZ, &size) < 0)
        return -errno;
    start->terminal = place->source = place->opened = open_peer(place->parent_end);
    start->group = RUNLOOP_CHILD_NEW_SESSION;
    return place->opened < 0 ? place->opened : 0;
}

static int open_place(struct start *start, struct place *place) {
    switch (place->asked.kind) {
    case RUNLOOP_CHILD_TERMINAL: return open_terminal(start, place);
    case RUNLOOP_CHILD_INPUT_PIPE:
    case RUNLOOP_CHILD_OUTPUT_PIPE: return open_pipe(place);
    case RUNLOOP_CHILD_NULL:
        place->source = place->opened = open_whole("/dev/null", O_RDWR);
        return place->opened < 0 ? -errno : 0;
    case RUNLOOP_CHILD_DESCRIPTOR: place->source = place->asked.from; return 0;
    case RUNLOOP_CHILD_INHERITED:
    case RUNLOOP_CHILD_SAME: break;
    }
    return 0;
}

int runloop__places_open(struct start *start) {
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        int result = open_place(start, place);
        if (result < 0)
            return result;
    }
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        const struct place *same = place_of(start, place->asked.from);
        if (place->asked.kind == RUNLOOP_CHILD_SAME)
            place->source = same->source < 0 ? same->number : same->source;
    }
    return 0;
}

void runloop__places_close(struct start *start, bool succeeded) {
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        if (place->opened >= 0)
            close(place->opened);
        if (place->parent_end >= 0 && succeeded)
            *place->asked.parent_end = place->parent_end;
        else if (place->parent_end >= 0)
            close(place->parent_end);
    }
}

int runloop_terminal_set_size(int descriptor, uint16_t rows, uint16_t columns) {
    struct winsize size = {0};
    // What it says of pixels remains.
    if (ioctl(descriptor, TIOCGWINSZ, &size) < 0)
        return -errno;
    size.ws_row = rows;
    size.ws_col = columns;
    return ioctl(descriptor, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}
#endif // __linux__
