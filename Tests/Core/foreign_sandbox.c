// foreign_sandbox.c — what needs a timerfd says why there is none: foreign sources and hosted runs.
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "guest.h"

static int refusal;

/// In the place of the C library's.
int timerfd_create(int clock, int flags) {
    errno = refusal;
    return refusal ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}

static const int refusals[] = {ENOSYS, EPERM, EMFILE, ENFILE, ENOMEM};

TEST("a foreign source that has no timer says why, and one that is made later works") {
    struct guest guest = {0};
    const runloop_foreign_source_config config = {
        .context = {.info = &guest, .release = guest_release}, .prepare = guest_prepare, .dispatch = guest_dispatch};
    runloop_foreign_source *source = NULL;
    runloop_current();
    int before = count_descriptors();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        refusal = refusals[i];
        EXPECT_EQ(runloop_foreign_source_create(&config, &source), -refusals[i]);
    }
    EXPECT_EQ(count_descriptors(), before);
    refusal = 0;
    EXPECT_EQ(runloop_foreign_source_create(&config, &source), 0);
    runloop_foreign_source_release(source);
}

TEST("a hosted run that has no timer is not begun and says why; a run of our own needs none") {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        refusal = refusals[i];
        runloop_source *source = add_source(MODE, NULL, NULL);
        EXPECT_EQ(runloop_hosted_begin(MODE), -refusals[i]);
        EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
        runloop_source_invalidate(source);
    }
}
