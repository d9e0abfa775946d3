// item_scenarios.cc — timers, sources, observers, performed closures, nested and hosted runs.
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

static outcome a_descriptor() {
    ends ends;
    return attempt([&] {
        int count = 0;
        descriptor_source source(ends.near.get(), readiness::readable, [&] { ++count; });
        loop::current().add(source);
        source.set_events(readiness::readable | readiness::writable);
        ends.put("x");
        run_until([&] { return count > 0; });
        return count > 0;
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

static outcome closures_and_a_nested_run() {
    static int count, error;
    count = error = 0;
    const outcome result = attempt([] {
        const mode nested("nested");
        const auto loop = loop::current();
        loop.post([] { ++count; });
        loop.perform([loop, nested] {
            ++count;
            try {
                loop.perform([] { ++count; }, nested);
            } catch (const std::bad_alloc &) {
                error = ENOMEM;
            } catch (const std::system_error &thrown) {
                error = thrown.code().value();
            }
            run_until([] { return count == 3 || error; }, nested);
        });
        run_until([] { return count == 3 || error; });
        if (error)
            throw std::system_error(error, std::generic_category());
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
                                   {"a descriptor", a_descriptor, false},
                                   {"a signalled source, an observer", a_signalled_source_and_an_observer, false},
                                   {"closures and a nested run", closures_and_a_nested_run, false},
                                   {"a hosted run", a_hosted_run, false},
                                   {}};
