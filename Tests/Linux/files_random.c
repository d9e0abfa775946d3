// files_random.c — random changes by another thread, while a loop watches: what was reported, applied in order, is what is on the disk.
// Beside the watch of the tree, with which they share an inotify instance, are some of paths in it.
//
// RUNLOOP_TEST_CHANGES: how many changes (2,000). RUNLOOP_TEST_SEED: repeats those of a failure, though not how the threads met.
#include "files.h"

//===-- what is known: paths, and the size of a file when it was last told of ---------------------------------------------------------------===//

struct known {
    char *path;
    bool is_directory;
    off_t size;
};

static struct known *known;
static size_t known_count;

static size_t find_known(const char *path) {
    size_t i = 0;
    while (i < known_count && strcmp(known[i].path, path) != 0)
        i++;
    return i;
}

static void forget_known(size_t i) {
    free(known[i].path);
    known[i] = known[--known_count];
}

static bool is_in(const char *path, const char *directory) {
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static off_t size_of(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

static void add_known(const char *path, bool is_directory) {
    size_t i = find_known(path);
    if (i == known_count) {
        known = realloc(known, (known_count + 1) * sizeof *known);
        known[known_count++].path = strdup(path);
    }
    known[i].is_directory = is_directory;
    known[i].size = size_of(path);
}

static void move_known(const char *from, const char *to) {
    for (size_t i = known_count; i-- > 0;)
        if (is_in(known[i].path, to))
            forget_known(i);
    for (size_t i = 0; i < known_count; i++) {
        if (!is_in(known[i].path, from))
            continue;
        char *path = NULL;
        REQUIRE(asprintf(&path, "%s%s", to, known[i].path + strlen(from)) > 0);
        free(known[i].path);
        known[i].path = path;
        // What was asked about the former path may have been asked too late.
        known[i].size = size_of(path);
    }
}

static size_t moves, overflows, calls;

static void apply(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    calls++;
    for (size_t i = 0; i < count; i++) {
        const runloop_change *change = &changes[i];
        switch (change->kind) {
        case RUNLOOP_CHANGE_CREATED: add_known(change->path, change->is_directory); break;
        case RUNLOOP_CHANGE_REMOVED:
            if (find_known(change->path) < known_count)
                forget_known(find_known(change->path));
            break;
        case RUNLOOP_CHANGE_MOVED:
            moves++;
            move_known(change->from, change->path);
            break;
        case RUNLOOP_CHANGE_MODIFIED:
            if (find_known(change->path) < known_count)
                known[find_known(change->path)].size = size_of(change->path);
            break;
        case RUNLOOP_CHANGE_OVERFLOW: overflows++; break;
        case RUNLOOP_CHANGE_ATTRIBUTES: break;
        case RUNLOOP_CHANGE_FAILED:
            fprintf(stderr, "    %s: error %d\n", change->path, change->error);
            EXPECT(false);
            break;
        }
    }
}

static size_t on_disk;
static bool is_equal, is_reporting;

static int compare_one(const char *path, const struct stat *status, int kind, struct FTW *position) {
    (void)kind, (void)position;
    on_disk++;
    size_t i = find_known(path);
    bool agrees = i < known_count && known[i].is_directory == S_ISDIR(status->st_mode) &&
                  (!S_ISREG(status->st_mode) || known[i].size == status->st_size);
    if (!agrees && is_reporting)
        fprintf(stderr, "    on the disk, and not so known: %s (%jd bytes, known: %jd)\n", path,
                (intmax_t)status->st_size, i < known_count ? (intmax_t)known[i].size : -1);
    is_equal &= agrees;
    return 0;
}

static bool is_known_what_is_on_disk(void) {
    on_disk = 0;
    is_equal = true;
    nftw("tree", compare_one, 32, FTW_PHYS);
    for (size_t i = 0; is_reporting && i < known_count; i++)
        if (faccessat(AT_FDCWD, known[i].path, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            fprintf(stderr, "    known, and not on the disk: %s\n", known[i].path);
    return is_equal && on_disk == known_count;
}

//===-- changes ------------------------------------------------------------------------------------------------------===//

static unsigned random_state;

static unsigned random_below(unsigned limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

/// Few names, so that changes meet; with `outside`, sometimes out of the tree.
static void random_path(char *path, bool outside) {
    strcpy(path, outside && random_below(8) == 0 ? "outside" : "tree");
    for (unsigned depth = 1 + random_below(4); depth > 0; depth--)
        sprintf(path + strlen(path), "/%c", "abcdef"[random_below(6)]);
}

static bool append_to(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return false;
    bool is_written = write(descriptor, "text", 1 + random_below(4)) > 0;
    close(descriptor);
    return is_written;
}

/// False: nothing has changed.
static bool change_something(void) {
    char path[64], other[64];
    random_path(path, true);
    random_path(other, true);
    switch (random_below(12)) {
    case 0:
    case 1:
    case 2: return append_to(path);
    case 3:
    case 4: return mkdir(path, 0777) == 0;
    case 5:
    case 6:
    case 7: return rename(path, other) == 0;
    case 8:
        // Of links, since a file's other name is not told of what is written through this one.
        return readlink(path, (char[8]){0}, 8) > 0 && link(path, other) == 0;
    case 9: return symlink("a", path) == 0;
    case 10: return unlink(path) == 0 || rmdir(path) == 0;
    default: return random_below(4) == 0 && nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0;
    }
}

enum { AT_ONCE = 100 };

static void *make_changes(void *loop) {
    for (int i = 0; i < AT_ONCE; i++)
        while (!change_something())
            continue;
    runloop_wake_up(loop);
    return NULL;
}

/// A path in the tree, watched by itself, and whether it was told to be there.
static struct single {
    const char *path;
    runloop_watch *watch;
    bool is_there;
} singles[] = {{.path = "tree/a"}, {.path = "tree/a/b"}, {.path = "tree/b/c/d"}, {.path = "tree/c/../d/./e"}};

enum { SINGLES = sizeof singles / sizeof *singles };

static void apply_single(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch;
    struct single *single = info;
    for (size_t i = 0; i < count; i++) {
        REQUIRE(changes[i].kind != RUNLOOP_CHANGE_FAILED && changes[i].kind != RUNLOOP_CHANGE_MOVED);
        if (changes[i].kind == RUNLOOP_CHANGE_CREATED)
            single->is_there = true;
        if (changes[i].kind == RUNLOOP_CHANGE_REMOVED)
            single->is_there = false;
    }
}

static bool are_singles_known(void) {
    struct stat status;
    bool are_known = true;
    for (int i = 0; i < SINGLES; i++)
        are_known &= !singles[i].watch || singles[i].is_there == (lstat(singles[i].path, &status) == 0);
    return are_known;
}

static void add_singles(void) {
    for (int i = 0; i < SINGLES; i++) {
        runloop_watch_config config = {.context.info = &singles[i], .path = singles[i].path, .changed = apply_single};
        singles[i].watch = add_watch_with(&config, MODE);
    }
}

static void converge(void) {
    int64_t limit = runloop_now_ns() + 20 * SECOND;
    while (!is_known_what_is_on_disk() || !are_singles_known()) {
        run_for(MODE, 5 * MS);
        if (runloop_now_ns() < limit)
            continue;
        is_reporting = true;
        is_known_what_is_on_disk();
        REQUIRE(false && "what was reported is what is on the disk");
    }
}

static void make_random_changes(long count, int64_t settle_ns) {
    const char *seed = getenv("RUNLOOP_TEST_SEED");
    random_state = seed ? (unsigned)atol(seed) : (unsigned)runloop_now_ns();
    fprintf(stderr, "    RUNLOOP_TEST_SEED=%u\n", random_state);
    enter_folder();
    REQUIRE(mkdir("tree", 0777) == 0 && mkdir("outside", 0777) == 0);
    runloop_watch_config config = {
        .path = "tree", .scope = RUNLOOP_WATCH_TREE, .settle_ns = settle_ns, .changed = apply};
    runloop_watch *watch = add_watch_with(&config, MODE);
    add_known("tree", true);
    add_singles();
    int watches = count_kernel_watches();
    for (long made = 0; made < count; made += AT_ONCE) {
        // Some are made before the loop runs, some while it looks.
        int64_t delay = random_below(3) * MS;
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, make_changes, runloop_current()) == 0);
        run_for(MODE, delay);
        REQUIRE(pthread_join(thread, NULL) == 0);
        converge();
        poll_mode(MODE);
        EXPECT(is_known_what_is_on_disk());
    }
    // With a settle time, few moves are left of a burst.
    EXPECT(moves > 0 || settle_ns > 0);
    EXPECT_EQ(overflows, 0);
    // Of an empty tree there are as many watches as before.
    REQUIRE(nftw("tree", remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0 && mkdir("tree", 0777) == 0);
    converge();
    poll_mode(MODE);
    EXPECT_EQ(count_kernel_watches(), watches);
    end_watch(watch);
    for (int i = 0; i < SINGLES; i++)
        end_watch(singles[i].watch);
}

static long change_count(void) {
    const char *count = getenv("RUNLOOP_TEST_CHANGES");
    return count ? atol(count) : 2000;
}

TEST("random changes that were reported are what is on the disk") {
    make_random_changes(change_count(), 0);
}

TEST("random changes that were reported when quiet are what is on the disk") {
    make_random_changes(change_count() / 4, 2 * MS);
}

TEST("a queue that overflows is reported, and what has changed meanwhile is found") {
    enter_folder();
    REQUIRE(mkdir("tree", 0777) == 0 && mkdir("tree/a", 0777) == 0);
    write_file("tree/a/written", "before");
    write_file("tree/a/removed", "before");
    runloop_watch_config config = {.path = "tree", .scope = RUNLOOP_WATCH_TREE, .changed = apply};
    runloop_watch *watch = add_watch_with(&config, MODE);
    const char *paths[] = {"tree", "tree/a", "tree/a/written", "tree/a/removed"};
    for (size_t i = 0; i < 4; i++)
        add_known(paths[i], i < 2);
    // The default limit is 16,384 notifications; equal ones in a row are one.
    for (int i = 0; i < 10000; i++)
        REQUIRE(mkdir("tree/flood", 0777) == 0 && rmdir("tree/flood") == 0);
    write_file("tree/a/written", "after");
    REQUIRE(unlink("tree/a/removed") == 0 && mkdir("tree/b", 0777) == 0);
    write_file("tree/b/new", "text");
    converge();
    EXPECT_EQ(overflows, 1);
    // And what is new is watched.
    write_file("tree/b/newer", "text");
    converge();
    EXPECT_EQ(overflows, 1);
    end_watch(watch);
}
