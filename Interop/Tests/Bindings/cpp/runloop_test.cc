// runloop_test.cc — runloop.hpp: who owns what, what closures get, and what becomes of errors. That loops behave is tested with the core.
#include <fcntl.h>
#include <runloop.hpp>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "../../../../Tests/Core/test.h"

using namespace std::chrono_literals;
using namespace run_loop;

static const mode own_mode("own");

/// A pipe that closes itself.
struct pipe_ends {
    int ends[2];
    pipe_ends() { REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0); }
    ~pipe_ends() { close(ends[0]), close(ends[1]); }
    void put(char byte) const { REQUIRE(write(ends[1], &byte, 1) == 1); }
    char take() const {
        char byte = 0;
        return read(ends[0], &byte, 1) == 1 ? byte : 0;
    }
};

/// Counts how many copies of it there are: one per closure that has it.
struct counted {
    static std::atomic<int> alive;
    counted() { ++alive; }
    counted(const counted &) { ++alive; }
    ~counted() { --alive; }
};
std::atomic<int> counted::alive;

template <class Body> static int error_of(Body &&body) {
    try {
        body();
        return 0;
    } catch (const std::system_error &error) {
        EXPECT(std::string(error.what()).find("runloop_") == 0);
        return error.code().value();
    }
}

TEST("a timer fires once, at its time, and is invalid then") {
    const auto start = run_loop::clock::now();
    int fired = 0;
    auto timer = timer::after(20ms, [&](timer_ref it) {
        EXPECT(it.fire_date() >= start + 20ms);
        EXPECT(run_loop::clock::now() >= start + 20ms);
        ++fired;
    });
    loop::current().add(timer);
    EXPECT(loop::current().contains(timer) && timer.is_valid());
    EXPECT(run() == result::finished);
    EXPECT_EQ(fired, 1);
    EXPECT(!timer.is_valid() && timer.fire_date() == never && !timer.set_fire_date(run_loop::clock::now()));
}

TEST("a repeating timer has its tolerance, can be moved, and ends in its own closure") {
    int fired = 0;
    run_loop::timer timer(from_now(1h), {10ms, 3ms, 7}, [&, kept = counted()](timer_ref it) {
        if (++fired == 3)
            it.invalidate();
    });
    EXPECT(timer.interval() == 10ms && timer.tolerance() == 3ms);
    EXPECT(timer.set_tolerance(1h) && timer.tolerance() == 5ms);
    loop::current().add(timer);
    EXPECT(timer.set_fire_date(run_loop::clock::now()));
    EXPECT(run() == result::finished);
    EXPECT_EQ(fired, 3);
    EXPECT_EQ(counted::alive, 0); // with the timer's validity
}

TEST("an interval of forever makes a timer that is set by hand each time") {
    int fired = 0;
    run_loop::timer timer(run_loop::clock::now(), {forever},
                          [&](timer_ref it) { ++fired < 2 ? (void)it.set_fire_date(from_now(1ms)) : it.invalidate(); });
    loop::current().add(timer);
    EXPECT(run() == result::finished);
    EXPECT_EQ(fired, 2);
}

TEST("durations are exact, and what nanoseconds can't hold is forever") {
    EXPECT_EQ(length(1500us).ns, 1500000);
    EXPECT_EQ(length(std::chrono::duration<double>(0.25)).ns, 250000000);
    EXPECT_EQ(length(std::chrono::hours::max()).ns, RUNLOOP_FOREVER);
    EXPECT_EQ(length(std::chrono::hours::min()).ns, INT64_MIN);
    EXPECT_EQ(length(-1ns).ns, -1);
    EXPECT(from_now(std::chrono::hours::max()) == never);
}

TEST("a signalled source performs once, with itself") {
    int performed = 0;
    signalled_source source([&](signalled_source_ref it) {
        EXPECT(it.get() == source.get());
        ++performed;
    });
    loop::current().add(source, own_mode);
    source.signal();
    source.signal();
    EXPECT(source.is_signalled());
    EXPECT(run(own_mode, forever, true) == result::handled_source);
    EXPECT_EQ(performed, 1);
    EXPECT(run(own_mode, 0s) == result::timed_out);
    EXPECT_EQ(performed, 1);
}

TEST("a descriptor source gets its readiness, is paused and goes on") {
    const pipe_ends pipe;
    std::string taken;
    descriptor_source source(pipe.ends[0], readiness::readable, [&](descriptor_source_ref it, readiness ready) {
        EXPECT(has(ready, readiness::readable) && !has(ready, readiness::writable));
        EXPECT_EQ(it.descriptor(), pipe.ends[0]);
        taken += pipe.take();
    });
    loop::current().add(source);
    pipe.put('a');
    EXPECT(run(default_mode, forever, true) == result::handled_source);
    source.set_events(readiness::none);
    pipe.put('b');
    EXPECT(run(default_mode, 0s, true) == result::timed_out);
    source.set_events(readiness::readable | readiness::priority);
    EXPECT(source.events() == (readiness::readable | readiness::priority));
    EXPECT(run(default_mode, forever, true) == result::handled_source);
    EXPECT_TEXT(taken.c_str(), "ab");
}

TEST("closures take all arguments, the last ones, or none") {
    const pipe_ends pipe;
    pipe.put('x');
    int calls = 0;
    descriptor_source none(pipe.ends[0], readiness::readable, [&] { ++calls; });
    descriptor_source last(pipe.ends[0], readiness::readable, [&](readiness) { ++calls; });
    descriptor_source all(pipe.ends[0], readiness::readable, [&](auto source, auto ready) {
        EXPECT(source.get() == all.get() && has(ready, readiness::readable));
        ++calls;
    });
    for (source_ref source : {source_ref(none), source_ref(last), source_ref(all)})
        loop::current().add(source);
    run(default_mode, 0s);
    EXPECT_EQ(calls, 3);
}

TEST("posts from another thread wake the loop and come in order; closures may be move-only") {
    const auto loop = loop::current();
    signalled_source keep([] {});
    loop.add(keep);
    std::string order;
    std::thread other([&, loop] {
        while (!loop.is_waiting())
            std::this_thread::yield();
        EXPECT(!loop.is_current());
        loop.post([&, text = std::make_unique<char>('1')] { order += *text; });
        loop.perform([&] { order += '2'; });
        loop.post([&, loop] { order += '3', loop.stop(); });
    });
    EXPECT(run() == result::stopped);
    other.join();
    EXPECT_TEXT(order.c_str(), "123");
}

TEST("a post comes only in its mode") {
    const auto loop = loop::current();
    bool performed = false;
    loop.post([&] { performed = true; }, own_mode);
    signalled_source keep([] {});
    loop.add(keep);
    loop.add(keep, own_mode);
    EXPECT(run(default_mode, 0s) == result::timed_out && !performed);
    EXPECT(run(own_mode, 0s) == result::timed_out && performed);
}

TEST("an observer sees a run from entry to exit, and once in all if it does not repeat") {
    std::string seen;
    observer each(
        activity::all, [&](activity now) { seen += std::to_string(runloop_activity(now)) + " "; }, 1);
    observer once(
        activity::entry | activity::exit,
        [&](observer_ref it, activity) {
            seen += "once ";
            EXPECT(it.order() == 0);
        },
        0, false);
    signalled_source keep([] {});
    const auto loop = loop::current();
    loop.add(each, own_mode);
    loop.add(once, own_mode);
    loop.add(keep, own_mode);
    EXPECT(run(own_mode, 0s) == result::timed_out);
    EXPECT_TEXT(seen.c_str(), "once 1 2 4 128 ");
    EXPECT(!once.is_valid() && each.is_valid());
}

TEST("a run is nested in a callback, in another mode, and each stop ends the innermost one") {
    const auto loop = loop::current();
    signalled_source keep([] {});
    loop.add(keep, own_mode);
    std::string order;
    auto outer = timer::after(0s, [&] {
        loop.post([&] { order += "inner ", loop.stop(); }, own_mode);
        EXPECT(run(own_mode) == result::stopped);
        order += "outer ";
        loop.stop();
    });
    loop.add(keep);
    loop.add(outer);
    EXPECT(run() == result::stopped);
    EXPECT_TEXT(order.c_str(), "inner outer ");
}

TEST("a stop is remembered if asked to be, for the loop or for a mode") {
    const auto loop = loop::current();
    signalled_source keep([] {});
    loop.add(keep, own_mode);
    loop.stop();
    EXPECT(run(own_mode, 0s) == result::timed_out);
    loop.stop_latched();
    EXPECT(run(own_mode) == result::stopped);
    loop.stop(own_mode);
    EXPECT(run(own_mode) == result::stopped);
}

TEST("a common mode has the common items") {
    const auto loop = loop::current();
    loop.add_common_mode(own_mode);
    int performed = 0;
    signalled_source source([&] { ++performed; });
    loop.add(source, common_modes);
    EXPECT(loop.contains(source, own_mode) && loop.contains(source) && !loop.is_empty(own_mode));
    loop.remove(source, common_modes);
    EXPECT(!loop.contains(source, own_mode) && loop.is_empty(own_mode));
}

TEST("errors are exceptions, and after one nothing is kept") {
    const auto loop = loop::current();
    const pipe_ends pipe;
    EXPECT_EQ(error_of([&] { descriptor_source(pipe.ends[0], readiness::none, [kept = counted()] {}); }), EINVAL);
    EXPECT_EQ(error_of([&] {
                  descriptor_source(
                      pipe.ends[0], readiness::readable, [kept = counted()] {}, 0, true);
              }),
              EINVAL);
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    descriptor_source regular(file, readiness::readable, [] {});
    EXPECT_EQ(error_of([&] { loop.add(regular); }), EPERM);
    close(file);
    EXPECT_EQ(error_of([&] { loop.add(regular); }), EBADF);
    auto elsewhere = timer::after(1h, [] {});
    std::thread([&] {
        loop_scope scope;
        loop::current().add(elsewhere);
        EXPECT_EQ(error_of([&] { loop.add(elsewhere); }), EBUSY);
    }).join();
    EXPECT_EQ(error_of([] { mode(nullptr); }), EINVAL);
    EXPECT_EQ(error_of([&] { loop.post([] {}, mode::of_constant(nullptr)); }), EINVAL);
    EXPECT_EQ(counted::alive, 0);
}

TEST("handles move, and an empty one does nothing") {
    const auto loop = loop::current();
    auto a = timer::after(1h, [kept = counted()] {});
    loop.add(a);
    run_loop::timer b = std::move(a);
    EXPECT(!a.get() && !a.is_valid() && b.is_valid());
    a.invalidate();
    EXPECT_EQ(error_of([&] { loop.add(a); }), EINVAL);
    b = timer::after(1h, [] {});
    EXPECT_EQ(counted::alive, 0); // the timer that b had has ended
    EXPECT(loop.next_fire_date(default_mode) == never);
}

TEST("an item ends with its handle, also in its own closure") {
    const auto loop = loop::current();
    std::unique_ptr<signalled_source> source;
    source = std::make_unique<signalled_source>([&, kept = counted()] {
        source.reset();
        EXPECT_EQ(counted::alive, 1); // the closure is still running
    });
    loop.add(*source);
    source->signal();
    EXPECT(run(default_mode, 0s) == result::finished || loop.is_empty(default_mode));
    EXPECT_EQ(counted::alive, 0);
}

TEST("a detached item belongs to its loop") {
    bool fired = false;
    auto timer = timer::after(1ms, [&, kept = counted()] { fired = true; });
    loop::current().add(timer);
    std::move(timer).detach();
    EXPECT(run() == result::finished && fired);
    EXPECT_EQ(counted::alive, 0);
}

/// Says when a thread's own objects are gone.
struct thread_object {
    bool *gone;
    ~thread_object() {
        if (gone)
            *gone = true;
    }
};
static thread_local thread_object own_object;

TEST("the end of a scope ends the loop: posts are discarded while the thread's objects live, and later ones fail") {
    bool gone = false, discarded = false;
    loop ended = loop::current();
    std::thread([&] {
        own_object.gone = &gone;
        loop_scope scope;
        ended = loop::current();
        const std::shared_ptr<void> witness(nullptr, [&](void *) {
            discarded = true;
            EXPECT(!gone);
        });
        ended.post([witness] { EXPECT(false); });
        signalled_source source([kept = counted()] {});
        ended.add(source);
        std::move(source).detach();
    }).join();
    EXPECT(gone && discarded);
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(error_of([&] { ended.post([kept = counted()] {}); }), ESHUTDOWN);
    EXPECT_EQ(counted::alive, 0);
}

TEST("the main loop is the initial thread's, whichever thread asks, and its account has names") {
    const auto main = loop::main();
    EXPECT(main == loop::current());
    std::thread([&] {
        EXPECT(loop::main() == main && !main.is_current() && loop::current() != main);
        runloop_end_current();
    }).join();
    signalled_source source([] {});
    auto timer = timer::after(1h, [] {});
    observer observer(activity::exit, [] {});
    source.set_name("the source"), timer.set_name("the timer", 123), observer.set_name("the observer");
    main.add(source), main.add(timer), main.add(observer);
    for (const auto name : {"the source", "the timer:123", "the observer"})
        EXPECT(main.description().find(name) != std::string::npos);
}

static void end_by_exception(void (*prepare)(loop)) {
    const pipe_ends report;
    const pid_t child = fork();
    if (child == 0) {
        dup2(report.ends[1], 2);
        signal(SIGABRT, SIG_DFL);
        try {
            prepare(loop::current());
            run(default_mode, 1s);
        } catch (...) {
            _exit(1); // It came out of the run.
        }
        _exit(2);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    char text[1000] = "";
    EXPECT(read(report.ends[0], text, sizeof text - 1) > 0);
    EXPECT(strstr(text, "deliberate") != nullptr); // std::terminate has said what was thrown
}

TEST("an exception is carried out of a run by hand") {
    const auto loop = loop::current();
    signalled_source keep([] {});
    loop.add(keep);
    std::exception_ptr error;
    loop.post([&] {
        try {
            throw std::runtime_error("deliberate");
        } catch (...) {
            error = std::current_exception();
            loop.stop();
        }
    });
    EXPECT(run() == result::stopped);
    bool caught = false;
    try {
        std::rethrow_exception(error);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    EXPECT(caught);
}

TEST("an exception that leaves a closure ends the program with its message") {
    end_by_exception([](loop loop) { loop.post([] { throw std::runtime_error("deliberate"); }); });
    end_by_exception([](loop loop) {
        auto timer = timer::after(0s, [] { throw std::runtime_error("deliberate"); });
        loop.add(timer);
        std::move(timer).detach();
    });
    end_by_exception([](loop loop) {
        observer observer(activity::entry, [] { throw std::runtime_error("deliberate"); });
        signalled_source keep([] {});
        loop.add(observer);
        loop.add(keep);
        std::move(observer).detach();
        std::move(keep).detach();
    });
}
