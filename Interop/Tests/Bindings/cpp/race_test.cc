// race_test.cc — when_any and timeout of runloop_scope.hpp.
#include <runloop_async.hpp>

#include "ended.h"

using namespace std::chrono_literals;
using namespace run_loop;

/// Its awaiter resumes in a call of `set`.
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

static task<int> at_once(int value) { co_return value; }

TEST("the first that is done counts, and the others are ended before it is reported") {
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
