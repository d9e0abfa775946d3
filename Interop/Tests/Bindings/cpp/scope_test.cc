// scope_test.cc — task_scope of runloop_scope.hpp: tasks that are ended, wherever they are.
#include <functional>
#include <runloop_async.hpp>

#include "ended.h"

using namespace std::chrono_literals;
using namespace run_loop;

TEST("a scope is joined when all its tasks are done, and may be used again") {
    const auto body = []() -> task<> {
        task_scope scope;
        co_await scope.join();
        for (int round = 0; round < 2; round++) {
            scope.spawn(sleeping(1ms));
            scope.spawn(sleeping(5ms));
            scope.spawn([]() -> task<> { co_return; }());
            EXPECT_EQ(int(scope.size()), 2);
            co_await scope.join();
            EXPECT_EQ(int(scope.size()), 0);
            EXPECT_EQ(counted::alive, 0);
        }
    };
    wait(body());
    expect_nothing_left();
}

TEST("cancel ends all tasks, resumes the joining coroutine, and may be called twice; the end of a scope does the same") {
    std::string trace;
    const auto body = [&]() -> task<> {
        task_scope scope;
        scope.spawn(sleeping(1h));
        scope.spawn(sleeping(1h));
        scope.cancel();
        scope.cancel();
        EXPECT_EQ(counted::alive + int(scope.size()), 0);
        co_await scope.join();
        scope.spawn(sleeping(1h));
        auto end = timer::after(1ms, [&] {
            scope.cancel();
            EXPECT_EQ(counted::alive, 1); // What the joined coroutine has begun.
            trace += "cancelled";
        });
        loop::current().add(end, common_modes);
        co_await scope.join();
        trace += "joined ";
        scope.spawn(sleeping(1ms));
        co_await scope.join();
        scope.spawn(sleeping(1h));
    };
    wait(body());
    EXPECT_STRING(trace, "joined cancelled");
    expect_nothing_left();
}

TEST("the first error ends the other tasks, and is thrown by join, once") {
    const auto body = []() -> task<> {
        task_scope scope;
        scope.spawn(sleeping(1h));
        scope.spawn([]() -> task<> { co_await failing(1ms); }());
        scope.spawn(sleeping(1h));
        try {
            co_await scope.join();
            EXPECT(false);
        } catch (const std::runtime_error &error) {
            EXPECT_STRING(error.what(), "failed");
        }
        EXPECT_EQ(counted::alive, 0);
        scope.spawn(sleeping(1ms));
        co_await scope.join();
        // One that throws before it has waited.
        scope.spawn([]() -> task<> {
            throw std::runtime_error("at once");
            co_return;
        }());
        EXPECT_EQ(int(scope.size()), 0);
        co_await scope.join();
    };
    EXPECT_STRING(thrown(body()), "at once");
    expect_nothing_left();
}

TEST("a task may end its own scope, and destroy it, and goes on until it waits") {
    std::string trace;
    std::optional<task_scope> scope(std::in_place);
    const auto ending = [&](bool destroys) -> task<> {
        const counted here;
        co_await sleep_for(1ms);
        destroys ? scope.reset() : scope->cancel();
        EXPECT_EQ(counted::alive, 1);
        trace += "goes on ";
        co_await sleep_for(1ms);
        trace += "not here";
    };
    scope->spawn(sleeping(1h));
    scope->spawn(ending(false));
    EXPECT_STRING(thrown([&]() -> task<> { co_await scope->join(); }()), "");
    EXPECT_EQ(counted::alive, 0);
    scope->spawn(sleeping(1h));
    scope->spawn(ending(true));
    EXPECT_STRING(thrown([&]() -> task<> { co_await scope->join(); }()), "");
    EXPECT(!scope);
    EXPECT_STRING(trace, "goes on goes on ");
    expect_nothing_left();
}

TEST("destructors of tasks that are ended may end the scope, begin tasks in it, and have the last reference to it") {
    struct session {
        task_scope scope;
    };
    struct at_end {
        std::function<void()> body;
        ~at_end() { body(); }
    };
    const auto holding = [](std::function<void()> body) -> task<> {
        const at_end end{std::move(body)};
        const counted here;
        co_await sleep_for(1h);
    };
    task_scope scope;
    scope.spawn(holding([&] { scope.cancel(); }));
    scope.spawn(holding([&] { scope.spawn(sleeping(1h)); }));
    scope.spawn(holding([&] { wait(sleeping(1ms)); }));
    scope.cancel();
    EXPECT_EQ(counted::alive + int(scope.size()), 0);
    auto shared = std::make_shared<session>();
    shared->scope.spawn(holding([copy = shared] {}));
    shared->scope.spawn(sleeping(1h));
    auto &inner = shared->scope;
    shared.reset();
    inner.cancel();
    expect_nothing_left();
}

TEST("only one coroutine joins, and not a task of the scope") {
    task_scope scope;
    scope.spawn(sleeping(5ms));
    const auto joining = [&]() -> task<> { co_await scope.join(); };
    auto second = timer::after(1ms, [&] { EXPECT(thrown(joining()).find("16 ") == 0); });
    loop::current().add(second);
    wait(joining());
    scope.spawn([](task<> body) -> task<> { co_await std::move(body); }(joining()));
    EXPECT(thrown(joining()).find("35 ") == 0);
    // A wait that is destroyed makes way for another one.
    scope.spawn(sleeping(1ms));
    {
        auto body = joining();
        begun begun(body);
    }
    wait(joining());
    auto moved = sleeping(1ms);
    auto into(std::move(moved));
    try {
        scope.spawn(std::move(moved));
        EXPECT(false);
    } catch (const std::system_error &error) {
        EXPECT_EQ(error.code().value(), EINVAL);
    }
    expect_nothing_left();
}

TEST("a task that is destroyed ends the tasks of its scopes") {
    {
        auto body = []() -> task<> {
            const counted here;
            task_scope scope;
            scope.spawn([]() -> task<> { co_await when_any(sleeping(1h), timeout(sleeping(1h), 1h)); }());
            co_await scope.join();
        }();
        begun begun(body);
        EXPECT_EQ(counted::alive, 3);
    }
    expect_nothing_left();
}

TEST("a scope that outlives the task in which it was made is a scope like any other") {
    std::unique_ptr<task_scope> outlives;
    const auto body = [&]() -> task<> {
        const auto making = [&]() -> task<> {
            outlives = std::make_unique<task_scope>();
            co_return;
        };
        task_scope scope;
        scope.spawn(making());
        co_await scope.join();
        outlives->spawn(sleeping(1ms));
        co_await outlives->join();
        outlives->spawn(sleeping(1h));
    };
    wait(body());
    outlives.reset();
    expect_nothing_left();
}

/// Resumes its awaiter inside of await_suspend, or does not suspend, or throws.
struct odd {
    enum { resumes, refuses, throws } what;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) const {
        if (what == throws)
            throw std::runtime_error("odd");
        const bool waits = what == resumes;
        if (waits)
            waiting.resume(); // This object may be gone then.
        return waits;
    }
    void await_resume() const noexcept {}
};

TEST("what goes on inside of its own await_suspend, does not wait, or throws there, is executed and ended as all others are") {
    const auto trying = []() -> task<int> {
        const counted here;
        co_await odd{odd::resumes};
        for (int i = 0; i < 100000; i++)
            co_await odd{odd::refuses};
        try {
            co_await odd{odd::throws};
        } catch (const std::runtime_error &) {
        }
        co_await sleep_for(1ms);
        co_await odd{odd::resumes};
        co_return 3;
    };
    const auto body = [&]() -> task<> {
        EXPECT_EQ(std::get<0>(co_await when_any(trying(), later(1h, 1))), 3);
        EXPECT_EQ(std::get<0>(co_await when_any(later(0s, 1), trying())), 1);
        task_scope scope;
        scope.spawn([](task_scope &all) -> task<> {
            const counted here;
            co_await odd{odd::resumes};
            all.cancel();
            co_await odd{odd::refuses};
            co_await odd{odd::resumes};
            EXPECT_EQ(counted::alive, 1);
            co_await sleep_for(1h);
        }(scope));
        co_await scope.join();
    };
    wait(body());
    expect_nothing_left();
}
