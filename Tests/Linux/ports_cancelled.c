// ports_cancelled.c — a request that is cancelled at any moment of its answer: at each instruction that locks the bus (steps.h).
#include "ports.h"
#include "steps.h"

static struct actor answerer, canceller;

struct cancellation {
    runloop_port *asker;
    uint64_t id;
    int result;
};

static void cancel_request(void *info) {
    struct cancellation *cancellation = info;
    cancellation->result = runloop_port_cancel(cancellation->asker, cancellation->id);
}

/// Until `actor` is done, or has stopped. It may wait for a lock inside which `stopped` has stopped, so that goes on step by step meanwhile.
static bool stops_beside(struct actor *actor, struct actor *stopped) {
    enum { NAPS = 20 };
    for (int naps = 1; atomic_load(&actor->state) == ACTOR_ACTS; naps++) {
        let_others_run();
        if (naps % NAPS == 0 && actor_stops(stopped))
            actor_go_on(stopped, stopped->count + 1);
    }
    return atomic_load(&actor->state) == ACTOR_IS_STOPPED;
}

static void cancel_where_it_stopped(struct cancellation *cancellation) {
    actor_start(&canceller, cancel_request, cancellation, INSTRUCTIONS, WITHOUT_STOP);
    stops_beside(&canceller, &answerer);
}

//===-- answered by a reply ------------------------------------------------------------------------------------------===//

static void reply(void *request) {
    step_from_here();
    int result = runloop_request_reply(request, "r", 1);
    no_more_steps();
    EXPECT(result == 0 || result == -EPIPE);
}

/// False if the reply was over before that step.
static bool cancel_at_step_of_reply(runloop_port *port, long step) {
    struct answer answer = {0};
    struct cancellation cancellation = {.asker = port, .id = ask(port, port, "q", &answer)};
    poll_mode(MODE);
    actor_start(&answerer, reply, kept, LOCKED_INSTRUCTIONS, step);
    bool stops = actor_stops(&answerer);
    if (stops)
        cancel_where_it_stopped(&cancellation);
    else
        cancel_request(&cancellation);
    actor_finish(&answerer);
    // Nobody has run the asker's loop, so nothing was called out.
    EXPECT_EQ(cancellation.result, 0);
    run_until_idle();
    EXPECT_DISCARDED(answer);
    EXPECT_EQ(runloop_port_cancel(port, cancellation.id), -ENOENT);
    runloop_request_release(kept);
    return stops;
}

TEST("a request can be cancelled until its reply is called out, at whatever moment of the reply") {
    actor_create(&answerer);
    actor_create(&canceller);
    keeps_requests = true;
    runloop_port *port = add_port();
    long step = 1;
    while (CAN_STEP && cancel_at_step_of_reply(port, step))
        step++;
    EXPECT(!CAN_STEP || step > 6);
    cancel_at_step_of_reply(port, WITHOUT_STOP);
    actor_end(&answerer);
    actor_end(&canceller);
    end_port(port);
}

//===-- answered while it is sent ------------------------------------------------------------------------------------===//

static struct actor asking;

struct sending {
    runloop_port *port, *asker;
    struct answer answer;
    uint64_t id;
};

static void send_request(void *info) {
    struct sending *sending = info;
    step_from_here();
    sending->id = ask(sending->port, sending->asker, "q", &sending->answer);
    no_more_steps();
}

static void make_port_of_answerer(void *port) {
    *(runloop_port **)port = add_port();
}

static void receive_and_reply(void *unused) {
    (void)unused;
    poll_mode(MODE);
    if (kept)
        reply(kept);
}

/// False if the request was sent before the step of the asking thread, or replied to before that of the answering one.
static bool cancel_at_steps(runloop_port *port, runloop_port *asker, long step_of_asking, long step_of_reply) {
    struct sending sending = {.port = port, .asker = asker};
    kept = NULL;
    actor_start(&asking, send_request, &sending, LOCKED_INSTRUCTIONS, step_of_asking);
    bool stops = actor_stops(&asking);
    actor_start(&answerer, receive_and_reply, NULL, LOCKED_INSTRUCTIONS, step_of_reply);
    stops &= stops_beside(&answerer, &asking);
    while (stops_beside(&asking, &answerer))
        actor_go_on(&asking, WITHOUT_STOP);
    struct cancellation cancellation = {.asker = asker, .id = sending.id};
    cancel_where_it_stopped(&cancellation);
    actor_finish(&answerer);
    // Nobody has run the asker's loop.
    EXPECT_EQ(cancellation.result, 0);
    EXPECT_DISCARDED(sending.answer);
    if (kept)
        runloop_request_release(kept);
    actor_start(&answerer, receive_and_reply, kept = NULL, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&answerer);
    return stops;
}

TEST("a request can be cancelled until its reply is called out, also if that comes before the request has returned") {
    enum { STEPS_OF_REPLY = 6 };
    actor_create(&asking);
    actor_create(&answerer);
    actor_create(&canceller);
    keeps_requests = true;
    runloop_port *asker = add_port(), *port = NULL;
    actor_start(&answerer, make_port_of_answerer, &port, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&answerer);
    int met = 0;
    for (long step_of_asking = 1; CAN_STEP && step_of_asking < 40; step_of_asking++) {
        for (long step_of_reply = 1; step_of_reply < STEPS_OF_REPLY; step_of_reply++)
            met += cancel_at_steps(port, asker, step_of_asking, step_of_reply);
    }
    EXPECT(!CAN_STEP || met > STEPS_OF_REPLY);
    cancel_at_steps(port, asker, WITHOUT_STOP, WITHOUT_STOP);
    actor_end(&asking);
    end_port(port);
    actor_end(&answerer);
    actor_end(&canceller);
    end_port(asker);
}

//===-- answered by its deadline -------------------------------------------------------------------------------------===//

static runloop_port *slow;
static int cancelled_steps, late_steps;

static void make_asker(void *asker) {
    *(runloop_port **)asker = add_port_to(runloop_current(), &(runloop_port_config){0});
    keep_mode(MODE);
}

static void run_to_answer(void *info) {
    struct answer *answer = info;
    step_from_here();
    while (answer->replies + answer->discards == 0)
        run_for(MODE, 10 * MS);
    no_more_steps();
}

static bool cancel_at_step_of_time_out(runloop_port *asker, long step) {
    struct answer answer = {0};
    struct cancellation cancellation = {.asker = asker, .id = ask_until(slow, asker, "q", 1, &answer)};
    actor_start(&answerer, run_to_answer, &answer, LOCKED_INSTRUCTIONS, step);
    bool stops = actor_stops(&answerer);
    if (stops)
        cancel_where_it_stopped(&cancellation);
    actor_finish(&answerer);
    bool is_cancelled = stops && cancellation.result == 0;
    if (is_cancelled)
        EXPECT_DISCARDED(answer);
    else
        EXPECT_ANSWER(answer, -ETIMEDOUT);
    EXPECT(!stops || is_cancelled || cancellation.result == -ENOENT);
    // There is one moment until which it can be cancelled.
    EXPECT(!is_cancelled || late_steps == 0);
    cancelled_steps += is_cancelled;
    late_steps += !is_cancelled;
    run_until_idle();
    return stops;
}

TEST("a request can be cancelled until its end is called out, at whatever moment of its time-out") {
    actor_create(&answerer);
    actor_create(&canceller);
    slow = add_port_to(runloop_current(), &(runloop_port_config){0});
    runloop_port *asker = NULL;
    actor_start(&answerer, make_asker, &asker, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&answerer);
    long step = 1;
    while (CAN_STEP && cancel_at_step_of_time_out(asker, step))
        step++;
    EXPECT(!CAN_STEP || (cancelled_steps > 3 && late_steps > 3));
    cancel_at_step_of_time_out(asker, WITHOUT_STOP);
    end_port(asker);
    actor_end(&answerer);
    actor_end(&canceller);
    end_port(slow);
}
