// async_test.cc — runloop_task.hpp and runloop_async.hpp: results, errors, cancellation, and what coroutines wait for.
#include <fcntl.h>
#include <runloop_async.hpp>
#include <sys/wait.h>

#include <csignal>

#include "coroutines.h"

using namespace std::chrono_literals;
using namespace run_loop;

/// The next allocation of C++ fails.
static bool is_without_memory;

// Out of line: gcc otherwise sees a `free` for a `new` where one of the two is expanded alone.
[[gnu::noinline]] void *operator new(std::size_t size) {
    void *block = std::exchange(is_without_memory, false) ? nullptr : std::malloc(size);
    if (!block)
        throw std::bad_alloc();
    return block;
}
[[gnu::noinline]] void operator delete(void *block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void *block, std::size_t) noexcept { std::free(block); }

static task<int> later(int value) {
    counted here;
    co_await sleep_for(5ms);
    co_return value;
}

static task<std::unique_ptr<int>> sum() {
    const int first = co_await later(1);
    co_return std::make_unique<int>(first + co_await later(2));
}

static task<> failing() {
    co_await sleep_for(1ms);
    throw std::runtime_error("failed");
}

TEST("a task has a result, which may be move-only, or throws, and its frames are freed") {
    const auto start = run_loop::clock::now();
    EXPECT_EQ(*wait(sum()), 3);
    EXPECT(run_loop::clock::now() >= start + 10ms);
    EXPECT_STRING(thrown(failing()), "failed");
    EXPECT_EQ(counted::alive, 0);
}

TEST("a task that is never awaited never begins, and one that is destroyed while it waits hears nothing") {
    { auto unused = later(1); }
    EXPECT_EQ(counted::alive, 0);
    auto stop = timer::after(1ms, [] { loop::current().stop(); });
    loop::current().add(stop);
    EXPECT(thrown([]() -> task<> { (void)co_await later(co_await later(1)), co_await sleep_for(1h); }()).find("4 ") == 0);
    EXPECT_EQ(counted::alive, 0);
    EXPECT(loop::current().is_empty(common_modes) && run(default_mode, 20ms) == result::finished);
}

static task<> adding(std::string &trace, const char *word) {
    co_await sleep_for(2ms);
    trace += std::string(word) + " ";
}

static task<> outer(std::string &trace) {
    co_await sleep_for(5ms);
    wait(adding(trace, "inner"));
    trace += "outer ";
}

TEST("spawned tasks go on beside a wait; waits nest, and runs of other modes inside them are not stopped") {
    std::string trace;
    spawn(adding(trace, "spawned"));
    wait(outer(trace));
    EXPECT_STRING(trace, "spawned inner outer ");

    static const mode other("other");
    bool was_done = false;
    auto nested = timer::after(1ms, [&] {
        auto end = timer::after(30ms, [&] {
            EXPECT(was_done);
            loop::current().stop();
        });
        loop::current().add(end, other);
        auto awaited = timer::after(10ms, [&] { was_done = true; });
        loop::current().add(awaited, other);
        EXPECT(run(other) == result::stopped);
    });
    loop::current().add(nested);
    wait([]() -> task<> { co_await sleep_for(3ms, other); }());
    EXPECT(was_done);

    // Nor is a run of the same mode.
    auto same = timer::after(1ms, [] { EXPECT(run(default_mode, 30ms) == result::timed_out); });
    loop::current().add(same);
    wait([]() -> task<> { co_await sleep_for(10ms); }());
}

TEST("a wait ends when its task is done by what was posted, though nothing else happens") {
    struct {
        std::coroutine_handle<> waiting;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> handle) { waiting = handle; }
        void await_resume() const {}
    } event;
    loop::current().post([&] { event.waiting.resume(); });
    wait([](auto &it) -> task<> { co_await it; }(event));
}

TEST("signals are kept while nobody waits, and a wait for them that is destroyed leaves none") {
    signals usr1(SIGUSR1);
    EXPECT(loop::current().is_empty(default_mode));
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(wait([](signals &it) -> task<signal_arrival> { co_return co_await it.next(); }(usr1)).number, SIGUSR1);
    auto stop = timer::after(1ms, [] { loop::current().stop(); });
    loop::current().add(stop);
    EXPECT(thrown([](signals &it) -> task<> { (void)co_await it.next(); }(usr1)).find("4 ") == 0);
    EXPECT(loop::current().is_empty(default_mode));
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(int(wait([](signals &it) -> task<signal_arrival> { co_return co_await it.next(); }(usr1)).count), 1);
}

TEST("a program is run to its end, and one whose task is destroyed is ended and reaped") {
    const auto run = []() -> task<> {
        command_options options{{{"sh", "-c", "cat; sleep 1000 & echo $! >&2"}}};
        options.input = "text";
        options.output_limit = 10ms;
        const auto result = co_await process_run(options);
        EXPECT_STRING(result.output.bytes, "text");
        EXPECT(result.is_success() && result.output.end == output_end::cut_off);
        kill(atoi(result.error.bytes.c_str()), SIGKILL);
    };
    wait(run());
    int ends[2];
    EXPECT(pipe2(ends, O_CLOEXEC) == 0);
    {
        command_options options{{{"sh", "-c", "sleep 1000 & wait"}}};
        options.child.group = RUNLOOP_CHILD_NEW_GROUP;
        options.child.descriptors = {child_descriptor::of(5, ends[1])};
        const auto ended = [](command_options what) -> task<> { (void)co_await process_run(what); };
        auto scope = ended(options);
        detail::begin(scope);
        close(ends[1]);
    }
    const auto read_end = [](int end) -> task<std::string> { co_return co_await reader(descriptor(end)).read(1); };
    EXPECT_STRING(wait(read_end(ends[0])), "");
    while (waitpid(-1, nullptr, WNOHANG) != -1)
        run_loop::run(default_mode, 1ms);
}

TEST("a process talks through pipes, and its end is awaited before or after it") {
    const auto upper = [](std::string text) -> task<std::string> {
        descriptor to, from;
        child_options options{{"tr", "a-z", "A-Z"}};
        options.descriptors = {child_descriptor::input_pipe(0, to), child_descriptor::output_pipe(1, from)};
        process process(options);
        writer writer(std::move(to));
        reader reader(std::move(from));
        co_await writer.write(text);
        co_await writer.finish();
        const std::string answer = co_await reader.exactly(text.size());
        EXPECT((co_await reader.read()).empty());
        const auto exit = co_await process.end();
        EXPECT(exit.end == RUNLOOP_CHILD_EXITED && exit.status == 0);
        EXPECT((co_await process.end()).status == 0);
        co_return answer;
    };
    EXPECT_STRING(wait(upper("quiet")), "QUIET");
    const auto polite = []() -> task<child_exit> {
        process process({{"sleep", "60"}});
        process.child().end_by({{SIGTERM, 60s}, {SIGKILL, 0s}});
        co_return co_await process.end();
    };
    EXPECT_EQ(wait(polite()).status, SIGTERM);
    // One that nobody awaits is reaped.
    { process forgotten({{"true"}}); }
    EXPECT(run(default_mode, 60s) == result::finished);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST("a process whose pipe is full and that nobody reads is named while its end is awaited") {
    const auto unread = []() -> task<std::string> {
        int errors[2];
        const int former = dup(STDERR_FILENO);
        EXPECT(pipe2(errors, O_CLOEXEC) == 0 && dup2(errors[1], STDERR_FILENO) >= 0);
        close(errors[1]);
        descriptor output;
        child_options options{{"head", "-c", "300000", "/dev/zero"}};
        options.descriptors = {child_descriptor::output_pipe(1, output)};
        process process(options);
        const auto end_of = [](class process &awaited) -> task<> { (void)co_await awaited.end(); };
        auto scope = end_of(process);
        detail::begin(scope);
        const auto line = co_await reader(descriptor(errors[0])).line();
        EXPECT(dup2(former, STDERR_FILENO) >= 0);
        close(former);
        reader rest(std::move(output));
        size_t count = 0;
        for (std::string bytes; !(bytes = co_await rest.read()).empty();)
            count += bytes.size();
        EXPECT_EQ(count, size_t(300000));
        EXPECT((co_await process.end()).status == 0);
        co_return line.value_or("");
    };
    EXPECT(wait(unread()).find("descriptor 1 is a pipe that is full, with 65536 bytes") != std::string::npos);
}

static task<> echo(acceptor &acceptor) {
    stream stream(co_await acceptor.accept());
    while (auto line = co_await stream.in.line())
        co_await stream.out.write(*line + "\n");
    co_await stream.out.finish();
}

TEST("connections are accepted and made, and lines go there and back") {
    acceptor acceptor(listen_tcp("127.0.0.1", 0));
    spawn(echo(acceptor));
    const auto client = [](uint16_t port) -> task<> {
        stream stream(co_await connect_tcp("localhost", port, 60s));
        co_await stream.out.write("one\r\ntwo\nlast");
        co_await stream.out.finish();
        EXPECT_STRING(*co_await stream.in.line(), "one");
        EXPECT_STRING((co_await stream.in.read(2)), "tw");
        EXPECT_STRING(*co_await stream.in.line(), "o");
        EXPECT_STRING(*co_await stream.in.line(), "last");
        EXPECT(!co_await stream.in.line());
        EXPECT(!co_await stream.in.line());
    };
    wait(client(socket_port(acceptor.socket())));
    const auto nowhere = []() -> task<> { (void)co_await connect_unix("/no/such/path"); };
    EXPECT_STRING(thrown(nowhere()), "2 connect; /no/such/path: No such file or directory: No such file or directory");
}

TEST("a reader that waits too long gets an error, and a line that is too long; a task that is destroyed pauses it") {
    pair sockets;
    reader idle(sockets.ours.get(), {.limit = 16, .idle = 20ms});
    const auto line = [](reader &it) -> task<std::optional<std::string>> { co_return co_await it.line(); };
    auto stop = timer::after(1ms, [] { loop::current().stop(); });
    loop::current().add(stop);
    EXPECT(thrown(line(idle)).find("4 ") == 0);
    EXPECT(run(default_mode, 50ms) == result::timed_out); // Nobody reads, so silence is no fault.
    sockets.put("kept\n");
    EXPECT_STRING(*wait(line(idle)), "kept");
    EXPECT(thrown(line(idle)).find("110 read") == 0);
    pair slow;
    reader exchange(slow.ours.get());
    exchange.input().set_deadline(from_now(20ms));
    slow.put("begun");
    // What came before the error is no last line: that one has not come.
    for (int i = 0; i < 2; i++)
        EXPECT(thrown(line(exchange)).find("110 read") == 0);
    EXPECT_STRING(wait([](reader &it) -> task<std::string> { co_return co_await it.read(); }(exchange)), "begun");
    EXPECT(thrown(line(exchange)).find("110 read") == 0);
    pair others;
    reader limited(others.ours.get(), {.limit = 16});
    others.put("more than sixteen bytes");
    EXPECT(thrown(line(limited)).find("90 read") == 0);
}

TEST("nothing is read at once, and takes nothing, before the end of the input and after it") {
    pair sockets;
    reader it(sockets.ours.get());
    const auto nothing = [](reader &from) -> task<> {
        EXPECT_STRING(co_await from.exactly(0), "");
        EXPECT_STRING(co_await from.read(0), "");
    };
    auto stop = timer::after(1s, [] { loop::current().stop(); });
    loop::current().add(stop);
    EXPECT_STRING(thrown(nothing(it)), "");
    stop.invalidate();
    sockets.put("rest");
    sockets.theirs.reset();
    wait([](reader &from, auto &take_nothing) -> task<> {
        EXPECT_STRING(co_await from.exactly(2), "re");
        EXPECT_STRING(co_await from.exactly(1), "s");
        co_await take_nothing(from);
        EXPECT_STRING(co_await from.exactly(9), "t");
        co_await take_nothing(from);
    }(it, nothing));
}

TEST("a reader without memory for what has come throws, and the next call has it; what the end has left over is lost") {
    const std::string_view text = "a line that is longer than a short text";
    pair sockets;
    reader it(sockets.ours.get());
    const auto line = [](reader &from) -> task<std::optional<std::string>> { co_return co_await from.line(); };
    for (const bool is_at_end : {false, true}) {
        // The first allocation once somebody waits.
        auto fail = timer::after(1ms, [&] {
            sockets.put(text);
            is_at_end ? sockets.theirs.reset() : sockets.put("\n");
            is_without_memory = true;
        });
        loop::current().add(fail);
        EXPECT(thrown(line(it)).find("12 read") == 0);
        EXPECT(!is_without_memory);
        const auto next = wait(line(it));
        EXPECT(is_at_end ? !next : next == text);
    }
}

TEST("a writer waits for a slow reader, and hears of one that is gone") {
    pair sockets;
    writer slow(std::move(sockets.ours), {.limit = 1000});
    const auto write = [](writer &it, size_t count) -> task<> {
        const std::string much(count, 'x');
        co_await it.write(much);
        co_await it.flush();
    };
    size_t count = 0;
    descriptor_source drain(sockets.theirs.get(), readiness::readable, [&] {
        static char bytes[65536];
        const ssize_t got = read(sockets.theirs.get(), bytes, sizeof bytes);
        count += got > 0 ? size_t(got) : 0;
    });
    loop::current().add(drain);
    wait(write(slow, 2 << 20));
    EXPECT(count > 1 << 20);
    drain.invalidate();
    auto gone = timer::after(5ms, [&] { sockets.theirs.reset(); });
    loop::current().add(gone);
    EXPECT(thrown(write(slow, 2 << 20)).find("32 ") == 0);
}

TEST("changes of files are kept while nobody waits") {
    char path[] = "/tmp/runloop-cpp-XXXXXX";
    REQUIRE(mkdtemp(path));
    const std::string file = std::string(path) + "/file";
    file_changes changes(path, {.scope = watch_scope::directory});
    descriptor(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    const auto first = [](file_changes &it) -> task<std::string> { co_return (co_await it.next()).front().path; };
    EXPECT_STRING(wait(first(changes)), file.c_str());
    unlink(file.c_str());
    rmdir(path);
}
