// litmus.c — the explorer itself: small programs of which it is known what C11 allows, so that its memory model is tested from both sides.

#include <stdatomic.h>

#include "explorer.h"

#define RELAXED memory_order_relaxed

static _Atomic int x, y;
static int data, first, second;

//===-- store buffering ----------------------------------------------------------------------------------------------===//

static void store_x_load_y(void) {
    meet();
    atomic_store_explicit(&x, 1, memory_order_release);
    first = atomic_load_explicit(&y, memory_order_acquire);
}
static void store_y_load_x(void) {
    meet();
    atomic_store_explicit(&y, 1, memory_order_release);
    second = atomic_load_explicit(&x, memory_order_acquire);
}
static void one_sees_the_other(void) {
    EXPECT(first || second);
}
SCENE(buffered_stores, "release and acquire don't keep both loads from overtaking the stores",
      .threads = {store_x_load_y, store_y_load_x}, .at_rest = one_sees_the_other, .is_wrong = true, .at_least = 4);

static void store_x_load_y_in_sequence(void) {
    meet();
    atomic_store(&x, 1);
    first = atomic_load(&y);
}
static void store_y_load_x_in_sequence(void) {
    meet();
    atomic_store(&y, 1);
    second = atomic_load(&x);
}
SCENE(sequential_stores, "sequential consistency does",
      .threads = {store_x_load_y_in_sequence, store_y_load_x_in_sequence}, .at_rest = one_sees_the_other);

static void store_x_fence_load_y(void) {
    meet();
    atomic_store_explicit(&x, 1, RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    first = atomic_load_explicit(&y, RELAXED);
}
static void store_y_fence_load_x(void) {
    meet();
    atomic_store_explicit(&y, 1, RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    second = atomic_load_explicit(&x, RELAXED);
}
SCENE(fenced_stores, "so do fences", .threads = {store_x_fence_load_y, store_y_fence_load_x},
      .at_rest = one_sees_the_other);
SCENE(half_fenced_stores, "one fence is not enough", .threads = {store_x_fence_load_y, store_y_load_x},
      .at_rest = one_sees_the_other, .is_wrong = true, .at_least = 4);

//===-- passing a message --------------------------------------------------------------------------------------------===//

static void write_and_release(void) {
    meet();
    data = 1;
    atomic_store_explicit(&x, 1, memory_order_release);
}
static void write_and_store(void) {
    meet();
    data = 1;
    atomic_store_explicit(&x, 1, RELAXED);
}
static void acquire_and_read(void) {
    meet();
    if (atomic_load_explicit(&x, memory_order_acquire))
        EXPECT(data == 1);
}
SCENE(message, "what was written before a release is seen after the acquire",
      .threads = {write_and_release, acquire_and_read});
SCENE(unreleased_message, "a relaxed store passes nothing on", .threads = {write_and_store, acquire_and_read},
      .is_wrong = true, .at_least = 4);

static void change_relaxed(void) {
    meet();
    atomic_fetch_add_explicit(&x, 2, RELAXED);
}
static void acquire_changed_and_read(void) {
    meet();
    if (atomic_load_explicit(&x, memory_order_acquire) == 3)
        EXPECT(data == 1);
}
SCENE(message_through_change, "a read-modify-write passes on what the store before it released",
      .threads = {write_and_release, acquire_changed_and_read, change_relaxed}, .at_rest = NULL);

//===-- two readers, two writers -------------------------------------------------------------------------------------===//

static int seen[4];
static void store_x(void) {
    meet();
    atomic_store(&x, 1);
}
static void store_y(void) {
    meet();
    atomic_store(&y, 1);
}
static void load_x_then_y(void) {
    meet();
    seen[0] = atomic_load(&x);
    seen[1] = atomic_load(&y);
}
static void load_y_then_x(void) {
    meet();
    seen[2] = atomic_load(&y);
    seen[3] = atomic_load(&x);
}
static void agree_on_order(void) {
    EXPECT(!(seen[0] && !seen[1] && seen[2] && !seen[3]));
}
SCENE(readers_agree, "all see sequentially consistent stores in one order",
      .threads = {store_x, store_y, load_x_then_y, load_y_then_x}, .at_rest = agree_on_order);

static void acquire_x_then_y(void) {
    meet();
    seen[0] = atomic_load_explicit(&x, memory_order_acquire);
    seen[1] = atomic_load_explicit(&y, memory_order_acquire);
}
static void acquire_y_then_x(void) {
    meet();
    seen[2] = atomic_load_explicit(&y, memory_order_acquire);
    seen[3] = atomic_load_explicit(&x, memory_order_acquire);
}
SCENE(readers_differ, "others need not", .threads = {store_x, store_y, acquire_x_then_y, acquire_y_then_x},
      .at_rest = agree_on_order, .is_wrong = true, .at_least = 4);

//===-- one variable -------------------------------------------------------------------------------------------------===//

static void store_x_twice(void) {
    meet();
    atomic_store_explicit(&x, 1, RELAXED);
    atomic_store_explicit(&x, 2, RELAXED);
}
static void load_x_twice(void) {
    meet();
    int earlier = atomic_load_explicit(&x, RELAXED);
    EXPECT(atomic_load_explicit(&x, RELAXED) >= earlier);
}
SCENE(coherence, "nobody sees the values of one variable in two orders", .threads = {store_x_twice, load_x_twice});
