// dwarf.h — the numbers and texts of what compilers note for debuggers and unwinders.
#ifndef RUNLOOP_DWARF_H
#define RUNLOOP_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// A position in such notes. Beyond the end all is zero.
struct reader {
    const uint8_t *next, *end;
    bool is_64; ///< offsets have eight bytes
};

static inline uint64_t read_fixed(struct reader *reader, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->next) < size) {
        reader->next = reader->end;
        return 0;
    }
    // The compiler has written it as the processor has numbers: where those begin with the highest byte, the lowest ones are at the end.
    size_t skipped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof value - size : 0;
    memcpy((char *)&value + skipped, reader->next, size);
    reader->next += size;
    return value;
}

static inline uint64_t read_uleb(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)read_fixed(reader, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static inline int64_t read_sleb(struct reader *reader) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)read_fixed(reader, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return (int64_t)(shift < 64 && (byte & 0x40) ? value | UINT64_MAX << shift : value);
}

static inline const char *read_text(struct reader *reader) {
    const char *text = (const char *)reader->next;
    const uint8_t *end = memchr(reader->next, 0, (size_t)(reader->end - reader->next));
    reader->next = end ? end + 1 : reader->end;
    return end ? text : "";
}

static inline uint64_t read_offset(struct reader *reader) {
    return read_fixed(reader, reader->is_64 ? 8 : 4);
}

#endif // RUNLOOP_DWARF_H
