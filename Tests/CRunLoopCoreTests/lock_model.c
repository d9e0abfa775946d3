// lock_model.c — the bias of lock.h as a model: every order in which an own thread and another one can take their steps, with stores of the
// own thread that stay in its processor's buffer for as long as they like. It checks that the two are never inside together, that
// nobody waits for ever, and that the model sees it when the barrier is left out.
//
// Each case of the two switches below is one step of lock.h and lock.c, in their order.

#include "../../Sources/CRunLoopCore/src/lock.h"
#include "test.h"

enum { BUFFER = 12, OWN_TAKES = 4, FOREIGN_TAKES = 2, TAKES_BEFORE_BIAS = 2, STATES = 1 << 22 };
enum variable { WORD, BIAS, INSIDE, VARIABLES };

enum own_step {
    OWN_SAYS_INSIDE,
    OWN_LOOKS_AT_BIAS,
    OWN_BACKS_OUT,
    OWN_LOOKS_AT_BIAS_BACKING_OUT,
    OWN_TAKES_WORD,
    OWN_SETS_INSIDE,
    OWN_SETS_BIAS,
    OWN_GIVES_WORD_FOR_BIAS,
    OWN_IS_INSIDE,
    OWN_LEAVES,
    OWN_LOOKS_AT_BIAS_LEAVING,
    OWN_GIVES_WORD,
    OWN_IS_DONE,
};

enum foreign_step {
    FOREIGN_TAKES_WORD,
    FOREIGN_LOOKS_AT_BIAS,
    FOREIGN_SETS_REVOKING,
    FOREIGN_HAS_BARRIERS_RUN,
    FOREIGN_LOOKS_AT_INSIDE,
    FOREIGN_GOES_TO_SLEEP,
    FOREIGN_SLEEPS,
    FOREIGN_SETS_SHARED,
    FOREIGN_IS_INSIDE,
    FOREIGN_GIVES_WORD,
    FOREIGN_IS_DONE,
};

/// All of it is bytes, so that states can be compared as memory.
struct state {
    uint8_t memory[VARIABLES];
    uint8_t buffered, variables[BUFFER], values[BUFFER];
    uint8_t own, own_rounds, own_takes;
    uint8_t foreign, foreign_rounds;
};

static struct state *reached;
static uint32_t reached_count, *table;
static bool with_barrier, both_inside, stuck;

static void reach(const struct state *state) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < sizeof *state; i++)
        hash = (hash ^ ((const uint8_t *)state)[i]) * 16777619u;
    for (uint32_t slot = hash % (2 * STATES);; slot = (slot + 1) % (2 * STATES)) {
        if (!table[slot]) {
            REQUIRE(reached_count < STATES);
            reached[reached_count++] = *state;
            table[slot] = reached_count;
            return;
        }
        if (memcmp(&reached[table[slot] - 1], state, sizeof *state) == 0)
            return;
    }
}

//===-- the own thread's processor -----------------------------------------------------------------------------------===//

static void store(struct state *state, enum variable variable, uint8_t value) {
    REQUIRE(state->buffered < BUFFER);
    state->variables[state->buffered] = (uint8_t)variable;
    state->values[state->buffered++] = value;
}

/// A processor sees its own stores, the last first.
static uint8_t load(const struct state *state, enum variable variable) {
    for (int i = state->buffered; i-- > 0;) {
        if (state->variables[i] == variable)
            return state->values[i];
    }
    return state->memory[variable];
}

static void drain_one(struct state *state) {
    state->memory[state->variables[0]] = state->values[0];
    state->buffered--;
    memmove(state->variables, state->variables + 1, BUFFER - 1);
    memmove(state->values, state->values + 1, BUFFER - 1);
    state->variables[BUFFER - 1] = state->values[BUFFER - 1] = 0;
}

/// What a locked instruction, a system call and the kernel's barrier do.
static void drain(struct state *state) {
    while (state->buffered)
        drain_one(state);
}

//===-- steps --------------------------------------------------------------------------------------------------------===//

static void wake_revoker(struct state *state) {
    drain(state);
    if (state->foreign == FOREIGN_SLEEPS)
        state->foreign = FOREIGN_LOOKS_AT_INSIDE;
}

/// False: it can't go on now.
static bool own_thread_goes_on(struct state *state) {
    switch ((enum own_step)state->own++) {
    case OWN_SAYS_INSIDE: store(state, INSIDE, true); break;
    case OWN_LOOKS_AT_BIAS:
        if (load(state, BIAS) == LOCK_BIASED)
            state->own = OWN_IS_INSIDE;
        break;
    case OWN_BACKS_OUT: store(state, INSIDE, false); break;
    case OWN_LOOKS_AT_BIAS_BACKING_OUT:
        if (load(state, BIAS) == LOCK_REVOKING)
            wake_revoker(state);
        break;
    case OWN_TAKES_WORD:
        drain(state);
        if (state->memory[WORD] != LOCK_FREE)
            return false;
        state->memory[WORD] = LOCK_HELD;
        if (++state->own_takes < TAKES_BEFORE_BIAS)
            state->own = OWN_IS_INSIDE;
        else
            state->own_takes = 0;
        break;
    case OWN_SETS_INSIDE: store(state, INSIDE, true); break;
    case OWN_SETS_BIAS: store(state, BIAS, LOCK_BIASED); break;
    case OWN_GIVES_WORD_FOR_BIAS:
        drain(state);
        state->memory[WORD] = LOCK_FREE;
        break;
    case OWN_IS_INSIDE:
        if (!load(state, INSIDE))
            state->own = OWN_GIVES_WORD;
        break;
    case OWN_LEAVES: store(state, INSIDE, false); break;
    case OWN_LOOKS_AT_BIAS_LEAVING:
        if (load(state, BIAS) == LOCK_REVOKING)
            wake_revoker(state);
        state->own = ++state->own_rounds < OWN_TAKES ? OWN_SAYS_INSIDE : OWN_IS_DONE;
        break;
    case OWN_GIVES_WORD:
        drain(state);
        state->memory[WORD] = LOCK_FREE;
        state->own = ++state->own_rounds < OWN_TAKES ? OWN_SAYS_INSIDE : OWN_IS_DONE;
        break;
    case OWN_IS_DONE: return false;
    }
    return true;
}

/// Its own stores go to memory at once: each is followed by a system call or a locked instruction before anything depends on it.
static bool other_thread_goes_on(struct state *state) {
    switch ((enum foreign_step)state->foreign++) {
    case FOREIGN_TAKES_WORD:
        if (state->memory[WORD] != LOCK_FREE)
            return false;
        state->memory[WORD] = LOCK_HELD;
        state->own_takes = 0;
        break;
    case FOREIGN_LOOKS_AT_BIAS:
        if (state->memory[BIAS] != LOCK_BIASED)
            state->foreign = FOREIGN_IS_INSIDE;
        break;
    case FOREIGN_SETS_REVOKING: state->memory[BIAS] = LOCK_REVOKING; break;
    case FOREIGN_HAS_BARRIERS_RUN:
        if (with_barrier)
            drain(state);
        break;
    case FOREIGN_LOOKS_AT_INSIDE:
        if (!state->memory[INSIDE])
            state->foreign = FOREIGN_SETS_SHARED;
        break;
    case FOREIGN_GOES_TO_SLEEP:
        // The kernel looks again, and puts it to sleep in the same step.
        if (!state->memory[INSIDE])
            state->foreign = FOREIGN_LOOKS_AT_INSIDE;
        break;
    case FOREIGN_SLEEPS: return false;
    case FOREIGN_SETS_SHARED: state->memory[BIAS] = LOCK_SHARED; break;
    case FOREIGN_IS_INSIDE: break;
    case FOREIGN_GIVES_WORD:
        state->memory[WORD] = LOCK_FREE;
        state->foreign = ++state->foreign_rounds < FOREIGN_TAKES ? FOREIGN_TAKES_WORD : FOREIGN_IS_DONE;
        break;
    case FOREIGN_IS_DONE: return false;
    }
    return true;
}

/// Every state that can be reached, each looked at once.
static void explore(bool with_barriers) {
    with_barrier = with_barriers;
    both_inside = stuck = false;
    reached = calloc(STATES, sizeof *reached);
    table = calloc(2 * STATES, sizeof *table);
    REQUIRE(reached && table);
    reached_count = 0;
    struct state first = {.memory[BIAS] = LOCK_BIASED};
    reach(&first);
    for (uint32_t i = 0; i < reached_count; i++) {
        struct state now = reached[i];
        both_inside |= now.own == OWN_IS_INSIDE && now.foreign == FOREIGN_IS_INSIDE;
        bool any = false;
        struct state next = now;
        if (own_thread_goes_on(&next))
            any = true, reach(&next);
        next = now;
        if (other_thread_goes_on(&next))
            any = true, reach(&next);
        next = now;
        if (next.buffered)
            any = true, drain_one(&next), reach(&next);
        stuck |= !any && (now.own != OWN_IS_DONE || now.foreign != FOREIGN_IS_DONE);
    }
    free(reached);
    free(table);
}

TEST("in every order of steps only one is inside, and nobody waits for ever") {
    explore(true);
    EXPECT(!both_inside);
    EXPECT(!stuck);
    EXPECT(reached_count > 1000);
}

TEST("without the barrier the model finds both inside") {
    explore(false);
    EXPECT(both_inside);
}
