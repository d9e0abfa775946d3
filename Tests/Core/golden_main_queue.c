// golden_main_queue.c — the golden traces that need the main dispatch queue.
#include "golden.h"

#ifdef GOLDEN_ARE_SCENARIOS

#include <dispatch/dispatch.h>

static void queue_block_on_main(void) {
    dispatch_async(dispatch_get_main_queue(), ^{
      say("block");
    });
}

#else

// The core is linked with libdispatch, found by nobody but the loop itself: its functions are declared here, as a C program
// without its headers would.
struct dispatch_queue_s;
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_async_f(struct dispatch_queue_s *queue, void *context, void (*work)(void *));

static void queue_block_on_main(void) {
    dispatch_async_f(&_dispatch_main_q, new_actor("block", NULL), actor_acts);
}

#endif

GOLDEN_ON_MAIN(main_block, "G15 R106 R107", "a block on the main queue is a handled source",
               "E T S W A block X -> HandledSource") {
    watch(DEFAULT);
    queue_block_on_main();
    run(DEFAULT, 20, RETURN);
}

GOLDEN_ON_MAIN(main_block_from_timer, "G16 R108", "a block that a timer queues is served without W and A",
               "E T S W A t T S block T S W A X -> TimedOut") {
    watch(DEFAULT);
    timer("t", PAST, 0, DEFAULT, DO(queue_block_on_main));
    run(DEFAULT, .5, GO_ON);
}
