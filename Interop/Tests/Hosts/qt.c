// qt.c — every scene of host_scenes.h under Qt; the host is in qt_host.cc.
#include "items.h"
#include "other_language.h"

#define HOST_NESTS 1
#include "host_scenes.h"

#include "host_turns.h"

TEST("a host may be destroyed by its callback for the end") {
    int outcome = 0;
    keep_mode(MODE);
    host_attach_until_end(MODE, &outcome);
    runloop_stop(runloop_current());
    HOST_UNTIL(outcome != 0);
    EXPECT_EQ(outcome, 1);
    result = 0;
}
