// code.c — what a piece of code is called in the program's sources, and in which file and line of them it is. The loader keeps only the names
// that other images may use, so the file that the code is from is read, once: unless it was stripped, that has the others, too, and notes of
// its lines for debuggers.

#ifdef __linux__
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"
#include "line_table.h"
#include "runloop_code.h"
#include "runloop_lock.h"

/// The file of a library, or of the program. There for ever, as the rows have its texts.
struct image {
    struct image *next;
    char *path;
    char *label;         ///< the same, for people
    const uint8_t *file; ///< mapped; NULL if it can't be read
    size_t size;
    bool has_lines;
    struct rows lines; ///< empty before `has_lines`
};

/// For the program itself a loader has no path, or the name by which it was called.
static const char path_of_program[] = "/proc/self/exe";

static struct process_lock images_lock;
static struct image *images;

/// Where there is no /proc, the program is looked for by the name with which it was executed, unless it must not believe its user.
static const char *other_name(const char *path) {
    bool is_program = strcmp(path, path_of_program) == 0;
    return is_program && !getauxval(AT_SECURE) ? (const char *)getauxval(AT_EXECFN) : NULL;
}

static int open_file(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const char *name = descriptor < 0 ? other_name(path) : NULL;
    return name ? open(name, O_RDONLY | O_CLOEXEC) : descriptor;
}

static void map_file(struct image *image) {
    int descriptor = open_file(image->path);
    struct stat status;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0) {
        void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        image->file = file == MAP_FAILED ? NULL : file;
        image->size = file == MAP_FAILED ? 0 : (size_t)status.st_size;
    }
    if (descriptor >= 0)
        close(descriptor);
}

static char *copy_label(const char *path) {
    char program[PATH_MAX];
    ssize_t length = path == path_of_program ? readlink(path, program, sizeof program - 1) : -1;
    program[length > 0 ? length : 0] = 0;
    const char *name = length > 0 ? program : other_name(path);
    return strdup(name ? name : path);
}

/// Called with the lock. NULL if memory ran out.
static struct image *find_image(const char *path) {
    for (struct image *image = images; image; image = image->next) {
        if (strcmp(image->path, path) == 0)
            return image;
    }
    struct image *image = calloc(1, sizeof *image);
    if (!image || !(image->path = strdup(path)) || !(image->label = copy_label(path))) {
        free(image ? image->path : NULL);
        free(image);
        return NULL;
    }
    map_file(image);
    image->next = images;
    images = image;
    return image;
}

/// What dl_iterate_phdr looks for. dladdr waits for a dlopen until its constructors have returned, and knows nothing of a static program.
struct searched {
    uintptr_t code;
    uintptr_t base;   ///< where its image was loaded
    const char *path; ///< of that; NULL before it is found
};

static int look_in(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size;
    struct searched *searched = result;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) ||
            searched->code - info->dlpi_addr - part->p_vaddr >= part->p_memsz)
            continue;
        bool is_program = (uintptr_t)info->dlpi_phdr == getauxval(AT_PHDR);
        searched->base = info->dlpi_addr;
        searched->path = is_program ? path_of_program : info->dlpi_name;
        return 1;
    }
    return 0;
}

/// The image that the code is in, and where. NULL for what is no code, and if memory ran out.
static struct image *image_of(const void *code, uint64_t *address) {
    struct searched searched = {.code = (uintptr_t)code};
    if (!dl_iterate_phdr(look_in, &searched))
        return NULL;
    *address = searched.code - searched.base;
    process_lock(&images_lock);
    struct image *image = find_image(searched.path);
    process_unlock(&images_lock);
    return image;
}

//===-- the parts of a file ------------------------------------------------------------------------------------------===//

static bool is_in(const struct image *image, uint64_t offset, uint64_t length) {
    return offset <= image->size && length <= image->size - offset;
}

/// None if the file is not sound.
static const ElfW(Shdr) * sections_of(const struct image *image, size_t *count) {
    const ElfW(Ehdr) *header = (const void *)image->file;
    const uint8_t class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    bool is_sound = image->size >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                    header->e_ident[EI_CLASS] == class && header->e_shentsize == sizeof(ElfW(Shdr)) &&
                    header->e_shoff % _Alignof(ElfW(Shdr)) == 0 && header->e_shstrndx < header->e_shnum &&
                    is_in(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr)));
    *count = is_sound ? header->e_shnum : 0;
    return is_sound ? (const void *)(image->file + header->e_shoff) : NULL;
}

static struct section find_section(const struct image *image, const char *name) {
    size_t count;
    const ElfW(Shdr) *sections = sections_of(image, &count);
    uint64_t names = count ? sections[((const ElfW(Ehdr) *)(const void *)image->file)->e_shstrndx].sh_offset : 0;
    for (size_t i = 0; i < count && names < image->size; i++) {
        const ElfW(Shdr) *section = &sections[i];
        if (section->sh_name >= image->size - names || !is_in(image, section->sh_offset, section->sh_size) ||
            (section->sh_flags & SHF_COMPRESSED))
            continue;
        const char *its_name = (const char *)image->file + names + section->sh_name;
        if (strncmp(its_name, name, image->size - names - section->sh_name) == 0)
            return (struct section){.begin = image->file + section->sh_offset, .size = section->sh_size};
    }
    return (struct section){.begin = image->file};
}

//===-- names --------------------------------------------------------------------------------------------------------===//

/// Of the Swift runtime.
extern char *swift_demangle(const char *name, size_t length, char *out, size_t *capacity, uint32_t flags)
    __attribute__((weak));

static char *copy_in_source(const char *name) {
    char *readable = swift_demangle ? swift_demangle(name, strlen(name), NULL, NULL, 0) : NULL;
    return readable ? readable : strdup(name);
}

/// The name of the function at `address` in the tables of a type. NULL if there is none.
static const char *find_name_in(const struct image *image, uint32_t type, uint64_t address) {
    size_t count;
    const char *file = (const char *)image->file;
    const ElfW(Shdr) *sections = sections_of(image, &count);
    for (size_t i = 0; i < count; i++) {
        const ElfW(Shdr) *table = &sections[i];
        if (table->sh_type != type || table->sh_link >= count || !is_in(image, table->sh_offset, table->sh_size) ||
            table->sh_offset % _Alignof(ElfW(Sym)))
            continue;
        const ElfW(Shdr) *names = &sections[table->sh_link];
        if (names->sh_size == 0 || !is_in(image, names->sh_offset, names->sh_size) ||
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

/// A stripped file has the names that other files use, and no others.
static const char *find_name(const struct image *image, uint64_t address) {
    const char *name = find_name_in(image, SHT_SYMTAB, address);
    return name ? name : find_name_in(image, SHT_DYNSYM, address);
}

/// For a symbolizer.
static char *copy_address(const struct image *image, uint64_t address) {
    char *text;
    return asprintf(&text, "%s+0x%llx", image->label, (unsigned long long)address) < 0 ? NULL : text;
}

char *runloop_copy_code_name(const void *code) {
    uint64_t address;
    const struct image *image = image_of(code, &address);
    if (!image)
        return NULL;
    const char *name = find_name(image, address);
    return name ? copy_in_source(name) : copy_address(image, address);
}

//===-- lines --------------------------------------------------------------------------------------------------------===//

static void read_lines(struct image *image) {
    process_lock(&images_lock);
    if (!image->has_lines) {
        struct sections sections = {.lines = find_section(image, ".debug_line"),
                                    .line_texts = find_section(image, ".debug_line_str"),
                                    .texts = find_section(image, ".debug_str")};
        runloop_line_table_read(&sections, &image->lines);
        image->has_lines = true;
    }
    process_unlock(&images_lock);
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
    uint64_t address;
    struct image *image = image_of(code, &address);
    if (!image)
        return 0;
    read_lines(image);
    const struct row *row = find_row(image, address);
    if (!row)
        return 0;
    *directory = row->directory;
    *file = row->file;
    return row->line;
}

//===-- both ---------------------------------------------------------------------------------------------------------===//

/// The last `count` parts of a path.
static const char *end_of(const char *path, int count) {
    const char *end = path + strlen(path);
    while (end > path && (end[-1] != '/' || --count > 0))
        end--;
    return end;
}

char *code_copy_description(uintptr_t place, bool is_return) {
    const void *code = (const void *)(place - is_return);
    const char *directory, *file;
    uint64_t address;
    const struct image *image = image_of(code, &address);
    const char *name = image ? find_name(image, address) : NULL;
    if (!name)
        return image ? copy_address(image, address) : NULL;
    unsigned line = runloop_find_code_line(code, &directory, &file);
    char *function = copy_in_source(name), *text;
    if (!function)
        return NULL;
    int length = line ? asprintf(&text, "%s at %s:%u", function, end_of(file, 2), line)
                      : asprintf(&text, "%s in %s", function, end_of(image->label, 1));
    free(function);
    return length < 0 ? NULL : text;
}
#endif // __linux__
