// wake.c — the wake word: one atomic word with the stops and wake-ups that the innermost run has received, and whether its thread sleeps.
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
// A wake-up counts until the wait is over (R48). One that comes later sets WOKEN all the same, and the next iteration clears it before it looks
// at anything or calls anybody; which wake-ups are late, the loop's thread alone knows (run.h). So whoever finds WOKEN set has come before a
// read-modify-write with which the loop clears it, at the end of the wait or the start of an iteration, or exchanges the whole word for that
// of another run; and the loop looks at everything after that. A post has pushed its task with a read-modify-write. Therefore it may
// only load the word: if it finds WOKEN, or no run, the loop has yet to look at the inbox.
//
// What is written before any other wake-up is seen after it, even if that turns out to be superfluous. A thread that only loaded the word
// and found that nothing was left to do could do so while its earlier writes still wait in its processor, and an iteration would begin
// without them. So it changes the word with a read-modify-write that may leave it as it is, and the loop sees those writes after its own
// next one: the one that clears WOKEN, the exchange that gives the word back to an outer run, or that with which the next run begins.
//
// In a hosted run the host's own loop may run, and sleep, inside any call-out, and an edge-triggered host has seen the edge that made it
// call. So the thread sets UNNOTIFIED with a read-modify-write whenever the host calls, and whoever comes first after that, asleep or
// not, clears it and writes the eventfd; the others need not. The thread clears it, then writes, where it notifies the host itself. Until the
// loop's set is asked it stays readable, so it is asked before a sleep. If it was asked and call-outs follow, it is written again, but for one
// case (wait.c): nothing is known that the kernel does not report again, and UNNOTIFIED is set, so that whoever comes next writes, the thread
// itself included if it leaves something to be looked for. So during call-outs a host that looks at the level finds it; and one that looks at
// edges finds one for what came since it called.
//
// The eventfd is watched for edges and never read: each write is an edge. A write that comes too late for the sleep that it was meant
// for makes a later wait return early once, which serves nothing and sleeps again. If a waker is preempted between its change of the
// word and its write, everybody's wake-up waits until it runs again. A program that closes the eventfd takes such a write with it; so the
// thread writes to the one that it makes then.

#ifdef __linux__
#include "kernel/kernel.h"

void runloop__wake_set(struct wake *wake, struct poller *poller, uint32_t required, uint32_t bit) {
    uint32_t word = wake_word(wake), changed;
    do
        changed = word & required ? (word | bit) & ~(uint32_t)WAKE_UNNOTIFIED : word;
    while (!atomic_compare_exchange_weak(&wake->word, &word, changed));
    bool ends_sleep = (word & WAKE_ASLEEP) && !(word & (WAKE_WOKEN | WAKE_STOPPED | WAKE_KICKED));
    if ((word & required) && (ends_sleep || (word & WAKE_UNNOTIFIED)))
        runloop__poller_wake(poller);
}
#endif // __linux__
