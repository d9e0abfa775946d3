// line_table.h — the lines of an image's code, as the compiler has noted them.
#ifndef RUNLOOP_LINE_TABLE_H
#define RUNLOOP_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// From this address on, up to that of the next row. Line 0: nothing is known.
struct row {
    uint64_t address;
    const char *directory, *file;
    uint32_t line;
};

struct rows {
    struct row *rows; ///< from malloc, by address
    size_t count, capacity;
    bool has_failed; ///< memory ran out
};

/// A part of an image's file.
struct section {
    const uint8_t *begin;
    size_t size;
};

/// .debug_line, .debug_line_str, .debug_str
struct sections {
    struct section lines, line_texts, texts;
};

/// Adds what the sections say, or nothing if memory runs out. The texts of the rows are in them.
void runloop_line_table_read(const struct sections *sections, struct rows *out);

#endif // RUNLOOP_LINE_TABLE_H
