// notifications.c — watches of a folder that changes, whose notifications are joined by others that nothing has caused: of watches that there
// are or not, of any kind, out of order, and cut. What is reported, applied to what there was, is what there is.
#include <ftw.h>
#include <search.h>
#include <sys/inotify.h>

#include "fuzz.h"
#include "runloop_linux.h"

// A watch is a type of this file's own.
#include "../../../Sources/CRunLoopLinux/src/files/watch.c"

enum { NAMES = 4, MOST_PATHS = 64, PATH_SIZE = 128, WATCHES = 3, MOST_OPERATIONS = 48 };

static const char *const names[NAMES] = {"a", "b", "c", "d"};

/// The folder, which is empty between inputs, and has no further descriptor open.
static char root[64];

/// Paths below it.
struct paths {
    char paths[MOST_PATHS][PATH_SIZE];
    size_t count;
};

/// Of the watch of the tree: what there is by what was reported.
static struct paths known;

//===-- what is reported ---------------------------------------------------------------------------------------------===//

static void drop_path(struct paths *all, const char *path) {
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->paths[i], path) == 0) {
            all->count--;
            memmove(all->paths[i], all->paths[all->count], PATH_SIZE);
            return;
        }
}

static void add_path(struct paths *all, const char *path) {
    drop_path(all, path);
    CHECK(all->count < MOST_PATHS && strlen(path) < PATH_SIZE);
    strcpy(all->paths[all->count++], path);
}

static void move_paths(struct paths *all, const char *from, const char *to) {
    size_t length = strlen(from);
    drop_path(all, to);
    for (size_t i = 0; i < all->count; i++) {
        char *path = all->paths[i], moved[2 * PATH_SIZE];
        if (strncmp(path, from, length) != 0 || (path[length] && path[length] != '/'))
            continue;
        snprintf(moved, sizeof moved, "%s%s", to, path + length);
        CHECK(strlen(moved) < PATH_SIZE);
        strcpy(path, moved);
    }
}

static const char *below_root(const char *path) {
    size_t length = strlen(root);
    CHECK(strncmp(path, root, length) == 0);
    return path + length;
}

static void changed(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    CHECK(count > 0 && runloop_source_is_valid(watch));
    for (size_t i = 0; i < count; i++) {
        const runloop_change *change = &changes[i];
        const char *path = below_root(change->path);
        CHECK(change->kind <= RUNLOOP_CHANGE_FAILED && (change->error != 0) == (change->kind == RUNLOOP_CHANGE_FAILED));
        CHECK((change->from != NULL) == (change->kind == RUNLOOP_CHANGE_MOVED));
        if (!info)
            continue;
        if (change->kind == RUNLOOP_CHANGE_CREATED)
            add_path(info, path);
        else if (change->kind == RUNLOOP_CHANGE_REMOVED)
            drop_path(info, path);
        else if (change->kind == RUNLOOP_CHANGE_MOVED)
            move_paths(info, below_root(change->from), path);
    }
}

//===-- the folder ---------------------------------------------------------------------------------------------------===//

/// A path of one or two names.
static const char *a_path(struct bytes *bytes, char path[PATH_SIZE]) {
    const char *folder = names[bytes_take(bytes, NAMES)], *name = names[bytes_take(bytes, NAMES)];
    bytes_take(bytes, 2) ? snprintf(path, PATH_SIZE, "%s/%s/%s", root, folder, name)
                         : snprintf(path, PATH_SIZE, "%s/%s", root, name);
    return path;
}

static void change_folder(struct bytes *bytes) {
    char path[PATH_SIZE], other[PATH_SIZE];
    int file;
    a_path(bytes, path);
    switch (bytes_take(bytes, 6)) {
    case 0:
    case 1:
        if ((file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) >= 0) {
            CHECK(write(file, "x", 1) == 1);
            close(file);
        }
        break;
    case 2: mkdir(path, 0700); break;
    case 3: remove(path); break;
    case 4: chmod(path, bytes_take(bytes, 2) ? 0700 : 0755); break;
    default: rename(path, a_path(bytes, other));
    }
}

static struct paths *found;

static int find(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind;
    if (place->level > 0)
        add_path(found, below_root(path));
    return 0;
}

static int remove_found(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind;
    CHECK(place->level == 0 || remove(path) == 0);
    return 0;
}

static bool say(const char *path, const char *what) {
    fprintf(stderr, "%s is %s\n", path, what);
    return false;
}

static void check_known(void) {
    struct paths there = {.count = 0};
    found = &there;
    CHECK(nftw(root, find, 4, FTW_PHYS) == 0);
    // The folder itself is reported if its watch has ended, with an empty path.
    drop_path(&known, "");
    bool is_right = true;
    for (size_t i = 0; i < there.count; i++) {
        size_t count = known.count;
        drop_path(&known, there.paths[i]);
        is_right &= known.count < count || say(there.paths[i], "there, and not known");
    }
    for (size_t i = 0; i < known.count; i++)
        is_right &= say(known.paths[i], "known, and not there");
    CHECK(is_right);
}

//===-- notifications ------------------------------------------------------------------------------------------------===//

struct buffer {
    _Alignas(struct inotify_event) char bytes[2048];
    size_t size;
};

static struct {
    int numbers[16];
    unsigned count;
} watched;

static void see_watched(const void *node, VISIT order, int depth) {
    (void)depth;
    // The number is the first member.
    if ((order == postorder || order == leaf) && watched.count < sizeof watched.numbers / sizeof *watched.numbers)
        watched.numbers[watched.count++] = **(int *const *)node;
}

/// The number of what the kernel watches, in their order, or of nothing.
static int a_number(struct instance *instance, struct bytes *bytes) {
    unsigned choice = bytes_take(bytes, 12);
    watched.count = 0;
    steady_take(&instance->lock);
    twalk(instance->kernel_watches, see_watched);
    steady_give(&instance->lock);
    return choice < watched.count ? watched.numbers[choice] : choice == 11 ? INT_MAX : -(int)choice;
}

/// One as the kernel writes it, but not because of anything.
static void add_notification(struct buffer *buffer, struct instance *instance, struct bytes *bytes) {
    struct inotify_event event = {.wd = a_number(instance, bytes), .mask = 1U << bytes_take(bytes, 16)};
    event.mask |= bytes_take(bytes, 4) == 1 ? IN_ISDIR : 0;
    event.cookie = bytes_take(bytes, 4);
    unsigned name = bytes_take(bytes, NAMES + 2);
    event.len = name > 0 ? 16 : 0;
    if (buffer->size + sizeof event + event.len > sizeof buffer->bytes)
        return;
    memcpy(buffer->bytes + buffer->size, &event, sizeof event);
    buffer->size += sizeof event;
    memset(buffer->bytes + buffer->size, 0, event.len);
    if (name > 0)
        strcpy(buffer->bytes + buffer->size, name <= NAMES ? names[name - 1] : "other");
    buffer->size += event.len;
}

/// Any bytes. A name is never a path, nor one of those that each folder has.
static void add_bytes(struct buffer *buffer, struct instance *instance, struct bytes *bytes) {
    // Behind the number of a watch that there is, or not.
    if (bytes_take(bytes, 2) && buffer->size + sizeof(int) <= sizeof buffer->bytes) {
        int number = a_number(instance, bytes);
        memcpy(buffer->bytes + buffer->size, &number, sizeof number);
        buffer->size += sizeof number;
    }
    for (unsigned count = bytes_take(bytes, 40); count > 0 && buffer->size < sizeof buffer->bytes; count--) {
        uint8_t byte = (uint8_t)bytes_take(bytes, 256);
        buffer->bytes[buffer->size++] = byte == '/' || byte == '.' ? '_' : (char)byte;
    }
}

static void give(struct instance *instance, struct buffer *buffer) {
    struct reading reading = {.instance = instance, .loop = runloop_current(), .now = runloop_now_ns()};
    // Of the exact size, where a sanitizer sees what is read beyond it.
    char *exact = malloc(buffer->size ? buffer->size : 1);
    CHECK(exact);
    memcpy(exact, buffer->bytes, buffer->size);
    steady_take(&instance->lock);
    note_all(&reading, exact, buffer->size);
    steady_give(&instance->lock);
    CHECK(!reading.first);
    free(exact);
    buffer->size = 0;
}

//===-- an input -----------------------------------------------------------------------------------------------------===//

static runloop_watch *watch_folder(const char *name, runloop_watch_scope scope, bool settles, struct paths *info) {
    char path[sizeof root + 8];
    runloop_watch *watch;
    snprintf(path, sizeof path, "%s%s", root, name);
    runloop_watch_config config = {
        .context = {.info = info}, .path = path, .scope = scope, .settle_ns = settles, .changed = changed};
    CHECK(runloop_watch_create(&config, &watch) == 0);
    if (scope == RUNLOOP_WATCH_FILE && !*name)
        return watch; // the one that keeps the instance
    CHECK(runloop_add_source(runloop_current(), watch, "watches") == 0);
    return watch;
}

/// Until nothing is left to be read, or to be reported.
static void run(void) {
    int calls = 0;
    for (int idle = 0; idle < 3; idle++)
        while (runloop_run_in_mode("watches", 0, true) == RUNLOOP_RESULT_HANDLED_SOURCE) {
            CHECK(++calls < 1000);
            idle = 0;
        }
}

/// The instance of a thread is that of all its watches. With its last one the kernel ends it, which takes as long as a hundred inputs: so one of the
/// thread that all inputs share stays.
static void keep_instance(void) {
    static runloop_watch *keeper;
    if (!keeper && !fuzz_makes_threads)
        keeper = watch_folder("", RUNLOOP_WATCH_FILE, false, NULL);
}

static void *play(void *argument) {
    struct bytes *bytes = argument;
    struct buffer buffer = {.size = 0};
    unsigned first = bytes_take(bytes, 8);
    // Some files there are before the watches.
    while (first-- > 0 && bytes_left(bytes))
        change_folder(bytes);
    known.count = 0;
    found = &known;
    CHECK(nftw(root, find, 4, FTW_PHYS) == 0);
    bool settles = bytes_take(bytes, 4) == 1;
    runloop_watch *watches[WATCHES] = {watch_folder("", RUNLOOP_WATCH_TREE, settles, &known),
                                       watch_folder("/d", RUNLOOP_WATCH_DIRECTORY, false, NULL),
                                       watch_folder("/a", RUNLOOP_WATCH_FILE, settles, NULL)};
    struct instance *instance = ((struct watch *)runloop__object_of(watches[0], OBJECT_WATCH))->tree.instance;
    for (int i = 0; i < MOST_OPERATIONS && bytes_left(bytes); i++) {
        switch (bytes_take(bytes, 8)) {
        case 0: add_bytes(&buffer, instance, bytes); break;
        case 1:
        case 2: add_notification(&buffer, instance, bytes); break;
        case 3: give(instance, &buffer); break;
        case 4: run(); break;
        default: change_folder(bytes);
        }
    }
    give(instance, &buffer);
    run();
    check_known();
    for (int i = 0; i < WATCHES; i++) {
        runloop_source_invalidate(watches[i]);
        runloop_source_release(watches[i]);
    }
    return NULL;
}

static void remove_root(void) {
    rmdir(root);
    *strrchr(root, '/') = 0;
    rmdir(root);
}

/// In memory, if there is such a folder; and in one of its own, since what others do beside it would be noticed.
static void make_root(void) {
    if (*root)
        return;
    snprintf(root, sizeof root, "%s/runloop-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(root));
    strcat(root, "/r");
    CHECK(mkdir(root, 0700) == 0);
    atexit(remove_root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + size};
    make_root();
    keep_instance();
    int descriptors = fuzz_open_descriptors();
    fuzz_with_loop(play, &bytes, 0);
    CHECK(fuzz_open_descriptors() == descriptors);
    CHECK(nftw(root, remove_found, 4, FTW_PHYS | FTW_DEPTH) == 0);
    return 0;
}
