// unwind.c — from a function of another thread to its caller. Where the thread waits in the kernel its stack pointer is known, and its frame
// pointer is not, which few functions of the C library use. Once a function needs it, and none below has saved it, the function's frame is
// searched for a saved frame pointer and a return address that belong together.

#ifdef __linux__
#include "unwind.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call_frame.h"

//===-- memory and code ----------------------------------------------------------------------------------------------===//

void copy_stack(struct stack_copy *copy, uintptr_t begin) {
    enum { PAGE = 4096, PAGES = sizeof copy->bytes / PAGE };
    struct iovec here = {.iov_base = copy->bytes, .iov_len = sizeof copy->bytes}, there[PAGES];
    // A part that has an end of memory in it is not read at all.
    for (size_t i = 0; i < PAGES; i++)
        there[i] = (struct iovec){.iov_base = (void *)(begin + i * PAGE), .iov_len = PAGE};
    ssize_t size = process_vm_readv(getpid(), &here, 1, there, PAGES, 0);
    copy->begin = begin;
    copy->size = size > 0 ? (size_t)size : 0;
}

static size_t read_memory(const struct stack_copy *copy, uintptr_t address, void *out, size_t size) {
    if (copy && address - copy->begin < copy->size) {
        size_t left = copy->size - (address - copy->begin);
        size = size < left ? size : left;
        memcpy(out, copy->bytes + (address - copy->begin), size);
        return size;
    }
    struct iovec here = {.iov_base = out, .iov_len = size}, there = {.iov_base = (void *)address, .iov_len = size};
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

static bool read_word(const struct frame *frame, uintptr_t address, uintptr_t *out) {
    return read_memory(frame->copy, address, out, sizeof *out) == sizeof *out;
}

/// A question about code, asked while its image can't be unloaded.
struct question {
    uintptr_t code;
    bool is_in_code;
    bool is_noted;
    struct call_frame *frame; ///< out; NULL: is it the place after a call?
    uintptr_t callee;         ///< out: the function that is called there, 0 if the call does not say
};

static bool contains_code(const struct dl_phdr_info *image, uintptr_t code, uintptr_t *begin) {
    for (size_t i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        *begin = image->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) && code - *begin < part->p_memsz)
            return true;
    }
    return false;
}

#if defined(__x86_64__)
/// Is there a call before `next`? If it names its function, which.
static bool follows_call(const uint8_t *next, size_t size, uintptr_t *callee) {
    *callee = 0;
    int32_t distance;
    if (size >= 5 && next[-5] == 0xe8) {
        memcpy(&distance, next - 4, sizeof distance);
        *callee = (uintptr_t)next + (uintptr_t)(intptr_t)distance;
        return true;
    }
    // call by a register, or by memory with a distance of no, one or four bytes, with or without an index.
    for (size_t length = 2; length <= 7 && length <= size; length++) {
        if (*(next - length) == 0xff && (*(next - length + 1) & 0x38) == 0x10)
            return true;
    }
    return false;
}
#elif defined(__aarch64__)
static bool follows_call(const uint8_t *next, size_t size, uintptr_t *callee) {
    uint32_t instruction = 0;
    if (size >= sizeof instruction)
        memcpy(&instruction, next - sizeof instruction, sizeof instruction);
    bool is_direct = (instruction & 0xfc000000) == 0x94000000;
    int32_t distance = (int32_t)(instruction << 6) >> 4;
    *callee = is_direct ? (uintptr_t)next - sizeof instruction + (uintptr_t)(intptr_t)distance : 0;
    return is_direct || (instruction & 0xfffff800) == 0xd63f0800 || (instruction & 0xfffffc1f) == 0xd63f0000;
}
#else
static bool follows_call(const uint8_t *next, size_t size, uintptr_t *callee) {
    (void)next, (void)size, (void)callee;
    return false;
}
#endif

static int answer(struct dl_phdr_info *image, size_t size, void *asked) {
    (void)size;
    struct question *question = asked;
    uintptr_t begin;
    if (!contains_code(image, question->code, &begin))
        return 0;
    question->is_in_code = true;
    question->is_noted = question->frame
                             ? call_frame_find(image, question->code, question->frame)
                             : follows_call((const uint8_t *)question->code, question->code - begin, &question->callee);
    return 1;
}

static bool is_return_address(uintptr_t code, uintptr_t *callee) {
    struct question question = {.code = code};
    dl_iterate_phdr(answer, &question);
    *callee = question.callee;
    return question.is_noted;
}

bool is_code(uintptr_t address) {
    struct question question = {.code = address};
    dl_iterate_phdr(answer, &question);
    return question.is_in_code;
}

static bool find_call_frame(const struct frame *frame, struct call_frame *out) {
    struct question question = {.code = frame->code - frame->is_caller, .frame = out};
    dl_iterate_phdr(answer, &question);
    return question.is_noted;
}

//===-- a frame without its frame pointer ----------------------------------------------------------------------------===//

enum { SEARCHED_BYTES = 16384, LARGEST_FRAME = 1 << 20, ALIGNMENT = 16 };

/// Are the two words a frame pointer and a return address of a caller, which has those of its own caller in turn?
static bool is_record(const struct frame *frame, uintptr_t address, const uintptr_t words[2], uintptr_t *callee) {
    uintptr_t base = words[0], outer[2], unused;
    if (base <= address + sizeof *words || base - address > LARGEST_FRAME || base % ALIGNMENT ||
        !is_return_address(words[1], callee))
        return false;
    if (read_memory(frame->copy, base, outer, sizeof outer) != sizeof outer)
        return false;
    return outer[0] == 0 || is_return_address(outer[1], &unused);
}

/// What an earlier call has left on the stack may look like a record. A call that names the function, or none that does, is preferred.
static bool search_record(const struct frame *frame, uintptr_t function, uintptr_t *out) {
    enum { WORDS = 512 };
    uintptr_t words[WORDS + 1], address = (frame->stack + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    uintptr_t end = address + SEARCHED_BYTES, possible = 0, callee;
    while (address < end) {
        size_t count = read_memory(frame->copy, address, words, sizeof words) / sizeof *words;
        for (size_t i = 0; i + 1 < count && i < WORDS; i += ALIGNMENT / sizeof *words) {
            uintptr_t place = address + i * sizeof *words;
            if (!is_record(frame, place, words + i, &callee))
                continue;
            if (callee && callee == function) {
                *out = place;
                return true;
            }
            // A call of something else may lead here by a jump.
            possible = possible ? possible : place;
        }
        if (count < WORDS + 1)
            break;
        address += WORDS * sizeof *words;
    }
    *out = possible;
    return possible;
}

/// The caller by the frame pointer that the function has saved.
static bool unwind_by_search(struct frame *frame, uintptr_t function) {
    uintptr_t record, words[2];
    if (!search_record(frame, function, &record) ||
        read_memory(frame->copy, record, words, sizeof words) != sizeof words)
        return false;
    *frame = (struct frame){.copy = frame->copy,
                            .code = words[1],
                            .stack = record + sizeof words,
                            .base = words[0],
                            .has_base = true,
                            .is_caller = true};
    return true;
}

//===-- the caller ---------------------------------------------------------------------------------------------------===//

static bool value_of(const struct frame *frame, int number, uintptr_t *out) {
    *out = number == STACK_REGISTER ? frame->stack : frame->base;
    return number == STACK_REGISTER || (number == BASE_REGISTER && frame->has_base);
}

static bool find_frame(const struct frame *frame, const struct place *place, uintptr_t *out) {
    uintptr_t value;
    if ((place->saved != SAVED_IN_ITSELF && place->saved != SAVED_AT_REGISTER) || !value_of(frame, place->from, &value))
        return false;
    *out = value + (uintptr_t)place->offset;
    return place->saved == SAVED_IN_ITSELF || read_word(frame, *out, out);
}

static bool load(const struct frame *frame, uintptr_t address, const struct place *place, uintptr_t *out) {
    uintptr_t value;
    if (place->saved == SAVED_AT_FRAME)
        return read_word(frame, address + (uintptr_t)place->offset, out);
    return place->saved == SAVED_AT_REGISTER && value_of(frame, place->from, &value) &&
           read_word(frame, value + (uintptr_t)place->offset, out);
}

/// Of an address that is signed in its highest bits, what the processor goes to.
static uintptr_t without_signature(uintptr_t code) {
#if defined(__aarch64__)
    return code & 0xffffffffffff;
#else
    return code;
#endif
}

bool unwind(struct frame *frame) {
    struct call_frame noted;
    if (!find_call_frame(frame, &noted))
        return unwind_by_search(frame, 0);
    uintptr_t address;
    if (noted.code.saved == SAVED_NOWHERE)
        return false;
    if (!find_frame(frame, &noted.frame, &address) || noted.code.saved == SAVED_IN_ITSELF)
        return unwind_by_search(frame, noted.function);
    struct frame caller = {.copy = frame->copy, .stack = address, .is_caller = !noted.is_interrupted};
    if (address <= frame->stack && !noted.is_interrupted)
        return false;
    if (!load(frame, address, &noted.code, &caller.code))
        return false;
    caller.code = without_signature(caller.code);
    if (noted.base.saved == SAVED_IN_ITSELF) {
        caller.base = frame->base;
        caller.has_base = frame->has_base;
    } else {
        caller.has_base = load(frame, address, &noted.base, &caller.base);
    }
    *frame = caller;
    return caller.code != 0;
}
#endif // __linux__
