// executors.c — what the executors need of a process.

#include "runloop_executors.h"
#include "test.h"

TEST("two words are read where there is memory, and nothing where there is none") {
    need_no_emulator("The emulator does not know process_vm_readv.");
    const uintptr_t words[] = {17, 23};
    uintptr_t first = 1, second = 2;
    EXPECT(runloop_read_words((uintptr_t)words, &first, &second));
    EXPECT_EQ(first, 17);
    EXPECT_EQ(second, 23);
    EXPECT(!runloop_read_words(8, &first, &second));
    EXPECT_EQ(first, 17);
    EXPECT_EQ(second, 23);
}

static void never(void) {
    abort();
}

TEST("without the runtime of Swift there is no hook, and without Foundation nothing to watch with") {
    EXPECT(!runloop_take_over_async_main(never));
    EXPECT(!runloop_take_over_async_main(NULL));
    EXPECT(runloop_foundation_watch(0, never) == NULL);
}
