// waiters_test.cc — more than one coroutine that waits for an object: each has its turn, or is refused, and none is lost.
#include <csignal>
#include <runloop_async.hpp>
#include <vector>

#include "coroutines.h"

using namespace std::chrono_literals;
using namespace run_loop;

/// Reads what comes, for ever.
class drain {
  public:
    explicit drain(int number)
        : source_(number, readiness::readable, [this, number] {
              char bytes[65536];
              const ssize_t count = read(number, bytes, sizeof bytes);
              text.append(bytes, count > 0 ? size_t(count) : 0);
          }) {
        loop::current().add(source_);
    }
    std::string text;

  private:
    descriptor_source source_;
};

static task<> noted(task<> body, std::string &trace, const char *word) {
    try {
        co_await std::move(body);
        trace += word;
    } catch (const std::system_error &error) {
        trace += std::string(word) + std::to_string(error.code().value());
    }
    trace += " ";
}

/// Runs until there are so many words, for ten seconds at most.
static void run_until(const std::string &trace, size_t count) {
    const auto end = from_now(10s);
    while (size_t(std::count(trace.begin(), trace.end(), ' ')) < count && run_loop::clock::now() < end)
        run(default_mode, 5ms, true);
}

TEST("writers have their turn in the order in which they came, and their bytes are not mixed") {
    const size_t size = 1 << 20;
    pair sockets;
    writer out(std::move(sockets.ours), {.limit = 1000});
    std::string trace;
    const std::string first(size, 'a'), second(size, 'b'), third(size, 'c');
    spawn(noted(out.write(first), trace, "a"));
    spawn(noted(out.flush(), trace, "flush"));
    spawn(noted(out.write(second), trace, "b"));
    spawn(noted(out.write(third), trace, "c"));
    spawn(noted(out.finish(), trace, "finish"));
    spawn(noted(out.write("late"), trace, "late"));
    drain drain(sockets.theirs.get());
    run_until(trace, 6);
    EXPECT_STRING(trace, "a flush b c finish late32 ");
    while (drain.text.size() < 3 * size && run(default_mode, 10s, true) == result::handled_source) {
    }
    EXPECT(drain.text == first + second + third);
}

TEST("many small writes behind a large one are done in a turn, and not one inside the other") {
    pair sockets;
    writer out(std::move(sockets.ours), {.limit = 1 << 20});
    std::string trace;
    const std::string much(4 << 20, 'a');
    spawn(noted(out.write(much), trace, "much"));
    const size_t count = 20000;
    for (size_t i = 0; i < count; i++)
        spawn(noted(out.write("x"), trace, "x"));
    drain drain(sockets.theirs.get());
    run_until(trace, count + 1);
    run(default_mode, 0s);
    EXPECT(trace.substr(0, 9) == "much x x " && trace.size() == 5 + 2 * count);
}

TEST("a writer that is ended in its turn leaves it to the next, and one that waits for its turn leaves the line") {
    pair sockets;
    writer out(std::move(sockets.ours), {.limit = 1000});
    std::string trace;
    const std::string much(1 << 20, 'a');
    std::optional<task<>> head(noted(out.write(much), trace, "head")), middle(noted(out.write(much), trace, "middle"));
    begun head_begun(*head), middle_begun(*middle);
    spawn(noted(out.write("last"), trace, "last"));
    head.reset(), middle.reset();
    drain drain(sockets.theirs.get());
    run_until(trace, 1);
    run(default_mode, 5ms);
    EXPECT_STRING(trace, "last ");
    EXPECT(drain.text.size() < much.size() && drain.text.substr(drain.text.size() - 5) == "alast");
}

TEST("an error is reported to each writer that waits") {
    pair sockets;
    writer out(std::move(sockets.ours), {.limit = 1000});
    std::string trace;
    const std::string much(1 << 20, 'a');
    spawn(noted(out.write(much), trace, "a"));
    spawn(noted(out.write(much), trace, "b"));
    spawn(noted(out.flush(), trace, "c"));
    sockets.theirs.reset();
    run_until(trace, 3);
    EXPECT_STRING(trace, "a32 b32 c32 ");
}

TEST("a writer may be destroyed by one that goes on, while others wait for it") {
    pair sockets;
    auto out = std::make_unique<writer>(std::move(sockets.ours), output_options{.limit = 1000});
    std::string trace;
    const std::string much(1 << 20, 'a');
    std::optional<task<>> other;
    const auto destroying = [&]() -> task<> {
        co_await out->write(much);
        other.reset();
        out.reset();
    };
    spawn(noted(destroying(), trace, "destroyed"));
    other.emplace(noted(out->write(much), trace, "other"));
    begun begun(*other);
    drain drain(sockets.theirs.get());
    run_until(trace, 1);
    EXPECT_STRING(trace, "destroyed ");
}

static task<> line_of(reader &in, std::string &into) { into += co_await in.line() ? "line" : "end"; }

TEST("a second reader is refused, and the first one reads on") {
    pair sockets;
    reader in(sockets.ours.get());
    std::string trace, text;
    spawn(noted(line_of(in, text), trace, "first"));
    for (int i = 0; i < 2; i++) {
        spawn(noted(line_of(in, text), trace, "second"));
        EXPECT_STRING(trace, "second16 ");
        trace.clear();
    }
    sockets.put("hello\n");
    run_until(trace, 1);
    EXPECT_STRING(trace + text, "first line");
    spawn(noted(line_of(in, text), trace, "third"));
    sockets.theirs.reset();
    run_until(trace, 2);
    EXPECT_STRING(trace + text, "first third lineend");
}

static task<> signal_of(signals &it, int &count) { count += int((co_await it.next()).count); }

TEST("of coroutines that wait for a signal, each has one arrival, and one that is ended has none") {
    signals usr1(SIGUSR1);
    std::string trace;
    int count = 0;
    std::optional<task<>> ended(noted(signal_of(usr1, count), trace, "ended"));
    spawn(noted(signal_of(usr1, count), trace, "first"));
    begun begun(*ended);
    spawn(noted(signal_of(usr1, count), trace, "second"));
    ended.reset();
    for (size_t told = 1; told <= 2; told++) {
        EXPECT(!loop::current().is_empty(default_mode));
        kill(getpid(), SIGUSR1);
        run_until(trace, told);
        EXPECT_EQ(count, int(told));
    }
    EXPECT_STRING(trace, "first second ");
    EXPECT(loop::current().is_empty(default_mode));
}

TEST("acceptors that wait have a connection each, and hear all of them when the socket fails") {
    acceptor acceptor(listen_tcp("127.0.0.1", 0));
    std::string trace;
    const auto accepting = [&]() -> task<> { co_await acceptor.accept(); };
    for (const char *word : {"one", "two", "three"})
        spawn(noted(accepting(), trace, word));
    const auto connecting = [&]() -> task<> {
        for (int i = 0; i < 2; i++)
            co_await connect_tcp("127.0.0.1", socket_port(acceptor.socket()), 60s);
    };
    wait(connecting());
    run_until(trace, 2);
    EXPECT_STRING(trace, "one two ");
    spawn(noted(accepting(), trace, "four"));
    shutdown(acceptor.socket(), SHUT_RDWR);
    run_until(trace, 4);
    EXPECT_STRING(trace, "one two three22 four22 ");
}

TEST("all that wait for the end of a process are resumed, in their order, and one that is ended is not") {
    descriptor to;
    child_options options{{"cat"}};
    options.descriptors = {child_descriptor::input_pipe(0, to)};
    process process(options);
    std::string trace;
    const auto ending = [&]() -> task<> { EXPECT_EQ((co_await process.end()).status, 0); };
    spawn(noted(ending(), trace, "one"));
    std::optional<task<>> ended(noted(ending(), trace, "ended"));
    begun begun(*ended);
    spawn(noted(ending(), trace, "two"));
    ended.reset();
    to.reset();
    run_until(trace, 2);
    spawn(noted(ending(), trace, "late"));
    EXPECT_STRING(trace, "one two late ");
}

template <class Awaitable> static task<> awaiting(Awaitable &shared) { (void)co_await shared; }
template <> task<> awaiting(detail::sleep &shared) { co_await shared; }

TEST("a second coroutine that awaits the same sleep, connection or task is refused, and the first one goes on") {
    std::string trace;
    auto nap = sleep_for(20ms);
    spawn(noted(awaiting(nap), trace, "nap"));
    spawn(noted(awaiting(nap), trace, "again"));
    EXPECT_STRING(trace, "again16 ");
    run_until(trace, 2);
    EXPECT_STRING(trace, "again16 nap ");

    trace.clear();
    acceptor acceptor(listen_tcp("127.0.0.1", 0));
    auto connection = connect_tcp("127.0.0.1", socket_port(acceptor.socket()), 60s);
    spawn(noted(awaiting(connection), trace, "connection"));
    spawn(noted(awaiting(connection), trace, "again"));
    EXPECT_STRING(trace, "again16 ");
    run_until(trace, 2);
    EXPECT_STRING(trace, "again16 connection ");

    trace.clear();
    auto body = []() -> task<> { co_await sleep_for(10ms); }();
    const auto shares = [&]() -> task<> { co_await std::move(body); };
    spawn(noted(shares(), trace, "body"));
    spawn(noted(shares(), trace, "again"));
    EXPECT_STRING(trace, "again16 ");
    run_until(trace, 2);
    spawn(noted(shares(), trace, "again"));
    auto moved(std::move(body));
    spawn(noted(shares(), trace, "empty"));
    EXPECT_STRING(trace, "again16 body again16 empty22 ");
}

TEST("what memory did not suffice for is reported to one coroutine, and the others wait on") {
    std::string trace;
    signalled_source nothing([] {});
    detail::arrivals<int> arrivals(nothing, common_modes);
    const auto takes = [&](const char *word) -> task<> {
        for (bool is_told = false; !is_told;) {
            try {
                const int value = co_await detail::arrivals<int>::next(arrivals);
                trace += word + std::to_string(value) + " ";
                is_told = true;
            } catch (const std::system_error &error) {
                trace += word + std::to_string(error.code().value()) + " ";
            }
        }
    };
    spawn(takes("a"));
    spawn(takes("b"));
    arrivals.lose();
    EXPECT_STRING(trace, "a12 ");
    arrivals.put(1);
    arrivals.put(2);
    EXPECT_STRING(trace, "a12 b1 a2 ");
}
