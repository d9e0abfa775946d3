// terminal.c — decodes UTF-8, and lets through what has a shape.

#include "terminal.h"

#include <stdbool.h>
#include <stdint.h>

/// The number of bytes of the first character, which is put into `*scalar`; 0 if they are not UTF-8, or cut off.
static size_t decode(const unsigned char *text, size_t length, uint32_t *scalar) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t count = text[0] < 0x80   ? 1
                   : text[0] < 0xC0 ? 0
                   : text[0] < 0xE0 ? 2
                   : text[0] < 0xF0 ? 3
                   : text[0] < 0xF8 ? 4
                                    : 0;
    if (count == 0 || count > length)
        return 0;
    *scalar = count == 1 ? text[0] : text[0] & (0x7FU >> count);
    for (size_t i = 1; i < count; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        *scalar = *scalar << 6 | (text[i] & 0x3FU);
    }
    bool is_surrogate = *scalar >= 0xD800 && *scalar <= 0xDFFF;
    return *scalar < least[count] || *scalar > 0x10FFFF || is_surrogate ? 0 : count;
}

static bool has_shape(uint32_t scalar) {
    static const struct {
        uint32_t first, last;
    } others[] = {
        {0x00, 0x1F},       {0x7F, 0x9F},     {0x61C, 0x61C}, {0x180E, 0x180E},
        {0x200B, 0x200F},   {0x2028, 0x202E}, // zero width, marks of direction, ends of lines and paragraphs, embeddings
        {0x2060, 0x206F},   {0xFDD0, 0xFDEF}, // isolates, and no characters
        {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB}, // byte order mark, annotations
        {0xE0000, 0xE0FFF},                   // tags
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (scalar >= others[i].first && scalar <= others[i].last)
            return false;
    return (scalar & 0xFFFE) != 0xFFFE;
}

void terminal_write(FILE *out, const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < length;) {
        uint32_t scalar = 0;
        size_t count = decode(bytes + i, length - i, &scalar);
        if (count > 0 && has_shape(scalar))
            fwrite(bytes + i, 1, count, out);
        else
            putc('?', out);
        i += count > 0 ? count : 1;
    }
}
