// ended.h — what the tests of runloop_scope.hpp share.
#ifndef ENDED_H
#define ENDED_H
#include <runloop_scope.hpp>

#include "coroutines.h"

inline run_loop::task<int> later(run_loop::length delay, int value) {
    const counted here;
    co_await run_loop::sleep_for(delay);
    co_return value;
}

inline run_loop::task<int> failing(run_loop::length delay) {
    const counted here;
    co_await run_loop::sleep_for(delay);
    throw std::runtime_error("failed");
}

inline run_loop::task<> sleeping(run_loop::length delay) {
    const counted here;
    co_await run_loop::sleep_for(delay);
}

/// Nothing of a test is left.
inline void expect_nothing_left() {
    EXPECT_EQ(counted::alive, 0);
    EXPECT(run_loop::loop::current().is_empty(run_loop::common_modes));
    EXPECT(run_loop::detail::branch::current == nullptr);
}

#endif // ENDED_H
