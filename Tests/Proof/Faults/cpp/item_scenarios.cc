// item_scenarios.cc — timers, sources, observers, performed closures, threads, nested and hosted runs.
#include <atomic>
#include <poll.h>
#include <thread>

#include "scenarios.h"

using namespace run_loop;

static outcome a_timer() {
    return attempt([] {
        int count = 0;
        auto timer = timer::every(1ms, [&] { ++count; });
        loop::current().add(timer);
        run_until([&] { return count >= 2; });
        return count >= 2;
    });
}

static outcome timers_that_are_moved() {
    return attempt([] {
        int fired = 0, moved = 0;
        timer first(from_now(1ms), {1ms, 500us}, [&](timer_ref) { ++fired; });
        auto second = timer::every(1h, [&] { ++moved; });
        const auto loop = loop::current();
        loop.add(first), loop.add(second);
        second.set_fire_date(run_loop::clock::now());
        run_until([&] { return fired >= 2 && moved == 1; });
        return fired >= 2 && moved == 1;
    });
}

/// Its closure has something to give back, when the timer ends or could not be made.
static outcome a_detached_timer() {
    static int count;
    count = 0;
    const outcome result = attempt([] {
        auto timer = timer::after(1ms, [step = std::make_unique<int>(1)] { count += *step; });
        loop::current().add(timer);
        std::move(timer).detach();
        run_until([] { return count == 1; });
        return count == 1;
    });
    // The one that a failed run has left.
    pause_faults();
    run(default_mode, 10ms);
    return result;
}

static outcome a_descriptor() {
    ends ends;
    return attempt([&] {
        int count = 0;
        descriptor_source source(ends.near.get(), readiness::readable, [&] { ++count; });
        loop::current().add(source);
        source.set_events(readiness::readable | readiness::writable);
        ends.put("x");
        run_until([&] { return count > 0; });
        source.set_events(readiness::none);
        count = 0;
        run(default_mode, 0s);
        const bool was_paused = count == 0;
        source.set_events(readiness::readable);
        run_until([&] { return count > 0; });
        return was_paused && count > 0;
    });
}

static outcome a_signalled_source_and_an_observer() {
    return attempt([] {
        int count = 0, seen = 0;
        signalled_source source([&] { ++count; });
        observer observer(activity::before_waiting, [&] { ++seen; });
        loop::current().add(source);
        loop::current().add(observer);
        source.signal();
        run_until([&] { return count == 1; });
        run(default_mode, 1ms);
        return count == 1 && seen > 0;
    });
}

static outcome observers() {
    return attempt([] {
        int seen = 0, once = 0, fired = 0;
        observer first(activity::all, [&](activity) { ++seen; });
        observer second(
            activity::entry, [&](observer_ref, activity) { ++once; }, 1, false);
        auto timer = timer::after(1ms, [&] { ++fired; });
        const auto loop = loop::current();
        loop.add(first), loop.add(second), loop.add(timer);
        run_until([&] { return fired == 1; });
        return fired == 1 && seen >= 6 && once == 1 && !second.is_valid();
    });
}

static outcome modes() {
    static int count;
    count = 0;
    const outcome result = attempt([] {
        const mode named("faults of a name"), common("faults in common");
        const auto loop = loop::current();
        loop.perform([step = std::make_unique<int>(1)] { count += *step; }, named);
        loop.add_common_mode(common);
        loop.post([] { ++count; });
        run_until([] { return count >= 1; }, named);
        run_until([] { return count >= 2; }, common);
        loop.stop(named);
        return count >= 2 && run(named, 0s) == result::finished;
    });
    // What was enqueued before a failure.
    pause_faults();
    run(mode("faults of a name"), 0s);
    run(default_mode, 0s);
    return result;
}

/// As many as were not refused are called.
static outcome closures_of_another_thread() {
    static std::atomic<int> count;
    count = 0;
    return attempt([] {
        signalled_source keeper([] {});
        const auto loop = loop::current();
        loop.add(keeper);
        int refused = 0, error = 0;
        std::thread thread([loop, &refused, &error] {
            for (int i = 0; i < 100; i++) {
                const int result =
                    error_of([&] { i % 2 ? loop.post([] { ++count; }) : loop.perform([] { ++count; }); });
                refused += result != 0;
                error = result ? result : error;
            }
        });
        thread.join();
        const int expected = 100 - refused;
        run_until([&] { return count >= expected; });
        if (count != expected)
            return false;
        throw_if(error);
        return true;
    });
}

static outcome a_loop_of_another_thread() {
    return attempt([] {
        int fired = 0, error = 0;
        std::thread thread([&] {
            const loop_scope scope;
            error = error_of([&] {
                auto timer = timer::after(1ms, [&] { ++fired; });
                loop::current().add(timer);
                run(default_mode, 3s);
            });
        });
        thread.join();
        throw_if(error);
        return fired == 1;
    });
}

static outcome a_description() {
    return attempt([] {
        signalled_source keeper([] {});
        keeper.set_name("keeper of the description");
        const auto loop = loop::current();
        loop.add(keeper);
        return loop.description().find("keeper of the description") != std::string::npos;
    });
}

static outcome closures_and_a_nested_run() {
    static int count, error;
    count = error = 0;
    const outcome result = attempt([] {
        const mode nested("nested");
        const auto loop = loop::current();
        loop.post([] { ++count; });
        loop.perform([loop, nested] {
            ++count;
            error = error_of([&] {
                loop.perform([] { ++count; }, nested);
                run_until([] { return count == 3; }, nested);
            });
        });
        run_until([] { return count == 3 || error; });
        throw_if(error);
        return count == 3;
    });
    // What was enqueued before a failure.
    pause_faults();
    run(default_mode, 0s);
    return result;
}

static outcome a_hosted_run() {
    return attempt([] {
        int count = 0;
        auto timer = timer::after(1ms, [&] { ++count; });
        loop::current().add(timer);
        hosted_run hosted;
        for (const auto end = from_now(3s); count == 0 && clock::now() < end;) {
            pollfd ready = {hosted_run::descriptor(), POLLIN, 0};
            poll(&ready, 1, 20);
            hosted.iterate();
        }
        return count == 1;
    });
}

const scenario item_scenarios[] = {{"a timer", a_timer, false},
                                   {"timers that are moved", timers_that_are_moved, false},
                                   {"a detached timer", a_detached_timer, false},
                                   {"a descriptor", a_descriptor, false},
                                   {"a signalled source, an observer", a_signalled_source_and_an_observer, false},
                                   {"observers", observers, false},
                                   {"modes", modes, false},
                                   {"closures of another thread", closures_of_another_thread, false},
                                   {"a loop of another thread", a_loop_of_another_thread, false},
                                   {"closures and a nested run", closures_and_a_nested_run, false},
                                   {"a hosted run", a_hosted_run, false},
                                   {"a description", a_description, false},
                                   {}};
