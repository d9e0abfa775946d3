// connects_lookups.c — how many names are looked up at a time, when some never end and nobody waits for them any more.
#include "fake_names.h"

enum { MOST = 16, MOST_WITH_ABANDONED = 128 };

static struct outcome outcomes[MOST_WITH_ABANDONED + MOST];
static runloop_connect *connects[MOST_WITH_ABANDONED + MOST];
static int added;

static void add_names(int count) {
    for (int i = 0; i < count; i++, added++)
        connects[added] =
            add_connect((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = 1}, &outcomes[added]);
}

static void leave_behind(int first, int end) {
    for (int i = first; i < end; i++)
        end_source(connects[i]);
}

static void let_names_answer(void) {
    names_answer = true;
    WAIT_UNTIL(lookups_now == 0 && results == 0);
}

/// Of more names than may be looked up at a time.
static int most_at_a_time(void) {
    int first = added;
    names_answer = false;
    lookups_most = 0;
    add_names(2 * MOST);
    WAIT_UNTIL(lookups_now >= MOST);
    usleep(20000);
    int most = lookups_most;
    leave_behind(first, added);
    let_names_answer();
    added = first;
    return most;
}

TEST("names that nobody waits for any more keep no others from being looked up, while they are and afterwards") {
    names_answer = false;
    add_names(MOST);
    WAIT_UNTIL(lookups_now == MOST);
    leave_behind(0, MOST);
    add_names(1);
    WAIT_UNTIL(lookups_now == MOST + 1);
    leave_behind(MOST, MOST + 1);
    let_names_answer();
    // They don't count any more when their threads have noted their ends, and so there are no more at a time than at first.
    WAIT_UNTIL(most_at_a_time() == MOST);
}

TEST("a name that waits is looked up as soon as one that hangs is left behind") {
    names_answer = false;
    add_names(MOST + 1);
    WAIT_UNTIL(lookups_now == MOST);
    leave_behind(0, 1);
    WAIT_UNTIL(lookups_begun == MOST + 1);
    leave_behind(1, added);
    let_names_answer();
}

TEST("there is an end of those that are left behind, after which names wait") {
    names_answer = false;
    while (added < MOST_WITH_ABANDONED) {
        add_names(MOST);
        WAIT_UNTIL(lookups_now == added);
        leave_behind(added - MOST, added);
    }
    add_names(1);
    usleep(20000);
    EXPECT_EQ(lookups_now, MOST_WITH_ABANDONED);
    names_answer = true;
    RUN_UNTIL(MODE, outcomes[added - 1].calls == 1);
    runloop_source_release(connects[added - 1]);
    let_names_answer();
}

TEST("a name that is not found for want of descriptors is not said to be unknown") {
    struct outcome outcome = {0};
    names_answer = false;
    runloop_connect *connect = add_connect((runloop_connect_config){.host = "!-2", .port = 1}, &outcome);
    WAIT_UNTIL(lookups_now == 1);
    use_up_descriptors(0);
    names_answer = true;
    RUN_UNTIL(MODE, outcome.calls == 1);
    give_back_descriptors();
    EXPECT_EQ(outcome.error, -EMFILE);
    EXPECT(!outcome.name_error);
    runloop_source_release(connect);
}
