// code.c — what code is called, and where it is written: of this program, of libc, of nothing. A static program of musl runs these tests, too (Tests/bin/c-targets).

#include "../Core/test.h"
#include "runloop_diagnostics.h"

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
