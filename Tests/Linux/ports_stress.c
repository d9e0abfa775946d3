// ports_stress.c — many threads and few ports: order, space, and exactly one answer whoever is first.
#include <stdatomic.h>

#include "ports.h"

enum { SENDERS = 4, MESSAGES = UNDER_SANITIZER ? 3000 : 20000, REQUESTS = UNDER_SANITIZER ? 1500 : 6000 };

struct numbered {
    int sender, number;
};

static int next_number[SENDERS], received;

static void check_order(runloop_port *port, const runloop_message *message, void *info) {
    (void)port, (void)info;
    const struct numbered *numbered = message->bytes;
    EXPECT_EQ(message->length, sizeof *numbered);
    EXPECT_EQ(numbered->number, next_number[numbered->sender]);
    next_number[numbered->sender]++;
    received++;
}

struct sender {
    pthread_t thread;
    runloop_port *port;
    int index;
};

static void *send_numbers(void *argument) {
    struct sender *sender = argument;
    for (int i = 0; i < MESSAGES; i++) {
        struct numbered numbered = {sender->index, i};
        EXPECT_EQ(runloop_port_send(sender->port, &numbered, sizeof numbered, RUNLOOP_NEVER), 0);
    }
    return NULL;
}

TEST("several senders that wait for space lose nothing, and each keeps its order") {
    runloop_port_config config = {.max_messages = 8, .receive = check_order};
    runloop_port *port = add_port_to(runloop_current(), &config);
    struct sender senders[SENDERS];
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.port = port, .index = i};
        REQUIRE(pthread_create(&senders[i].thread, NULL, send_numbers, &senders[i]) == 0);
    }
    RUN_UNTIL(MODE, received == SENDERS * MESSAGES);
    for (int i = 0; i < SENDERS; i++)
        REQUIRE(pthread_join(senders[i].thread, NULL) == 0);
    end_port(port);
}

//===-- requests that end in every way -------------------------------------------------------------------------------===//

static _Atomic int replies, discards, refused;
static _Atomic long held_number;
static runloop_request *_Atomic held[8];

/// Replies now, later on another thread, or not at all.
static void receive_somehow(runloop_port *port, const runloop_message *message, void *info) {
    (void)port, (void)info;
    long number = held_number++;
    if (!message->request || number % 3 == 0)
        return;
    if (number % 3 == 1) {
        runloop_request_reply(message->request, message->bytes, message->length);
        return;
    }
    runloop_request *former = atomic_exchange(&held[number % 8], runloop_request_retain(message->request));
    runloop_request_release(former);
}

static _Atomic bool is_over;

static void *reply_elsewhere(void *argument) {
    for (int i = 0; !is_over; i++) {
        runloop_request *request = atomic_exchange(&held[i % 8], NULL);
        if (request)
            runloop_request_reply(request, "elsewhere", 9);
        runloop_request_release(request);
        usleep(20);
    }
    for (int i = 0; i < 8; i++)
        runloop_request_release(atomic_exchange(&held[i], NULL));
    return argument;
}

static void count_reply(const runloop_reply *reply, void *info) {
    EXPECT(reply->result <= 0);
    EXPECT_EQ(++*(_Atomic int *)info, 1);
    replies++;
}

static void count_discard(void *info) {
    EXPECT_EQ(++*(_Atomic int *)info, 1);
    discards++;
}

/// The port that is asked, which others end and replace.
static runloop_port *target;
static pthread_mutex_t target_lock = PTHREAD_MUTEX_INITIALIZER;

static runloop_port *retain_target(void) {
    pthread_mutex_lock(&target_lock);
    runloop_port *port = runloop_source_retain(target);
    pthread_mutex_unlock(&target_lock);
    return port;
}

static void replace_target(runloop_port *port) {
    pthread_mutex_lock(&target_lock);
    runloop_port *former = target;
    target = port;
    pthread_mutex_unlock(&target_lock);
    if (former)
        end_port(former);
}

static void *ask_somehow(void *argument) {
    _Atomic int *outcomes = argument;
    runloop_port *asker = NULL;
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < REQUESTS; i++) {
        if (i % 500 == 0) {
            if (asker)
                end_port(asker);
            asker = add_port_to(runloop_current(), &(runloop_port_config){0});
        }
        int kind = rand_r(&seed) % 4;
        const runloop_request_config config = {.asker = asker,
                                               .deadline_ns = kind == 1 ? runloop_now_ns() + 50000 : RUNLOOP_NEVER,
                                               .replied = count_reply,
                                               .discard = count_discard,
                                               .info = &outcomes[i]};
        runloop_port *port = retain_target();
        uint64_t id;
        int result = runloop_port_request(port, &i, sizeof i, &config, &id);
        if (result < 0) {
            EXPECT(result == -EAGAIN || result == -EPIPE);
            refused++;
        } else if (kind == 2) {
            runloop_port_cancel(asker, id);
        } else if (kind == 3) {
            result = runloop_port_request_and_wait(port, &i, sizeof i, runloop_get_now_ns(NULL) + 50000, NULL, NULL);
            EXPECT(result <= 0);
        }
        runloop_source_release(port);
        poll_mode(MODE);
    }
    // Some are answered by the end of this thread's loop.
    runloop_source_release(asker);
    return NULL;
}

TEST("each request has one outcome, while ports, threads and deadlines end at any moment") {
    struct worker worker = {0};
    start_worker(&worker);
    runloop_port_config config = {.max_messages = 16, .receive = receive_somehow};
    replace_target(add_port_to(worker.loop, &config));
    pthread_t threads[3], replier;
    static _Atomic int outcomes[3][REQUESTS];
    REQUIRE(pthread_create(&replier, NULL, reply_elsewhere, NULL) == 0);
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, ask_somehow, outcomes[i]) == 0);
    for (int i = 0; i < 50; i++) {
        usleep(2000);
        replace_target(add_port_to(worker.loop, &config));
    }
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    replace_target(NULL);
    is_over = true;
    REQUIRE(pthread_join(replier, NULL) == 0);
    stop_worker(&worker);
    EXPECT_EQ(replies + discards + refused, 3 * REQUESTS);
    EXPECT(replies > 0 && discards > 0);
}
