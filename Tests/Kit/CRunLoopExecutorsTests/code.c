// code.c — what code is called, and where it is written: of this program, of libc, of nothing. And what else the executors need of a process.
// A static program of musl runs these tests, too (Tests/bin/c-targets).

#include "runloop_executors.h"
#include "test.h"

// Nobody but this file's symbols and lines know it: the loader does not.
enum { ITS_LINE = __LINE__ + 1 };
__attribute__((noinline)) static int known_to_the_file_alone(int number) {
    return number + ITS_LINE;
}

static const void *code_of(int (*function)(int), ptrdiff_t distance) {
    return (const char *)(uintptr_t)function + distance;
}

static void expect_name(const void *code, const char *name) {
    char *found = runloop_copy_code_name(code);
    EXPECT_TEXT(found, name);
    free(found);
}

TEST("a function is called as in the sources, by its beginning and by what is inside of it") {
    need_proc();
    EXPECT_EQ(known_to_the_file_alone(1), ITS_LINE + 1);
    expect_name(code_of(known_to_the_file_alone, 0), "known_to_the_file_alone");
    expect_name(code_of(known_to_the_file_alone, 1), "known_to_the_file_alone");
}

TEST("a function is found in its file, in the line in which it begins") {
    need_proc();
    const char *directory = NULL, *file = NULL;
    EXPECT_EQ(runloop_find_code_line(code_of(known_to_the_file_alone, 0), &directory, &file), ITS_LINE);
    REQUIRE(file != NULL);
    const char *end = strrchr(file, '/');
    EXPECT_TEXT(end ? end + 1 : file, "code.c");
    EXPECT(directory != NULL);
}

TEST("a function of libc has its name, or its library and the place there") {
    char *found = runloop_copy_code_name((const void *)(uintptr_t)qsort);
    REQUIRE(found != NULL);
    EXPECT(strstr(found, "qsort") || strstr(found, "+0x"));
    free(found);
}

static int datum = 7;

TEST("what is no code has no name and no line") {
    const char *directory = NULL, *file = NULL;
    int local = 0;
    void *block = malloc(16);
    const void *places[] = {NULL, &local, &datum, block, (void *)UINTPTR_MAX};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *name = runloop_copy_code_name(places[i]);
        EXPECT(name == NULL);
        free(name);
        EXPECT_EQ(runloop_find_code_line(places[i], &directory, &file), 0);
    }
    EXPECT(directory == NULL && file == NULL);
    free(block);
}

TEST("two words are read where there is memory, and nothing where there is none") {
    const uintptr_t words[] = {17, 23};
    uintptr_t first = 1, second = 2;
    EXPECT(runloop_read_words((uintptr_t)words, &first, &second));
    EXPECT_EQ(first, 17);
    EXPECT_EQ(second, 23);
    EXPECT(!runloop_read_words(8, &first, &second));
    EXPECT_EQ(first, 17);
    EXPECT_EQ(second, 23);
}

static void never(void) {
    abort();
}

TEST("without the runtime of Swift there is no hook, and without Foundation nothing to watch with") {
    EXPECT(!runloop_take_over_async_main(never));
    EXPECT(!runloop_take_over_async_main(NULL));
    EXPECT(runloop_foundation_watch(0, never) == NULL);
}
