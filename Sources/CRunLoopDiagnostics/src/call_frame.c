// call_frame.c — reads .eh_frame, as the compiler writes it for exceptions: for each function a little program, which says how the places of
// the caller's registers change from instruction to instruction. An index by address (.eh_frame_hdr) is loaded with each image.

#ifdef __linux__
#include "call_frame.h"

#include "dwarf.h"

//===-- encoded addresses ------------------------------------------------------------------------------------------------===//

enum { FORMAT_MASK = 0x0f, RELATIVE_MASK = 0x70, RELATIVE_TO_ITSELF = 0x10, OF_INDEX = 0x3b };

/// False for an encoding that Linux's compilers don't use here.
static bool read_encoded(struct reader *reader, uint8_t encoding, uintptr_t *out) {
    uintptr_t place = (uintptr_t)reader->next;
    uint64_t value;
    switch (encoding & FORMAT_MASK) {
    case 0x00: value = read_fixed(reader, sizeof(uintptr_t)); break;
    case 0x01: value = read_uleb(reader); break;
    case 0x02: value = read_fixed(reader, 2); break;
    case 0x03: value = read_fixed(reader, 4); break;
    case 0x09: value = (uint64_t)read_sleb(reader); break;
    case 0x0a: value = (uint64_t)(int16_t)read_fixed(reader, 2); break;
    case 0x0b: value = (uint64_t)(int32_t)read_fixed(reader, 4); break;
    case 0x04:
    case 0x0c: value = read_fixed(reader, 8); break;
    default: return false;
    }
    uint8_t relative = encoding & RELATIVE_MASK;
    *out = (uintptr_t)value + (relative == RELATIVE_TO_ITSELF ? place : 0);
    return relative == 0 || relative == RELATIVE_TO_ITSELF;
}

/// A length, and as many bytes.
static struct reader read_block(struct reader *reader, uint64_t length) {
    uint64_t left = (uint64_t)(reader->end - reader->next);
    struct reader block = {.next = reader->next, .end = reader->next + (length < left ? length : left)};
    reader->next = block.end;
    return block;
}

/// What the image has loaded from there on. Nothing where that is not in it.
static struct reader memory_at(const struct dl_phdr_info *image, uintptr_t address) {
    for (size_t i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        uintptr_t offset = address - (uintptr_t)(image->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_LOAD && (part->p_flags & PF_R) && offset < part->p_memsz)
            return (struct reader){.next = (const uint8_t *)address,
                                   .end = (const uint8_t *)address + (part->p_memsz - offset)};
    }
    return (struct reader){.next = (const uint8_t *)address, .end = (const uint8_t *)address};
}

/// An entry of .eh_frame: its length is before it.
static struct reader entry_at(const struct dl_phdr_info *image, uintptr_t address) {
    struct reader reader = memory_at(image, address);
    uint64_t length = read_fixed(&reader, 4);
    if (length == 0xffffffff)
        length = read_fixed(&reader, 8);
    return read_block(&reader, length);
}

//===-- what the functions of a file have in common ------------------------------------------------------------------===//

struct common {
    struct reader program;
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t code_register;
    uint8_t encoding;
    bool has_data, is_interrupted;
};

static bool read_augmentation(struct reader *data, const char *letters, struct common *out) {
    uintptr_t personality;
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R': out->encoding = (uint8_t)read_fixed(data, 1); break;
        case 'P':
            if (!read_encoded(data, (uint8_t)read_fixed(data, 1) & (FORMAT_MASK | RELATIVE_MASK), &personality))
                return false;
            break;
        case 'L': read_fixed(data, 1); break;
        case 'S': out->is_interrupted = true; break;
        case 'B':
        case 'G': break; // how addresses are signed, and memory tagged
        default: return false;
        }
    }
    return true;
}

static bool read_common(const struct dl_phdr_info *image, uintptr_t address, struct common *out) {
    struct reader reader = entry_at(image, address);
    *out = (struct common){.encoding = 0};
    uint64_t is_function = read_fixed(&reader, 4), version = read_fixed(&reader, 1);
    const char *letters = read_text(&reader);
    if (is_function || (version != 1 && version != 3))
        return false;
    out->code_factor = read_uleb(&reader);
    out->data_factor = read_sleb(&reader);
    out->code_register = version == 1 ? read_fixed(&reader, 1) : read_uleb(&reader);
    if (*letters == 'z') {
        out->has_data = true;
        struct reader data = read_block(&reader, read_uleb(&reader));
        if (!read_augmentation(&data, letters + 1, out))
            return false;
    } else if (*letters) {
        return false;
    }
    out->program = reader;
    return true;
}

//===-- the programs -------------------------------------------------------------------------------------------------===//

enum { REMEMBERED_AT_MOST = 8 };

struct state {
    struct call_frame now, initial, remembered[REMEMBERED_AT_MOST];
    int depth;
    uintptr_t code; ///< to which `now` applies
};

static struct place *place_of(const struct common *common, struct call_frame *frame, uint64_t number) {
    return number == common->code_register ? &frame->code : number == BASE_REGISTER ? &frame->base : NULL;
}

static void set(const struct common *common, struct state *state, uint64_t number, struct place place) {
    struct place *changed = place_of(common, &state->now, number);
    if (changed)
        *changed = place;
}

static void restore(const struct common *common, struct state *state, uint64_t number) {
    struct place *changed = place_of(common, &state->now, number);
    if (changed)
        *changed = *place_of(common, &state->initial, number);
}

/// Most are a register and an offset, and maybe what is in memory there.
static struct place read_expression(struct reader *reader, bool is_value) {
    enum { DEREFERENCE = 0x06, REGISTER_0 = 0x70, REGISTER_31 = 0x8f };
    struct reader block = read_block(reader, read_uleb(reader));
    struct place unknown = {.saved = SAVED_UNKNOWN};
    uint8_t operation = (uint8_t)read_fixed(&block, 1);
    if (operation < REGISTER_0 || operation > REGISTER_31)
        return unknown;
    struct place place = {.saved = SAVED_AT_REGISTER, .from = operation - REGISTER_0};
    place.offset = read_sleb(&block);
    if (block.next == block.end) {
        if (is_value)
            place.saved = SAVED_IN_ITSELF;
        return place;
    }
    bool is_in_memory = is_value && read_fixed(&block, 1) == DEREFERENCE && block.next == block.end;
    return is_in_memory ? place : unknown;
}

/// Modulo 2^64, as what is added to an address.
static int64_t times_data_factor(const struct common *common, uint64_t factored) {
    return (int64_t)(factored * (uint64_t)common->data_factor);
}

static void run_frame_operation(const struct common *common, struct state *state, struct reader *reader,
                                uint8_t operation) {
    enum { REGISTER_AND_OFFSET = 0x0c, REGISTER, OFFSET, EXPRESSION, REGISTER_AND_FACTORED = 0x12, FACTORED };
    struct place *frame = &state->now.frame;
    if (operation == EXPRESSION) {
        *frame = read_expression(reader, true);
        return;
    }
    if (operation == REGISTER_AND_OFFSET || operation == REGISTER_AND_FACTORED)
        frame->saved = SAVED_IN_ITSELF;
    if (operation != OFFSET && operation != FACTORED)
        frame->from = (int)read_uleb(reader);
    if (operation == REGISTER_AND_OFFSET || operation == OFFSET)
        frame->offset = (int64_t)read_uleb(reader);
    else if (operation != REGISTER)
        frame->offset = times_data_factor(common, (uint64_t)read_sleb(reader));
}

static struct place at_frame(const struct common *common, uint64_t factored) {
    return (struct place){.saved = SAVED_AT_FRAME, .offset = times_data_factor(common, factored)};
}

static void run_register_operation(const struct common *common, struct state *state, struct reader *reader,
                                   uint8_t operation) {
    enum { OFFSET = 0x05, RESTORE, UNDEFINED, SAME, EXPRESSION = 0x10, SIGNED_OFFSET, VALUE = 0x16, NEGATIVE = 0x2f };
    uint64_t number = read_uleb(reader);
    struct place place = {.saved = SAVED_UNKNOWN};
    switch (operation) {
    case OFFSET: place = at_frame(common, read_uleb(reader)); break;
    case SIGNED_OFFSET: place = at_frame(common, (uint64_t)read_sleb(reader)); break;
    case NEGATIVE: place = at_frame(common, 0 - read_uleb(reader)); break;
    case RESTORE: restore(common, state, number); return;
    case UNDEFINED: place.saved = SAVED_NOWHERE; break;
    case SAME: place.saved = SAVED_IN_ITSELF; break;
    case EXPRESSION: place = read_expression(reader, false); break;
    case VALUE: read_expression(reader, false); break;
    default: read_uleb(reader); break; // in another register, or it is an offset of the frame's address itself
    }
    set(common, state, number, place);
}

/// False for an operation that is not known, so that the length of what follows is not, either.
static bool run_operation(const struct common *common, struct state *state, struct reader *reader, uint8_t operation) {
    enum { NOTHING, SET_CODE, ADVANCE_1, ADVANCE_2, ADVANCE_4, REMEMBER = 0x0a, RECALL, SIGNED = 0x2d, ARGUMENTS };
    switch (operation) {
    case NOTHING:
    case SIGNED: return true; // the return address is signed from here on, or no longer
    case SET_CODE: return read_encoded(reader, common->encoding, &state->code);
    case ADVANCE_1: state->code += read_fixed(reader, 1) * common->code_factor; return true;
    case ADVANCE_2: state->code += read_fixed(reader, 2) * common->code_factor; return true;
    case ADVANCE_4: state->code += read_fixed(reader, 4) * common->code_factor; return true;
    case ARGUMENTS: read_uleb(reader); return true;
    case REMEMBER:
        if (state->depth == REMEMBERED_AT_MOST)
            return false;
        state->remembered[state->depth++] = state->now;
        return true;
    case RECALL:
        if (state->depth == 0)
            return false;
        state->now = state->remembered[--state->depth];
        return true;
    default: break;
    }
    bool is_of_frame = (operation >= 0x0c && operation <= 0x0f) || operation == 0x12 || operation == 0x13;
    bool is_of_register = (operation >= 0x05 && operation <= 0x16) || operation == 0x2f;
    if (is_of_frame)
        run_frame_operation(common, state, reader, operation);
    else if (is_of_register)
        run_register_operation(common, state, reader, operation);
    return is_of_frame || is_of_register;
}

/// Until the place in the code.
static bool run(const struct common *common, struct state *state, struct reader reader, uintptr_t code) {
    enum { ADVANCE = 1, OFFSET = 2, RESTORE = 3 };
    while (reader.next < reader.end && state->code <= code) {
        uint8_t byte = (uint8_t)read_fixed(&reader, 1), low = byte & 0x3f;
        struct call_frame before = state->now;
        switch (byte >> 6) {
        case ADVANCE: state->code += low * common->code_factor; break;
        case OFFSET: set(common, state, low, at_frame(common, read_uleb(&reader))); break;
        case RESTORE: restore(common, state, low); break;
        default:
            if (!run_operation(common, state, &reader, byte))
                return false;
        }
        if (state->code > code)
            state->now = before;
    }
    return true;
}

//===-- finding the function -----------------------------------------------------------------------------------------===//

/// What one of the numbers of the index, which are distances from it, leads to.
static uintptr_t led_to(const uint8_t *index, const uint8_t *rows, size_t number) {
    int32_t distance;
    memcpy(&distance, rows + number * sizeof distance, sizeof distance);
    return (uintptr_t)index + (uintptr_t)(intptr_t)distance;
}

/// The last row of the index that begins at or before `code`: the pair of a function and its entry. 0: none.
static uintptr_t find_entry(const struct dl_phdr_info *image, uintptr_t address, uintptr_t code) {
    struct reader reader = memory_at(image, address);
    const uint8_t *index = reader.next;
    uintptr_t frames, count;
    if (reader.end - reader.next < 4)
        return 0;
    reader.next += 4;
    if (index[0] != 1 || index[3] != OF_INDEX || !read_encoded(&reader, index[1], &frames) ||
        !read_encoded(&reader, index[2], &count))
        return 0;
    const uint8_t *rows = reader.next;
    size_t low = 0,
           high = count < (size_t)(reader.end - reader.next) / 8 ? count : (size_t)(reader.end - reader.next) / 8;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (led_to(index, rows, 2 * middle) <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? led_to(index, rows, 2 * low - 1) : 0;
}

bool call_frame_find(const struct dl_phdr_info *image, uintptr_t code, struct call_frame *out) {
    uintptr_t entry = 0;
    for (size_t i = 0; i < image->dlpi_phnum && !entry; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        if (part->p_type == PT_GNU_EH_FRAME)
            entry = find_entry(image, (uintptr_t)(image->dlpi_addr + part->p_vaddr), code);
    }
    if (!entry)
        return false;
    struct reader reader = entry_at(image, entry);
    uintptr_t place = (uintptr_t)reader.next;
    uint64_t distance = read_fixed(&reader, 4);
    struct common common;
    uintptr_t length;
    struct state state = {.depth = 0};
    if (distance == 0 || !read_common(image, place - distance, &common) ||
        !read_encoded(&reader, common.encoding, &state.code) ||
        !read_encoded(&reader, common.encoding & FORMAT_MASK, &length) || code < state.code ||
        code - state.code >= length)
        return false;
    if (common.has_data)
        read_block(&reader, read_uleb(&reader));
    uintptr_t function = state.code;
    state.now = (struct call_frame){.frame = {.saved = SAVED_UNKNOWN}, .base = {.saved = SAVED_IN_ITSELF}};
    state.now.code.saved = SAVED_IN_ITSELF;
    if (!run(&common, &state, common.program, UINTPTR_MAX - 1))
        return false;
    state.code = function;
    state.initial = state.now;
    if (!run(&common, &state, reader, code))
        return false;
    *out = state.now;
    out->function = function;
    out->is_interrupted = common.is_interrupted;
    return true;
}
#endif // __linux__
