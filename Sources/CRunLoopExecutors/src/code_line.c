// code_line.c — in which file and line of the program's sources a piece of code is. Programs are built with notes of that for debuggers, unless
// they were stripped. The notes of an image are read once, when they are asked for first.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "line_table.h"
#include "runloop_executors.h"

struct image {
    struct image *next;
    char *path;
    struct rows lines;
};

static struct section find_section(const uint8_t *file, size_t size, const char *name) {
    const ElfW(Ehdr) *header = (const void *)file;
    struct section none = {.begin = file, .size = 0};
    if (size < sizeof *header || memcmp(file, ELFMAG, SELFMAG) != 0 || header->e_shoff > size ||
        (uint64_t)header->e_shnum * sizeof(ElfW(Shdr)) > size - header->e_shoff ||
        header->e_shstrndx >= header->e_shnum)
        return none;
    const ElfW(Shdr) *sections = (const void *)(file + header->e_shoff);
    const ElfW(Shdr) *names = &sections[header->e_shstrndx];
    for (size_t i = 0; i < header->e_shnum && names->sh_offset < size; i++) {
        const ElfW(Shdr) *section = &sections[i];
        if (section->sh_name >= size - names->sh_offset || section->sh_offset > size ||
            section->sh_size > size - section->sh_offset || (section->sh_flags & SHF_COMPRESSED))
            continue;
        const char *its_name = (const char *)file + names->sh_offset + section->sh_name;
        if (strncmp(its_name, name, size - names->sh_offset - section->sh_name) == 0)
            return (struct section){.begin = file + section->sh_offset, .size = section->sh_size};
    }
    return none;
}

/// The file stays mapped, as the rows have its texts.
static void read_rows(struct image *image) {
    int descriptor = open(image->path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        const uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (file != MAP_FAILED) {
            struct sections sections = {.lines = find_section(file, size, ".debug_line"),
                                        .line_texts = find_section(file, size, ".debug_line_str"),
                                        .texts = find_section(file, size, ".debug_str")};
            runloop_line_table_read(&sections, &image->lines);
        }
    }
    if (descriptor >= 0)
        close(descriptor);
}

static pthread_mutex_t images_lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;

/// Called with the lock. NULL if memory ran out.
static struct image *find_image(const char *path) {
    for (struct image *image = images; image; image = image->next) {
        if (strcmp(image->path, path) == 0)
            return image;
    }
    struct image *image = calloc(1, sizeof *image);
    if (!image || !(image->path = strdup(path))) {
        free(image);
        return NULL;
    }
    read_rows(image);
    image->next = images;
    images = image;
    return image;
}

static const struct row *find_row(const struct image *image, uint64_t address) {
    size_t low = 0, high = image->lines.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->lines.rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && image->lines.rows[low - 1].line > 0 ? &image->lines.rows[low - 1] : NULL;
}

unsigned runloop_find_code_line(const void *code, const char **directory, const char **file) {
    Dl_info info;
    struct link_map *map;
    if (!code || !dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP))
        return 0;
    pthread_mutex_lock(&images_lock);
    // The loader has no path for the program itself.
    struct image *image = find_image(*map->l_name ? map->l_name : "/proc/self/exe");
    const struct row *row = image ? find_row(image, (uint64_t)((uintptr_t)code - map->l_addr)) : NULL;
    pthread_mutex_unlock(&images_lock);
    if (!row)
        return 0;
    *directory = row->directory;
    *file = row->file;
    return row->line;
}
