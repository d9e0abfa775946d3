// replay.c — calls a target with each file of a corpus, without libFuzzer: `lines.replay corpus/lines`.
#include "fuzz.h"

static void replay(const char *path) {
    static uint8_t bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    CHECK(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    // Of the exact size, so that a sanitizer or valgrind sees a read beyond it.
    uint8_t *exact = malloc(size ? size : 1);
    CHECK(exact);
    memcpy(exact, bytes, size);
    fprintf(stderr, "%s\n", path);
    for (int i = 0; i < 2; i++) {
        fuzz_makes_threads = i;
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
}

int main(int count, char **arguments) {
    int replayed = 0;
    DIR *folder = count == 2 ? opendir(arguments[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s CORPUS\n", arguments[0]);
        return 2;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", arguments[1], entry->d_name);
        replay(path);
        replayed++;
    }
    closedir(folder);
    printf("%d\n", replayed);
    return replayed == 0;
}
