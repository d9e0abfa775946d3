// machine.pml — what the models run on: memory as x86 orders it (TSO), and futexes.
//
// A store waits in a queue of its thread before the memory has it. Other threads do not see it until then; the thread
// itself finds it there. Stores arrive in order, at any time. An operation that the processor locks (a
// read-modify-write, a sequentially consistent store, a fence) waits until the queue of its thread is empty. Every
// other load or store of the core is a plain one on x86, whatever order it asks for. Processors with weaker orders are
// not modelled.
//
// A model defines THREADS and WORDS, how many words its memory has, and includes this file. Each of its threads has a
// number, `me`.

/// Stores that may wait: enough for one to be overtaken by loads, and to follow one that is overtaken.
#define QUEUE 2

typedef store_queue {
    byte count;
    byte words[QUEUE];
    byte values[QUEUE]
}
byte memory[WORDS];
store_queue waiting[THREADS];

#define FOUND_AT(i, word_) (waiting[me].count > (i) && waiting[me].words[i] == (word_))
#define LOAD(word_)                                                                                                    \
    (FOUND_AT(1, word_) -> waiting[me].values[1] : (FOUND_AT(0, word_) -> waiting[me].values[0] : memory[word_]))

/// The guard of a locked operation. What follows in the same `atomic` works on the memory itself.
#define LOCKED (waiting[me].count == 0)

inline store(word_, value_) {
    atomic {
        waiting[me].count < QUEUE;
        waiting[me].words[waiting[me].count] = word_;
        waiting[me].values[waiting[me].count] = value_;
        waiting[me].count++
    }
}

inline store_locked(word_, value_) {
    atomic { LOCKED -> memory[word_] = value_ }
}

inline exchange(word_, value_, former) {
    atomic { LOCKED -> former = memory[word_]; memory[word_] = value_ }
}

/// The oldest store reaches the memory.
inline arrive(thread) {
    memory[waiting[thread].words[0]] = waiting[thread].values[0];
    waiting[thread].words[0] = waiting[thread].words[1];
    waiting[thread].values[0] = waiting[thread].values[1];
    waiting[thread].words[1] = 0;
    waiting[thread].values[1] = 0;
    waiting[thread].count--
}

/// The part of a thread's processor that passes its stores on.
proctype Processor(byte me) {
end:
    do
    :: atomic { waiting[me].count > 0 -> arrive(me) }
    od
}

//===-- futexes ------------------------------------------------------------------------------------------------------===//

/// On which word the thread sleeps, plus 1.
byte asleep_on[THREADS];

/// The kernel compares and goes to sleep in one step. A signal may end any sleep, here before it begins.
inline futex_wait(word_, value_) {
    if
    :: atomic { LOCKED && memory[word_] == value_ -> asleep_on[me] = word_ + 1 };
       asleep_on[me] == 0
    :: true
    fi
}

inline futex_wake_all(word_) {
    atomic {
        LOCKED;
        for (sleeper : 0 .. THREADS - 1) {
            if
            :: asleep_on[sleeper] == word_ + 1 -> asleep_on[sleeper] = 0
            :: else
            fi
        }
        sleeper = 0
    }
}
byte sleeper;

/// Any one of those that sleep.
inline futex_wake_one(word_) {
    atomic {
        LOCKED;
        if
        :: asleep_on[0] == word_ + 1 -> asleep_on[0] = 0
        :: asleep_on[1] == word_ + 1 -> asleep_on[1] = 0
#if THREADS > 2
        :: asleep_on[2] == word_ + 1 -> asleep_on[2] = 0
#endif
#if THREADS > 3
        :: asleep_on[3] == word_ + 1 -> asleep_on[3] = 0
#endif
        :: else
        fi
    }
}
