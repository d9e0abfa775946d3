// jumps.c — from where a program jumped to a trap. Swift puts the trap of a check that has no words, an overflow for instance, behind the function, with no
// line of its own; several checks may share one. The jumps to it are in the lines of the checks.

#ifdef __linux__
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "joined.h"

#if defined(__x86_64__) || defined(__aarch64__)

/// So far before a trap its function is looked through.
enum { REACH = 64 * 1024 };

static const uint8_t *first_byte(const uint8_t *trap) {
    Dl_info found;
    if (!dladdr(trap, &found) || !found.dli_fbase)
        return trap;
    const uint8_t *begin = found.dli_fbase;
    return trap - begin > REACH ? trap - REACH : begin;
}

#endif

#if defined(__x86_64__)

/// A jump on a condition to a place that is so far away that four bytes say it, or one.
static bool jumps_to(const uint8_t *code, const uint8_t *trap, bool is_far) {
    int32_t distance;
    if (!is_far)
        return (code[0] & 0xf0) == 0x70 && code + 2 + (int8_t)code[1] == trap;
    memcpy(&distance, code + 2, sizeof distance);
    return code[0] == 0x0f && (code[1] & 0xf0) == 0x80 && code + 6 + distance == trap;
}

int32_t runloop_simulation_find_jumps(const void *trap, void **jumps, int32_t most) {
    const uint8_t *target = trap, *begin = first_byte(target);
    int32_t count = 0;
    // What looks like a short jump may be a part of another instruction, so those count only if there is no other one.
    for (int is_far = 1; is_far >= 0 && count == 0; is_far--) {
        for (const uint8_t *code = is_far || target - begin < 128 ? begin : target - 128;
             code + 6 <= target && count < most; code++) {
            if (jumps_to(code, target, is_far))
                jumps[count++] = (void *)code;
        }
    }
    return count;
}

#elif defined(__aarch64__)

int32_t runloop_simulation_find_jumps(const void *trap, void **jumps, int32_t most) {
    const uint8_t *target = trap;
    int32_t count = 0;
    for (const uint8_t *code = target - (target - first_byte(target)) / 4 * 4; code < target && count < most;
         code += 4) {
        uint32_t word;
        memcpy(&word, code, sizeof word);
        // B.cond, CBZ and CBNZ have 19 bits of distance, TBZ and TBNZ 14.
        bool is_19 = (word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000;
        bool is_14 = (word & 0x7e000000) == 0x36000000;
        int32_t words = is_19 ? (int32_t)(word << 8) >> 13 : (int32_t)(word << 13) >> 18;
        if ((is_19 || is_14) && code + (intptr_t)words * 4 == target)
            jumps[count++] = (void *)code;
    }
    return count;
}

#else

int32_t runloop_simulation_find_jumps(const void *trap, void **jumps, int32_t most) {
    (void)trap, (void)jumps, (void)most;
    return 0;
}

#endif
#endif // __linux__
