// line_table.c — the lines of an image's code, as the compiler has noted them for debuggers (DWARF 3 to 5, .debug_line).
//
// The notes of each file are a little program, which makes a table: from this address on, it is that line.

#ifdef __linux__
#include "line_table.h"

#include <stdlib.h>

#include "dwarf.h"

//===-- the head of a table: its files -------------------------------------------------------------------------------===//

enum { FILES_AT_MOST = 4096 };

struct table {
    struct reader reader; ///< of the program
    uint64_t least, range;
    int64_t line_base;
    uint8_t opcode_base;
    const uint8_t *lengths;
    struct {
        const char *names[FILES_AT_MOST];
        uint64_t directories[FILES_AT_MOST];
        size_t count;
    } directories, files;
};

enum { FORM_TEXT = 0x08, FORM_TEXT_AT = 0x0e, FORM_LINE_TEXT_AT = 0x1f, FORM_ULEB = 0x0f, FORM_DATA16 = 0x1e };
enum { FORM_BYTE = 0x0b, FORM_TWO = 0x05, FORM_FOUR = 0x06, FORM_EIGHT = 0x07 };

/// "" in a section whose last text has no end, which is read as others are.
static const char *text_at(const struct section *section, uint64_t offset) {
    bool is_sound = offset < section->size && section->begin[section->size - 1] == 0;
    return is_sound ? (const char *)section->begin + offset : "";
}

/// A text, or a number in `*number`. False for what is not known.
static bool read_form(struct reader *reader, const struct sections *sections, uint64_t form, const char **text,
                      uint64_t *number) {
    switch (form) {
    case FORM_TEXT: *text = read_text(reader); return true;
    case FORM_TEXT_AT: *text = text_at(&sections->texts, read_offset(reader)); return true;
    case FORM_LINE_TEXT_AT: *text = text_at(&sections->line_texts, read_offset(reader)); return true;
    case FORM_ULEB: *number = read_uleb(reader); return true;
    case FORM_BYTE: *number = read_fixed(reader, 1); return true;
    case FORM_TWO: *number = read_fixed(reader, 2); return true;
    case FORM_FOUR: *number = read_fixed(reader, 4); return true;
    case FORM_EIGHT: *number = read_fixed(reader, 8); return true;
    case FORM_DATA16: reader->next += reader->end - reader->next < 16 ? reader->end - reader->next : 16; return true;
    default: return false;
    }
}

/// The list of directories, or of files, of version 5.
static bool read_entries(struct reader *reader, const struct sections *sections, const char **names,
                         uint64_t *directories, size_t *count) {
    enum { CONTENTS_NAME = 1, CONTENTS_DIRECTORY = 2 };
    uint64_t contents[8], forms[8];
    uint8_t columns = (uint8_t)read_fixed(reader, 1);
    if (columns > 8)
        return false;
    for (uint8_t i = 0; i < columns; i++) {
        contents[i] = read_uleb(reader);
        forms[i] = read_uleb(reader);
    }
    uint64_t total = read_uleb(reader);
    if (columns == 0 && total > 0)
        return false;
    for (*count = 0; *count < total; ++*count) {
        if (*count == FILES_AT_MOST)
            return false;
        names[*count] = "";
        directories[*count] = 0;
        for (uint8_t i = 0; i < columns; i++) {
            const char *text = "";
            uint64_t number = 0;
            if (!read_form(reader, sections, forms[i], &text, &number))
                return false;
            if (contents[i] == CONTENTS_NAME)
                names[*count] = text;
            if (contents[i] == CONTENTS_DIRECTORY)
                directories[*count] = number;
        }
    }
    return true;
}

/// Both lists of versions 3 and 4, whose numbers begin with 1.
static void read_old_entries(struct reader *reader, struct table *table) {
    table->directories.names[0] = "";
    table->directories.count = 1;
    for (const char *name; *(name = read_text(reader)) && table->directories.count < FILES_AT_MOST;)
        table->directories.names[table->directories.count++] = name;
    table->files.names[0] = "";
    table->files.directories[0] = 0;
    table->files.count = 1;
    for (const char *name; *(name = read_text(reader)) && table->files.count < FILES_AT_MOST;) {
        table->files.names[table->files.count] = name;
        table->files.directories[table->files.count++] = read_uleb(reader);
        read_uleb(reader); // when it was changed
        read_uleb(reader); // how long it was
    }
}

/// Leaves `all` behind the table. False if it is of a kind that is not known.
static bool read_head(struct reader *all, const struct sections *sections, struct table *table) {
    uint64_t length = read_fixed(all, 4);
    bool is_64 = length == 0xffffffff;
    if (is_64)
        length = read_fixed(all, 8);
    if (length > (uint64_t)(all->end - all->next))
        length = (uint64_t)(all->end - all->next);
    struct reader reader = {.next = all->next, .end = all->next + length, .is_64 = is_64};
    all->next += length;
    uint64_t version = read_fixed(&reader, 2);
    if (version < 3 || version > 5)
        return false;
    if (version == 5)
        read_fixed(&reader, 2); // the sizes of addresses and of segments
    uint64_t head = read_offset(&reader);
    if (head > (uint64_t)(reader.end - reader.next))
        return false;
    const uint8_t *program = reader.next + head;
    table->least = read_fixed(&reader, 1);
    // Operations for each instruction, from version 4 on, and whether each line is a statement.
    read_fixed(&reader, version == 3 ? 1 : 2);
    table->line_base = (int8_t)read_fixed(&reader, 1);
    table->range = read_fixed(&reader, 1);
    table->opcode_base = (uint8_t)read_fixed(&reader, 1);
    if (table->range == 0 || table->opcode_base == 0 || reader.end - reader.next < table->opcode_base)
        return false;
    table->lengths = reader.next;
    reader.next += table->opcode_base - 1;
    if (version < 5)
        read_old_entries(&reader, table);
    else if (!read_entries(&reader, sections, table->directories.names, table->directories.directories,
                           &table->directories.count) ||
             !read_entries(&reader, sections, table->files.names, table->files.directories, &table->files.count))
        return false;
    table->reader = (struct reader){.next = program, .end = reader.end, .is_64 = is_64};
    return true;
}

//===-- the program --------------------------------------------------------------------------------------------------===//

struct registers {
    uint64_t address, file, line; ///< a line below 1 has no number
};

static void add_row(struct rows *out, const struct table *table, const struct registers *at, bool is_end) {
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 1024;
        struct row *rows = realloc(out->rows, capacity * sizeof *rows);
        if (!rows) {
            out->has_failed = true;
            return;
        }
        out->rows = rows;
        out->capacity = capacity;
    }
    struct row row = {.address = at->address, .directory = "", .file = ""};
    if (!is_end && at->file < table->files.count && (int64_t)at->line > 0) {
        uint64_t directory = table->files.directories[at->file];
        row.file = table->files.names[at->file];
        row.directory = directory < table->directories.count ? table->directories.names[directory] : "";
        row.line = (uint32_t)at->line;
    }
    out->rows[out->count++] = row;
}

enum { EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };

static void run_extended(struct rows *out, struct table *table, struct registers *at) {
    struct reader *reader = &table->reader;
    uint64_t length = read_uleb(reader);
    if (length == 0 || length > (uint64_t)(reader->end - reader->next)) {
        reader->next = reader->end;
        return;
    }
    const uint8_t *next = reader->next + length;
    switch (read_fixed(reader, 1)) {
    case END_SEQUENCE:
        add_row(out, table, at, true);
        *at = (struct registers){.file = 1, .line = 1};
        break;
    case SET_ADDRESS: at->address = read_fixed(reader, length - 1 < 8 ? (unsigned)length - 1 : 8); break;
    default: break;
    }
    reader->next = next;
}

static void run_standard(struct rows *out, struct table *table, struct registers *at, uint8_t opcode) {
    struct reader *reader = &table->reader;
    switch (opcode) {
    case COPY: add_row(out, table, at, false); break;
    case ADVANCE_PC: at->address += table->least * read_uleb(reader); break;
    case ADVANCE_LINE: at->line += (uint64_t)read_sleb(reader); break;
    case SET_FILE: at->file = read_uleb(reader); break;
    case CONST_ADD_PC: at->address += table->least * ((255u - table->opcode_base) / table->range); break;
    case FIXED_ADVANCE_PC: at->address += read_fixed(reader, 2); break;
    default:
        for (uint8_t i = 0; i < table->lengths[opcode - 1]; i++)
            read_uleb(reader);
    }
}

static void run_program(struct rows *out, struct table *table) {
    struct registers at = {.file = 1, .line = 1};
    while (table->reader.next < table->reader.end && !out->has_failed) {
        uint8_t opcode = (uint8_t)read_fixed(&table->reader, 1);
        if (opcode >= table->opcode_base) {
            unsigned adjusted = opcode - table->opcode_base;
            at.address += table->least * (adjusted / table->range);
            at.line += (uint64_t)table->line_base + adjusted % table->range;
            add_row(out, table, &at, false);
        } else if (opcode == EXTENDED) {
            run_extended(out, table, &at);
        } else {
            run_standard(out, table, &at, opcode);
        }
    }
}

static int compare(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    // Where one sequence ends, another may begin.
    return (a->line != 0) - (b->line != 0);
}

void runloop_line_table_read(const struct sections *sections, struct rows *out) {
    struct table *table = malloc(sizeof *table);
    struct reader all = {.next = sections->lines.begin, .end = sections->lines.begin + sections->lines.size};
    while (table && all.next < all.end && !out->has_failed) {
        if (read_head(&all, sections, table))
            run_program(out, table);
    }
    free(table);
    if (out->has_failed) {
        // Without the end of a sequence, its last line would reach to the next one.
        free(out->rows);
        *out = (struct rows){.has_failed = true};
    }
    if (out->count > 0)
        qsort(out->rows, out->count, sizeof *out->rows, compare);
}
#endif // __linux__
