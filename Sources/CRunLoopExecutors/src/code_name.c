// code_name.c — what a piece of code is called in the program's sources. The loader keeps only the names that other images may use, so the
// file that the code is from is read; unless it was stripped, that has the others, too.

#define _GNU_SOURCE
#include "runloop_executors.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// Of the Swift runtime.
extern char *swift_demangle(const char *name, size_t length, char *out, size_t *capacity, uint32_t flags)
    __attribute__((weak));

static char *copy_in_source(const char *name) {
    char *readable = swift_demangle ? swift_demangle(name, strlen(name), NULL, NULL, 0) : NULL;
    return readable ? readable : strdup(name);
}

static bool is_in(size_t size, uint64_t offset, uint64_t length) {
    return offset <= size && length <= size - offset;
}

/// The name of the function at `address` in an image that is mapped as it is in its file. NULL if there is none, or the file is not sound.
static const char *find_name(const char *file, size_t size, uint64_t address) {
    const ElfW(Ehdr) *header = (const void *)file;
    if (size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        !is_in(size, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr))))
        return NULL;
    const ElfW(Shdr) *sections = (const void *)(file + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= header->e_shnum ||
            !is_in(size, table->sh_offset, table->sh_size))
            continue;
        const ElfW(Shdr) *names = &sections[table->sh_link];
        if (names->sh_size == 0 || !is_in(size, names->sh_offset, names->sh_size) ||
            file[names->sh_offset + names->sh_size - 1] != 0)
            continue;
        const ElfW(Sym) *symbols = (const void *)(file + table->sh_offset);
        for (size_t k = 0; k < table->sh_size / sizeof *symbols; k++) {
            const ElfW(Sym) *symbol = &symbols[k];
            if ((symbol->st_info & 0xf) == STT_FUNC && address - symbol->st_value < symbol->st_size &&
                symbol->st_name < names->sh_size)
                return file + names->sh_offset + symbol->st_name;
        }
    }
    return NULL;
}

static char *copy_name_from_file(const char *path, uint64_t address) {
    char *result = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (file != MAP_FAILED) {
            const char *name = find_name(file, size, address);
            result = name ? copy_in_source(name) : NULL;
            munmap(file, size);
        }
    }
    if (descriptor >= 0)
        close(descriptor);
    return result;
}

char *runloop_copy_code_name(const void *code) {
    Dl_info image;
    struct link_map *map;
    if (!code || !dladdr1(code, &image, (void **)&map, RTLD_DL_LINKMAP))
        return NULL;
    uint64_t address = (uint64_t)((uintptr_t)code - map->l_addr);
    // The loader has no path for the program itself.
    char *name = copy_name_from_file(*map->l_name ? map->l_name : "/proc/self/exe", address);
    if (name)
        return name;
    if (image.dli_saddr == code && image.dli_sname)
        return copy_in_source(image.dli_sname);
    return asprintf(&name, "%s+0x%llx", image.dli_fname, (unsigned long long)address) < 0 ? NULL : name;
}

void runloop_free_code_name(char *name) {
    free(name);
}
