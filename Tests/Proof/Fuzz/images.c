// images.c — what reads the files of programs and libraries for reports: the tables of names and lines, and the notes by which stacks are walked.
#include <link.h>

#include "call_frame.h"
#include "dwarf.h"
#include "fuzz.h"

// An image is a type of this file's own.
#include "../../../Sources/CRunLoopDiagnostics/src/code.c"

/// Of the exact size, and where a mapped file begins.
static uint8_t *copy(const uint8_t *bytes, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    CHECK(exact);
    memcpy(exact, bytes, size);
    return exact;
}

/// The texts end where they can be read, and rows are in order.
static void check_rows(const struct rows *rows, const struct section *sections, size_t count) {
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->rows[i];
        const char *texts[] = {row->file, row->directory};
        CHECK(i == 0 || rows->rows[i - 1].address <= row->address);
        for (int k = 0; k < 2; k++) {
            const uint8_t *text = (const uint8_t *)texts[k];
            bool is_in_one = !*text;
            for (size_t s = 0; s < count; s++)
                is_in_one |=
                    text >= sections[s].begin && text + strlen(texts[k]) < sections[s].begin + sections[s].size;
            CHECK(is_in_one);
        }
    }
}

static void check_file(const uint8_t *bytes, size_t size) {
    uint8_t *file = copy(bytes, size);
    struct image image = {.label = (char *)"image", .file = file, .size = size};
    const struct section whole = {.begin = file, .size = size};
    read_lines(&image);
    check_rows(&image.lines, &whole, 1);
    for (uint64_t address = 0; address < 0x40; address++) {
        const char *name = find_name(&image, address);
        const struct row *row = find_row(&image, address);
        CHECK(!name || (name >= (char *)file && (uint8_t *)name + strlen(name) < file + size));
        CHECK(!row || (row->line > 0 && row->address <= address));
    }
    free(image.lines.rows);
    free(file);
}

/// Three sections, whose sizes the first bytes say.
static void check_lines(struct bytes bytes) {
    struct section parts[3];
    struct rows rows = {.rows = NULL};
    for (int i = 0; i < 3; i++) {
        size_t left = (size_t)(bytes.end - bytes.next), size = i < 2 ? bytes_take(&bytes, 256) : left;
        left = (size_t)(bytes.end - bytes.next);
        size = size < left ? size : left;
        parts[i] = (struct section){.begin = copy(bytes.next, size), .size = size};
        bytes.next += size;
    }
    // The longest is that of the lines.
    const struct sections sections = {.lines = parts[2], .line_texts = parts[0], .texts = parts[1]};
    runloop_line_table_read(&sections, &rows);
    CHECK(!rows.has_failed && rows.count <= parts[2].size);
    check_rows(&rows, parts, 3);
    free(rows.rows);
    for (int i = 0; i < 3; i++)
        free((void *)parts[i].begin);
}

/// An image that has its index and its entries, and nothing else, loaded.
static void check_frames(const uint8_t *bytes, size_t size) {
    uint8_t *memory = copy(bytes, size);
    const ElfW(Phdr) parts[] = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = size},
                                {.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_memsz = size}};
    const struct dl_phdr_info image = {.dlpi_addr = (ElfW(Addr))(uintptr_t)memory, .dlpi_phdr = parts, .dlpi_phnum = 2};
    for (uintptr_t place = 0; place <= 0x140; place += 0x10) {
        struct call_frame frame = {.is_interrupted = false};
        uintptr_t code = (uintptr_t)memory + place;
        if (!call_frame_find(&image, code, &frame))
            continue;
        CHECK(frame.function <= code);
        CHECK(frame.frame.saved <= SAVED_UNKNOWN && frame.code.saved <= SAVED_UNKNOWN);
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + size};
    unsigned which = bytes_take(&bytes, 3);
    size_t left = (size_t)(bytes.end - bytes.next);
    if (which == 0)
        check_file(bytes.next, left);
    else if (which == 1)
        check_lines(bytes);
    else
        check_frames(bytes.next, left);
    return 0;
}
