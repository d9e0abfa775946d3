// host_turns.h — a hosted run that always has work, beside a host that does, too. A test file includes this after host_scenes.h, and after it
// has defined:
//
//   static void host_begin_turns(int turns[HOST_TURNS]);   the host counts, for each kind of event that it has for drawing, how often one was
//                                                          its turn: those that repeat every millisecond, and those that are always ready
//   static void host_end_turns(void);                      no more
static int turns[HOST_TURNS], reposts;

static void repost(void *unused) {
    // Other tasks have their turn in between.
    EXPECT_EQ(runloop_post(loop, MODE, repost, unused, NULL), 0);
    reposts++;
}

static bool each_had_turns(int least) {
    for (int i = 0; i < HOST_TURNS; i++)
        if (turns[i] < least)
            return false;
    return reposts >= least;
}

TEST("R104 hosted: a loop that always has work and events of the host's that always come take turns") {
    begin_quietly();
    for (int i = 0; i < 50; i++)
        repost(NULL);
    host_begin_turns(turns);
    HOST_UNTIL(each_had_turns(20));
    // Nor does it end with the work of the beginning.
    reposts = 0;
    memset(turns, 0, sizeof turns);
    HOST_UNTIL(each_had_turns(20));
    host_end_turns();
    host_detach();
}
