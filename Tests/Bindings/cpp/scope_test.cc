// scope_test.cc — runloop_scope.hpp: tasks that are ended, wherever they are.
#include <functional>
#include <runloop_async.hpp>
#include <stdexcept>

#include "coroutines.h"

using namespace std::chrono_literals;
using namespace run_loop;

/// Who awaits it goes on in a call of `set`.
class event {
  public:
    bool await_ready() const noexcept { return is_set_; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
    void await_resume() const noexcept {}
    void set() {
        is_set_ = true;
        if (waiting_)
            std::exchange(waiting_, nullptr).resume();
    }

  private:
    bool is_set_ = false;
    std::coroutine_handle<> waiting_;
};

template <class T> static std::string thrown(task<T> body) {
    try {
        (void)wait(std::move(body));
        return "";
    } catch (const std::system_error &error) {
        return std::to_string(error.code().value()) + " " + error.what();
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}

static task<int> later(length delay, int value) {
    const counted here;
    co_await sleep_for(delay);
    co_return value;
}

static task<int> at_once(int value) { co_return value; }

static task<int> failing(length delay) {
    const counted here;
    co_await sleep_for(delay);
    throw std::runtime_error("failed");
}

static task<> sleeping(length delay) {
    const counted here;
    co_await sleep_for(delay);
}

/// Nothing of a test is left.
static void expect_nothing_left() {
    EXPECT_EQ(counted::alive, 0);
    EXPECT(loop::current().is_empty(common_modes));
    EXPECT(detail::branch::current == nullptr);
}

//===-- when_any -----------------------------------------------------------------------------------------------------===//

TEST("the first that is done counts, and the others are ended before it is told") {
    const auto body = []() -> task<> {
        const auto first = co_await when_any(later(1h, 1), later(1ms, 2), sleeping(1h));
        EXPECT_EQ(counted::alive, 0);
        EXPECT_EQ(int(first.index()), 1);
        EXPECT_EQ(std::get<1>(first), 2);
        EXPECT_EQ(int((co_await when_any(later(1h, 1), sleeping(1ms))).index()), 1);
    };
    wait(body());
    expect_nothing_left();
}

TEST("what is done at once counts, and those after it do not begin") {
    bool has_begun = false;
    const auto noting = [&]() -> task<> {
        has_begun = true;
        co_return;
    };
    const auto body = [&]() -> task<> {
        const auto first = co_await when_any(later(1h, 1), at_once(2), noting());
        EXPECT_EQ(std::get<1>(first), 2);
        EXPECT_EQ(std::get<0>(co_await when_any(at_once(3))), 3);
    };
    wait(body());
    EXPECT(!has_begun);
    expect_nothing_left();
}

TEST("what the first throws is thrown, and what the others throw is not heard of") {
    const auto body = []() -> task<> { co_await when_any(later(1h, 1), failing(1ms)); };
    EXPECT_STRING(thrown(body()), "failed");
    const auto other = []() -> task<> { EXPECT_EQ(std::get<0>(co_await when_any(later(1ms, 1), failing(1h))), 1); };
    EXPECT_STRING(thrown(other()), "");
    expect_nothing_left();
}

TEST("results may be move-only, and what can be awaited need not be a task") {
    pair sockets;
    reader in(sockets.ours.get());
    const auto body = [&]() -> task<> {
        const auto owner = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
        EXPECT_EQ(*std::get<0>(co_await when_any(owner())), 3);
        // What has not come is there for the next one.
        EXPECT_EQ(int((co_await when_any(in.line(), sleep_for(1ms))).index()), 1);
        sockets.put("hello\n");
        EXPECT_STRING(*std::get<0>(co_await when_any(in.line(), sleep_for(1h))), "hello");
        event set;
        set.set();
        EXPECT_EQ(int((co_await when_any(sleep_for(1h), set)).index()), 1);
    };
    wait(body());
    expect_nothing_left();
}

TEST("the first of several in the first of several, and the outer one ends the inner ones") {
    const auto body = []() -> task<> {
        const auto first = co_await when_any(when_any(later(1h, 1), later(1h, 2)), when_any(later(1h, 3), later(1ms, 4)));
        EXPECT_EQ(std::get<1>(std::get<1>(first)), 4);
        EXPECT_EQ(counted::alive, 0);
    };
    wait(body());
    expect_nothing_left();
}

TEST("one that is being executed when another one is first goes on until it waits") {
    std::string trace;
    event first, unset;
    const auto setting = [&]() -> task<> {
        const counted here;
        co_await sleep_for(1ms);
        first.set(); // The other one is done in this call.
        trace += "set ";
        co_await unset;
        trace += "not here";
    };
    const auto waiting = [&]() -> task<int> {
        co_await [](event &it) -> task<> { co_await it; }(first);
        trace += "first ";
        co_return 1;
    };
    const auto body = [&]() -> task<> {
        EXPECT_EQ(std::get<1>(co_await when_any(setting(), waiting())), 1);
        trace += "told";
        EXPECT_EQ(counted::alive, 0);
    };
    wait(body());
    EXPECT_STRING(trace, "first set told");
    expect_nothing_left();
}

TEST("one that runs the loop when another one is first goes on until it waits, and so does what is around it") {
    std::string trace;
    const auto nesting = [&]() -> task<> {
        const counted here;
        co_await sleep_for(1ms);
        wait(sleeping(20ms));
        trace += "nested ";
        co_await sleep_for(1h);
    };
    const auto inner = [&]() -> task<> { co_await when_any(nesting(), sleeping(1h)); };
    const auto body = [&]() -> task<> {
        const auto first = co_await when_any(inner(), later(5ms, 1));
        EXPECT_EQ(std::get<1>(first), 1);
        trace += "told";
        EXPECT_EQ(counted::alive, 0);
    };
    wait(body());
    EXPECT_STRING(trace, "nested told");
    expect_nothing_left();
}

//===-- timeout ------------------------------------------------------------------------------------------------------===//

TEST("a limit ends what takes longer, and leaves alone what does not, its errors too") {
    const auto body = []() -> task<> {
        EXPECT_EQ(co_await timeout(later(1ms, 1), 60s), 1);
        co_await timeout(sleeping(1ms), forever);
        co_await timeout(sleep_for(1ms), 60s);
        EXPECT_EQ(co_await timeout(at_once(2), 0s), 2);
    };
    wait(body());
    const auto start = run_loop::clock::now();
    EXPECT(thrown(timeout(later(1h, 1), 10ms)).find("110 run_loop::timeout") == 0);
    EXPECT(run_loop::clock::now() >= start + 10ms);
    EXPECT(thrown(timeout(later(1h, 1), 0s)).find("110 ") == 0);
    EXPECT_STRING(thrown(timeout(failing(1ms), 60s)), "failed");
    expect_nothing_left();
}

TEST("a limit is counted from when it is awaited, and limits nest") {
    auto unused = timeout(later(1h, 1), 1ms);
    const auto body = [&]() -> task<> {
        auto limited = timeout(later(1ms, 1), 60s);
        co_await sleep_for(5ms);
        EXPECT_EQ(co_await std::move(limited), 1);
        EXPECT_EQ(co_await timeout(timeout(later(1ms, 2), 60s), 60s), 2);
    };
    wait(body());
    EXPECT(thrown(timeout(timeout(later(1h, 1), 1ms), 60s)).find("110 ") == 0);
    EXPECT(thrown(timeout(timeout(later(1h, 1), 60s), 1ms)).find("110 ") == 0);
    expect_nothing_left();
}

TEST("a result that is there when the limit ends its task counts, and what has come together with the limit is not lost") {
    // The limit passes in a nested run, and the task is done without waiting after that.
    const auto nesting = []() -> task<int> {
        co_await sleep_for(1ms);
        wait(sleeping(20ms));
        co_return 7;
    };
    EXPECT_EQ(wait(timeout(nesting(), 5ms)), 7);
    pair sockets;
    reader in(sockets.ours.get());
    for (int i = 0; i < 100; i++) {
        auto both = timer::after(1ms, [&] { sockets.put("line\n"); });
        loop::current().add(both, common_modes);
        try {
            EXPECT_STRING(*wait(timeout(in.line(), 1ms)), "line");
        } catch (const std::system_error &error) {
            EXPECT_EQ(error.code().value(), ETIMEDOUT);
            EXPECT_STRING(*wait(timeout(in.line(), 60s)), "line");
        }
    }
}

TEST("a limit that is destroyed while it is waited for ends its task, and hears nothing") {
    std::optional<task<int>> limited(timeout(later(1h, 1), 5ms));
    std::optional<task<>> body([](task<int> it) -> task<> { (void)co_await std::move(it); }(std::move(*limited)));
    limited.reset();
    begun begun(*body);
    EXPECT_EQ(counted::alive, 1);
    body.reset();
    expect_nothing_left();
}

//===-- scopes -------------------------------------------------------------------------------------------------------===//

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

TEST("cancel ends all tasks, has who joins go on, and may be called twice; the end of a scope does the same") {
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
            EXPECT_EQ(counted::alive, 1); // What was begun by who has joined.
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

TEST("who joins is one, and not a task of the scope") {
    task_scope scope;
    scope.spawn(sleeping(5ms));
    const auto joining = [&]() -> task<> { co_await scope.join(); };
    auto second = timer::after(1ms, [&] { EXPECT(thrown(joining()).find("16 ") == 0); });
    loop::current().add(second);
    wait(joining());
    scope.spawn([](task<> body) -> task<> { co_await std::move(body); }(joining()));
    EXPECT(thrown(joining()).find("35 ") == 0);
    // A wait that is destroyed makes room for another one.
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

/// Resumes whoever awaits it inside of await_suspend, or does not suspend, or throws.
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
