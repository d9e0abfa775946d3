// wake.c — the wake word: one atomic word that says what the innermost run was told, and whether its thread sleeps.
//
// Entering a run exchanges the word, and leaving it puts the outer run's back, so that what a run accepted stays with it. Any thread,
// signal handlers included, sets STOPPED, WOKEN and KICKED; only the loop's thread sets and clears the rest.
//
// Why no wake-up is lost: a waker changes the word with a read-modify-write and writes the eventfd if it finds ASLEEP; the thread sets
// ASLEEP with a read-modify-write and looks at what it finds. Operations on one word are totally ordered, so either the thread
// finds the waker's bit and does not sleep, or the waker finds ASLEEP and writes. For state outside the word (a latched stop, a mode
// that was emptied, an item that was added) the same holds: the other thread stores it with sequential consistency before it looks at
// the word, and the loop's thread looks at it after its announcement.
//
// Whether a wake-up counts (R48) is a word of its own, `accepts_wakeups`, which only the loop's thread writes: true from the start of an
// iteration, false when its wait is over. It becomes true by an exchange, before anything that the iteration looks at or calls: a waker
// that finds it false made its change before the iteration looks. It becomes false by a plain store: a waker that found it true
// just before may set WOKEN after the wait has cleared it, and makes the next wait take no time, as if it had come a moment later. A
// waker that knows that the wait is over, by whatever means, finds it false.
//
// What is written before a wake-up is seen after it, even if that wake-up turns out to be superfluous. A thread that only loaded the words
// and found that nothing was left to do could do so while its earlier writes still wait in its processor; the iteration would begin without
// them. So it changes both words by a read-modify-write that may leave them as they are, and so does the loop: whichever comes second sees
// what came before the first. A post has done the same with the inbox, and loads.
//
// In a hosted run (WAKE_HOSTED) the host's own loop may run, and sleep, inside any call-out. So everything that comes while the run is not
// asleep writes the eventfd, whether or not it is the first: nobody knows which edges the host has seen.
//
// The eventfd is watched for edges and never read: each write is an edge. A write that comes too late for the sleep that it was meant
// for makes a later wait return early once, which serves nothing and sleeps again. If a waker is preempted between its change of the
// word and its write, everybody's wake-up waits until it runs again. A program that closes the eventfd takes such a write with it; so the
// thread writes to the one that it makes then.

#include "kernel/kernel.h"

void runloop__wake_set(struct wake *wake, struct poller *poller, uint32_t required, uint32_t bit) {
    uint32_t word = atomic_load(&wake->word);
    do {
        if ((word & required) != required)
            return;
    } while (!atomic_compare_exchange_weak(&wake->word, &word, word | bit));
    bool is_first = !(word & (WAKE_WOKEN | WAKE_STOPPED | WAKE_KICKED));
    if (word & WAKE_ASLEEP ? is_first : (word & WAKE_HOSTED) != 0)
        runloop__poller_wake(poller);
}
