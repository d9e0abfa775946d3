// runloop.hpp — librunloop in C++17: handles that own, closures, modes as a type, std::chrono. `make install` installs it beside
// runloop.h.
//
// What holds for every call, and is not repeated below:
//
//  - Threads, forks, fairness, and what is allowed inside callbacks: as in runloop.h. A handle is as safe as a pointer: any thread
//    may call through it, but one at a time may assign to it or destroy it.
//  - Errors: creating, adding, posting and running throw std::system_error, with the errno value and the name of the C function;
//    nothing has happened then. All other functions are noexcept, but for those that return a text.
//  - Exceptions in callbacks: closures are called by noexcept functions. An exception that leaves one ends the program with
//    std::terminate, at the place where it was thrown: the stack is still there. pthread_exit and cancellation in a closure, too.
//  - Closures: moved into one allocation and called on the loop's thread. A closure takes the arguments that are named, the last
//    ones of them, or none. An item's is destroyed when the item is destroyed, a timer's and an observer's also when it becomes
//    invalid, and never while it runs. One that was posted is destroyed after its only call, or without a call if the loop's
//    thread ends.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_HPP
#define RUNLOOP_HPP
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "runloop_types.hpp"

namespace run_loop {

//===-- How closures and handles are kept ----------------------------------------------------------------------------===//
namespace detail {

template <class Closure> void call_last(Closure &closure) noexcept { closure(); }
/// Calls the closure with as many of the last arguments as it takes.
template <class Closure, class First, class... More> void call_last(Closure &closure, First first, More... more) noexcept {
    if constexpr (std::is_invocable_v<Closure &, First, More...>)
        closure(std::move(first), std::move(more)...);
    else
        call_last(closure, std::move(more)...);
}

template <class Closure> void destroy(void *info) noexcept { delete static_cast<Closure *>(info); }

/// A new item, whose context is the closure's new owner.
template <class Config, class Item, class Closure>
Item *create(int (*function)(const Config *, Item **), const char *name, Config config, std::unique_ptr<Closure> closure) {
    config.context.info = closure.get();
    config.context.release = destroy<Closure>;
    Item *item;
    check(function(&config, &item), name);
    closure.release();
    return item;
}

template <class Closure> std::unique_ptr<std::decay_t<Closure>> kept(Closure &&closure) {
    return std::make_unique<std::decay_t<Closure>>(std::forward<Closure>(closure));
}

/// How each kind of item is released.
inline void release(runloop_timer *item) noexcept { runloop_timer_release(item); }
inline void release(runloop_source *item) noexcept { runloop_source_release(item); }
inline void release(runloop_observer *item) noexcept { runloop_observer_release(item); }

} // namespace detail

/// An item of one's own: what it borrows from `Ref`, and its end. Destroying it invalidates the item, also in its own callback; a
/// callback that runs on another thread is not waited for. Moved from, it has no item, and every call does nothing.
template <class Ref> class owner : public Ref {
  public:
    owner(owner &&other) noexcept : Ref(std::exchange(other.item_, nullptr)) {}
    owner &operator=(owner &&other) noexcept {
        owner former(std::move(*this));
        this->item_ = std::exchange(other.item_, nullptr);
        return *this;
    }
    ~owner() {
        this->invalidate();
        detail::release(this->item_);
    }
    /// Leaves the item to its loops: it lives until it is invalidated or removed from its modes, or their threads end.
    void detach() &&noexcept { detail::release(std::exchange(this->item_, nullptr)); }

  protected:
    /// Takes over a reference.
    explicit owner(typename Ref::native item) noexcept : Ref(item) {}
};

//===-- Timers -------------------------------------------------------------------------------------------------------===//
/// A timer that somebody else owns, as its closure gets it.
class timer_ref {
  public:
    using native = runloop_timer *;
    explicit timer_ref(native item) noexcept : item_(item) {}
    native get() const noexcept { return item_; }
    /// For people: a literal, since it is not copied.
    void set_name(const char *name, unsigned line = 0) const noexcept { runloop_timer_set_name(item_, name, line); }

    /// The next due instant; in its closure, the one that fires. `never` if invalid.
    clock::time_point fire_date() const noexcept { return clock::time_point(clock::duration(runloop_timer_get_fire_date(item_))); }
    /// Moves it, and its schedule. false if it is invalid. O(log n) per mode.
    bool set_fire_date(clock::time_point date) const noexcept {
        return runloop_timer_set_fire_date(item_, date.time_since_epoch().count()) == 0;
    }
    clock::duration interval() const noexcept { return clock::duration(runloop_timer_get_interval(item_)); }
    clock::duration tolerance() const noexcept { return clock::duration(runloop_timer_get_tolerance(item_)); }
    bool set_tolerance(length tolerance) const noexcept { return runloop_timer_set_tolerance(item_, tolerance.ns) == 0; }
    /// In its closure: how many instants of its schedule passed without a call and were not reported before.
    uint64_t missed() const noexcept { return runloop_timer_get_missed(item_); }
    /// Ends it for ever. Idempotent, allowed in its own closure.
    void invalidate() const noexcept { runloop_timer_invalidate(item_); }
    bool is_valid() const noexcept { return runloop_timer_is_valid(item_); }

  protected:
    native item_;
};

struct timer_options {
    length interval = clock::duration(0);  ///< 0: fires once, and is invalid then. `forever`: fires when set_fire_date says so.
    length tolerance = clock::duration(0); ///< How much later it may fire to share a wake-up. At most half the interval.
    int order = 0;                         ///< Among timers due at the same instant.
};

class timer : public owner<timer_ref> {
  public:
    /// In no loop yet. The closure takes a timer_ref or nothing.
    template <class Closure> timer(clock::time_point first, timer_options options, Closure &&closure) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_timer_config config{};
        config.order = options.order;
        config.fire_ns = first.time_since_epoch().count();
        config.interval_ns = options.interval.ns;
        config.tolerance_ns = options.tolerance.ns;
        config.fire = [](runloop_timer *item, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), timer_ref(item));
        };
        item_ = detail::create(runloop_timer_create, "runloop_timer_create", config, detail::kept(std::forward<Closure>(closure)));
    }
    /// One that fires once; one that fires again and again, first after an interval.
    template <class Closure> static timer after(length delay, Closure &&closure) {
        return timer(from_now(delay), {}, std::forward<Closure>(closure));
    }
    template <class Closure> static timer every(length interval, Closure &&closure) {
        return timer(from_now(interval), {interval}, std::forward<Closure>(closure));
    }
};

//===-- Sources ------------------------------------------------------------------------------------------------------===//
/// A source that somebody else owns.
class source_ref {
  public:
    using native = runloop_source *;
    explicit source_ref(native item) noexcept : item_(item) {}
    native get() const noexcept { return item_; }
    /// For people: a literal, since it is not copied.
    void set_name(const char *name, unsigned line = 0) const noexcept { runloop_source_set_name(item_, name, line); }
    int order() const noexcept { return runloop_source_get_order(item_); }
    /// Removes it from every mode of every loop, for ever. Idempotent, allowed in its own closure.
    void invalidate() const noexcept { runloop_source_invalidate(item_); }
    bool is_valid() const noexcept { return runloop_source_is_valid(item_); }

  protected:
    native item_;
};

class signalled_source_ref : public source_ref {
  public:
    using source_ref::source_ref;
    /// Marks it: it performs in the next dispatch, once, however often it was marked. Does not wake a loop. Async-signal-safe.
    void signal() const noexcept { runloop_source_signal(item_); }
    bool is_signalled() const noexcept { return runloop_source_is_signalled(item_); }
};

class signalled_source : public owner<signalled_source_ref> {
  public:
    /// In no loop yet. The closure takes a signalled_source_ref or nothing. Lower orders perform first.
    template <class Closure> explicit signalled_source(Closure &&closure, int order = 0) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_source_config config{};
        config.order = order;
        config.perform = [](runloop_source *item, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), signalled_source_ref(item));
        };
        item_ =
            detail::create(runloop_source_create, "runloop_source_create", config, detail::kept(std::forward<Closure>(closure)));
    }
};

class descriptor_source_ref : public source_ref {
  public:
    using source_ref::source_ref;
    int descriptor() const noexcept { return runloop_source_get_descriptor(item_); }
    readiness events() const noexcept { return readiness(runloop_source_get_events(item_)); }
    /// What it asks for from the next wait on; `none` pauses it. Throws as an addition does, and EINVAL if it is invalid.
    void set_events(readiness events) const {
        check(runloop_source_set_events(item_, runloop_readiness(events)), "runloop_source_set_events");
    }
};

class descriptor_source : public owner<descriptor_source_ref> {
  public:
    /// In no loop yet. The closure takes a descriptor_source_ref and the readiness, only the latter, or nothing, as long as a
    /// condition holds. The descriptor remains the caller's: destroy the source before closing it. `counter`: as in
    /// runloop_descriptor_config.
    template <class Closure>
    descriptor_source(int descriptor, readiness events, Closure &&closure, int order = 0, bool counter = false) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_descriptor_config config{};
        config.order = order;
        config.descriptor = descriptor;
        config.events = runloop_readiness(events);
        config.counter = counter;
        config.ready = [](runloop_source *item, runloop_readiness ready, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), descriptor_source_ref(item), readiness(ready));
        };
        item_ = detail::create(runloop_descriptor_source_create, "runloop_descriptor_source_create", config,
                               detail::kept(std::forward<Closure>(closure)));
    }
};

//===-- Observers ----------------------------------------------------------------------------------------------------===//
/// An observer that somebody else owns.
class observer_ref {
  public:
    using native = runloop_observer *;
    explicit observer_ref(native item) noexcept : item_(item) {}
    native get() const noexcept { return item_; }
    /// For people: a literal, since it is not copied.
    void set_name(const char *name, unsigned line = 0) const noexcept { runloop_observer_set_name(item_, name, line); }
    int order() const noexcept { return runloop_observer_get_order(item_); }
    activity activities() const noexcept { return activity(runloop_observer_get_activities(item_)); }
    void invalidate() const noexcept { runloop_observer_invalidate(item_); }
    bool is_valid() const noexcept { return runloop_observer_is_valid(item_); }

  protected:
    native item_;
};

class observer : public owner<observer_ref> {
  public:
    /// In no loop yet. The closure takes an observer_ref and the activity, only the latter, or nothing. `repeats` false: once in
    /// all.
    template <class Closure> observer(activity activities, Closure &&closure, int order = 0, bool repeats = true) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_observer_config config{};
        config.order = order;
        config.activities = runloop_activity(activities);
        config.repeats = repeats;
        config.observe = [](runloop_observer *item, runloop_activity now, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), observer_ref(item), activity(now));
        };
        item_ = detail::create(runloop_observer_create, "runloop_observer_create", config,
                               detail::kept(std::forward<Closure>(closure)));
    }
};

//===-- The loop -----------------------------------------------------------------------------------------------------===//
/// A reference to a loop, counted: copies may go to other threads, and outlive the loop's. Then additions and posts throw
/// ESHUTDOWN, and other calls do nothing.
class loop {
  public:
    /// The calling thread's, created at the first call; the initial thread's. Throw ENOMEM if it can't be made.
    static loop current() { return loop(runloop_current(), "runloop_current"); }
    static loop main() { return loop(runloop_main(), "runloop_main"); }
    loop(const loop &other) noexcept : loop_(runloop_retain(other.loop_)) {}
    loop(loop &&other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
    loop &operator=(loop other) noexcept {
        std::swap(loop_, other.loop_);
        return *this;
    }
    ~loop() { runloop_release(loop_); }
    runloop *get() const noexcept { return loop_; }
    friend bool operator==(const loop &a, const loop &b) noexcept { return a.loop_ == b.loop_; }
    friend bool operator!=(const loop &a, const loop &b) noexcept { return a.loop_ != b.loop_; }

    bool is_current() const noexcept { return runloop_is_current(loop_); }
    bool is_waiting() const noexcept { return runloop_is_waiting(loop_); }
    /// Inside a BeforeWaiting observer: whether the loop would sleep now.
    bool is_idle() const noexcept { return runloop_is_idle(loop_); }
    bool is_empty(mode mode) const noexcept { return runloop_mode_is_empty(loop_, mode.name()); }
    clock::time_point next_fire_date(mode mode) const noexcept {
        return clock::time_point(clock::duration(runloop_next_fire_date(loop_, mode.name())));
    }
    void add_common_mode(mode mode) const { check(runloop_add_common_mode(loop_, mode.name()), "runloop_add_common_mode"); }
    /// An account for people. Throws if memory ran out.
    std::string description() const {
        const std::unique_ptr<char, void (*)(void *)> text(runloop_copy_description(loop_), std::free);
        check(text || !loop_ ? 0 : -ENOMEM, "runloop_copy_description");
        return text ? text.get() : "";
    }

    /// Adds an item, which may be there already. The loop keeps it, but its handle ends it.
    void add(timer_ref item, mode mode = default_mode) const {
        check(runloop_add_timer(loop_, item.get(), mode.name()), "runloop_add_timer");
    }
    void add(source_ref item, mode mode = default_mode) const {
        check(runloop_add_source(loop_, item.get(), mode.name()), "runloop_add_source");
    }
    void add(observer_ref item, mode mode = default_mode) const {
        check(runloop_add_observer(loop_, item.get(), mode.name()), "runloop_add_observer");
    }
    void remove(timer_ref item, mode mode = default_mode) const noexcept { runloop_remove_timer(loop_, item.get(), mode.name()); }
    void remove(source_ref item, mode mode = default_mode) const noexcept { runloop_remove_source(loop_, item.get(), mode.name()); }
    void remove(observer_ref item, mode mode = default_mode) const noexcept {
        runloop_remove_observer(loop_, item.get(), mode.name());
    }
    bool contains(timer_ref item, mode mode = default_mode) const noexcept {
        return runloop_contains_timer(loop_, item.get(), mode.name());
    }
    bool contains(source_ref item, mode mode = default_mode) const noexcept {
        return runloop_contains_source(loop_, item.get(), mode.name());
    }
    bool contains(observer_ref item, mode mode = default_mode) const noexcept {
        return runloop_contains_observer(loop_, item.get(), mode.name());
    }

    /// Enqueues a closure, which the loop's thread calls once when it runs in `mode`. `post` wakes the loop, `perform` does not.
    /// Any thread.
    template <class Closure> void post(Closure &&closure, mode mode = common_modes) const {
        enqueue(runloop_post, "runloop_post", mode, detail::kept(std::forward<Closure>(closure)));
    }
    template <class Closure> void perform(Closure &&closure, mode mode = common_modes) const {
        enqueue(runloop_perform, "runloop_perform", mode, detail::kept(std::forward<Closure>(closure)));
    }

    /// Ends the innermost active run, if there is one; the same, remembered for the next run if there is none; ends a run in
    /// `mode`, now or later. Any thread; the first two also in signal handlers.
    void stop() const noexcept { runloop_stop(loop_); }
    void stop_latched() const noexcept { runloop_stop_latched(loop_); }
    void stop(mode mode) const { check(runloop_stop_mode(loop_, mode.name()), "runloop_stop_mode"); }
    /// Ends one sleep. Any thread, signal handlers included.
    void wake_up() const noexcept { runloop_wake_up(loop_); }

  private:
    using enqueuer = int (*)(runloop *, const char *, runloop_function, void *, runloop_function);
    loop(runloop *borrowed, const char *function) : loop_(runloop_retain(borrowed)) { check(loop_ ? 0 : -ENOMEM, function); }
    template <class Closure> void enqueue(enqueuer function, const char *name, mode mode, std::unique_ptr<Closure> closure) const {
        const runloop_function call = [](void *info) noexcept { (*std::unique_ptr<Closure>(static_cast<Closure *>(info)))(); };
        check(function(loop_, mode.name(), call, closure.get(), detail::destroy<Closure>), name);
        closure.release();
    }
    runloop *loop_;
};

/// Runs the calling thread's loop, nested if it runs already: until it is stopped, has nothing left, or the limit is over. A limit
/// of 0 is one iteration, which never sleeps.
inline result run(mode mode = default_mode, length limit = forever, bool return_after_source_handled = false) {
    return result(check(runloop_run_in_mode(mode.name(), limit.ns, return_after_source_handled), "runloop_run_in_mode"));
}

/// Ends the calling thread's loop at the end of the scope, not when the thread's own objects are gone already. What is destroyed
/// and discarded then may still use thread_local variables. Outside of runs; on the initial thread it does nothing.
class loop_scope {
  public:
    loop_scope() noexcept = default;
    loop_scope(const loop_scope &) = delete;
    loop_scope &operator=(const loop_scope &) = delete;
    ~loop_scope() { runloop_end_current(); }
};

} // namespace run_loop
#endif // RUNLOOP_HPP
