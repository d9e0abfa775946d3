// coroutines.h — what the tests of coroutines share.
#ifndef COROUTINES_H
#define COROUTINES_H
#include <algorithm>
#include <runloop_task.hpp>
#include <stdexcept>

#include "pair.h"

/// A task that has begun, and that its owner destroys, maybe while it waits.
struct begun {
    explicit begun(run_loop::task<> &body) {
        auto awaiter = std::move(body).operator co_await();
        awaiter.await_suspend(std::coroutine_handle<>(std::noop_coroutine())).resume();
    }
};

/// What a task throws, in words.
template <class T> std::string thrown(run_loop::task<T> body) {
    try {
        (void)run_loop::wait(std::move(body));
        return "";
    } catch (const std::system_error &error) {
        return std::to_string(error.code().value()) + " " + error.what();
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}

/// Counts how many of it there are, in frames.
struct counted {
    static inline int alive;
    counted() { ++alive; }
    counted(const counted &) { ++alive; }
    ~counted() { --alive; }
};

#endif // COROUTINES_H
