// linux_test.cc — runloop_linux.hpp and runloop_hosted.hpp: what closures get, who owns descriptors, and what becomes of errors. That the
// objects behave is tested with the library.
#include <poll.h>
#include <runloop_hosted.hpp>
#include <runloop_linux.hpp>
#include <sys/mman.h>
#include <sys/wait.h>

#include <csignal>
#include <fcntl.h>

#include "pair.h"

using namespace std::chrono_literals;
using namespace run_loop;

template <class Body> static std::string error_of(Body &&body) {
    try {
        body();
        return "";
    } catch (const std::system_error &error) {
        return std::to_string(error.code().value()) + " " + error.what();
    }
}

static bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

TEST("a signal's closure gets what arrived, and its end gives the signal back") {
    {
        int arrived = 0;
        signal_source source(SIGUSR1, [&](signal_ref it, signal_arrival arrival) {
            EXPECT_EQ(it.number(), SIGUSR1);
            EXPECT_EQ(arrival.pid, getpid());
            ++arrived;
            loop::current().stop();
        });
        EXPECT(source.is_caught());
        loop::current().add(source);
        kill(getpid(), SIGUSR1);
        EXPECT(run(default_mode, 60s) == result::stopped);
        EXPECT_EQ(arrived, 1);
    }
    struct sigaction action;
    sigaction(SIGUSR1, nullptr, &action);
    EXPECT(action.sa_handler == SIG_DFL);
    EXPECT(error_of([] { signal_source source(SIGKILL, [] {}); }).find("22 runloop_signal_create") == 0);
}

TEST("a child has the pipes, directory and environment that its options say, and its end is reported") {
    descriptor out;
    child_options options{{"sh", "-c", "echo $WORD; pwd; exit 3"}};
    options.environment = {{"WORD=hello"}};
    options.directory = "/";
    options.descriptors = {child_descriptor::null(0), child_descriptor::output_pipe(1, out), child_descriptor::same(2, 1)};
    std::string text;
    int status = -1;
    auto child = child::start(options, [&](child_exit exit) { status = exit.end == RUNLOOP_CHILD_EXITED ? exit.status : -2; });
    auto input = input::bytes(
        std::move(out), {},
        [&](std::string_view bytes) {
            text += bytes;
            return bytes.size();
        },
        [](int error) { EXPECT_EQ(error, 0); });
    EXPECT(!out);
    loop::current().add(child);
    loop::current().add(input);
    EXPECT(run(default_mode, 60s) == result::finished);
    EXPECT_STRING(text, "hello\n/\n");
    EXPECT_EQ(status, 3);
    EXPECT(child.exit() && child.exit()->status == 3);
}

TEST("a child that can't be started is an error with its path, and leaves nothing") {
    descriptor out;
    child_options options{{"/no/such/program"}};
    options.descriptors = {child_descriptor::output_pipe(1, out)};
    EXPECT_STRING(error_of([&] { (void)child::start(options, [] {}); }),
                  "2 runloop_child_start: /no/such/program: No such file or directory");
    EXPECT(!out && waitpid(-1, nullptr, 0) < 0);
}

TEST("what a child can't be given is an error with its name") {
    EXPECT_STRING(error_of([&] {
                      (void)child::start(child_options{{"echo", std::string("a\0b", 3)}}, [] {});
                  }),
                  "22 argument 1 has a null: Invalid argument");
    EXPECT_STRING(error_of([&] { (void)child::start(child_options{}, [] {}); }),
                  "22 runloop_child_start: no arguments: Invalid argument");
}

TEST("a child has a terminal of its own, whose end is no error") {
    descriptor side;
    std::string text;
    int ended = -1;
    child_options options{{"sh", "-c", "stty size; printf last"}};
    options.descriptors = {child_descriptor::terminal(0, side), child_descriptor::same(1, 0)};
    options.terminal_rows = 33;
    options.terminal_columns = 77;
    auto child = child::start(options, [] {});
    auto input = input::lines(
        std::move(side), {}, [&](std::string_view line, int) { text.append(line).append("|"); }, [&](int error) { ended = error; });
    loop::current().add(child);
    loop::current().add(input);
    while (ended < 0 || child.is_valid())
        run(default_mode);
    EXPECT_STRING(text, "33 77|last|");
    EXPECT(ended == 0);
}

TEST("a command is fed, read and awaited, by a loop and by the thread") {
    command_options options{{{"sh", "-c", "sort; head -c 300000 /dev/zero >&2; exit 3"}}};
    options.input = "b\na\n";
    options.limit = 100;
    std::string text;
    auto command = command::start(options, [&](command_ref it, const runloop_command_result &result) {
        EXPECT(!it.is_valid() && it.pid() == result.pid);
        text.assign(result.output.bytes, result.output.count);
        EXPECT_EQ(result.exit.status, 3);
    });
    loop::current().add(command);
    while (command.is_valid())
        run(default_mode);
    EXPECT_STRING(text, "a\nb\n");
    const command_result result = run_command(options);
    EXPECT_STRING(result.output.bytes, "a\nb\n");
    EXPECT(result.output.end == output_end::complete && result.exit.status == 3 && !result.is_success());
    EXPECT(result.error.bytes.size() == 100 && result.error.dropped == 299900 && result.error.end == output_end::over_limit);
    EXPECT_STRING(error_of([] { (void)run_command({{{"/no/program"}}}); }),
                  "2 runloop_command_run: /no/program: No such file or directory");
    command_options closing{{{"yes"}}};
    closing.limit = 4;
    closing.excess = excess::close;
    EXPECT_EQ(run_command(closing).exit.status, SIGPIPE);
    command_options late{{{"sleep", "1000"}}};
    late.timeout = 10ms;
    EXPECT(run_command(late).timed_out);
}

TEST("a child is signalled, and ended politely; detached, it is reaped by its loop") {
    child_exit first{}, second{};
    auto signalled = child::start(child_options{{"sleep", "60"}}, [&](child_ref, child_exit exit) { first = exit; });
    // It ignores the first signal, and says so when it does.
    descriptor out;
    child_options options{{"sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"}};
    options.descriptors = {child_descriptor::output_pipe(1, out)};
    options.group = RUNLOOP_CHILD_NEW_GROUP;
    auto stubborn = child::start(options, [&](child_ref it, child_exit exit) {
        EXPECT(!it.is_valid());
        second = exit;
    });
    child_ref reference = stubborn;
    pollfd ready = {out.get(), POLLIN, 0};
    REQUIRE(poll(&ready, 1, 60000) == 1);
    loop::current().add(signalled);
    loop::current().add(stubborn);
    signalled.send_signal(SIGINT);
    reference.end_by({{SIGTERM, 20ms}, {SIGKILL, 0s}}, true);
    std::move(stubborn).detach();
    EXPECT(run(default_mode, 60s) == result::finished);
    EXPECT(first.end == RUNLOOP_CHILD_SIGNALLED && first.status == SIGINT);
    EXPECT(second.end == RUNLOOP_CHILD_SIGNALLED && second.status == SIGKILL);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST("a watch reports its changes") {
    char path[] = "/tmp/runloop-cpp-XXXXXX";
    REQUIRE(mkdtemp(path));
    const std::string file = std::string(path) + "/file";
    std::string told;
    file_watch watch(path, {watch_scope::directory}, [&](source_ref, change_list changes) {
        EXPECT(changes.size() > 0);
        for (const auto &change : changes)
            if (change.kind == RUNLOOP_CHANGE_CREATED) {
                told = change.path;
                loop::current().stop();
            }
    });
    EXPECT_STRING(watch.path(), path);
    loop::current().add(watch);
    descriptor(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    EXPECT(run(default_mode, 60s) == result::stopped);
    EXPECT_STRING(told, file.c_str());
    unlink(file.c_str());
    rmdir(path);
}

TEST("an input of lines gets lines, and an input ends its own descriptor only if that was given") {
    pair sockets;
    const int ours = sockets.ours.get();
    std::vector<std::string> lines;
    {
        auto lent = input::lines(
            ours, {8}, [&](std::string_view line, int error) { lines.push_back(std::string(line) + (error ? "…" : "")); },
            [&](std::string_view, int error) { lines.push_back("end " + std::to_string(error)); });
        loop::current().add(lent);
        sockets.put("a\r\nlonger than eight\nlast");
        sockets.theirs.reset();
        EXPECT(run(default_mode, 60s) == result::finished);
    }
    EXPECT((lines == std::vector<std::string>{"a", "longer t…", "last", "end 0"}));
    EXPECT(is_open(ours));
    {
        auto given = input::bytes(
            std::move(sockets.ours), {}, [](input_ref, std::string_view all) { return all.size(); }, [] {});
        EXPECT(!sockets.ours && is_open(ours));
    }
    EXPECT(!is_open(ours));
    descriptor broken(open("/dev/null", O_WRONLY | O_CLOEXEC));
    EXPECT(error_of([&] {
               input::bytes(
                   std::move(broken), {}, [](std::string_view) { return size_t(0); }, [] {});
           }).find("9 ") == 0);
    EXPECT(broken && is_open(broken.get()));
}

TEST("output that has waited is reported when it was sent, and what can't be sent is an error") {
    pair sockets;
    int drained = -1;
    output out(std::move(sockets.ours), {1 << 20}, [&](output_ref it, int error) {
        EXPECT(it.waiting() == 0);
        drained = error;
        loop::current().stop();
    });
    loop::current().add(out);
    const std::string much(1 << 20, 'x');
    EXPECT_EQ(out.write(much), much.size());
    EXPECT(!out.enqueue(much) && !out.flush());
    size_t count = 0;
    char bytes[65536];
    descriptor_source drain(sockets.theirs.get(), readiness::readable, [&] {
        const ssize_t got = read(sockets.theirs.get(), bytes, sizeof bytes);
        count += got > 0 ? size_t(got) : 0;
    });
    loop::current().add(drain);
    EXPECT(run(default_mode, 60s) == result::stopped);
    EXPECT_EQ(drained, 0);
    EXPECT(out.flush());
    sockets.theirs.reset();
    EXPECT(error_of([&] { out.write("x"); }).find("32 runloop_output_write") == 0);
}

TEST("as many bytes are written at once as a size can count") {
    const size_t count = size_t(3) << 30;
    void *much = mmap(nullptr, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(much != MAP_FAILED);
    output out(descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC)), {}, [] {});
    EXPECT_EQ(out.write({static_cast<const char *>(much), count}), count);
    munmap(much, count);
}

TEST("a listener gets connections, which are made with a name or a path") {
    std::vector<descriptor> accepted;
    int left = 4; // Both sides of two connections, in any order.
    auto end_one = [&] {
        if (--left == 0)
            loop::current().stop();
    };
    listener listener(listen_tcp("127.0.0.1", 0), [&](descriptor connection) {
        accepted.push_back(std::move(connection));
        end_one();
    });
    connect_options options;
    EXPECT(error_of([&] { peer_of(listener.socket()); }).rfind(std::to_string(EAFNOSUPPORT) + " ", 0) == 0);
    pair ends;
    EXPECT(peer_of(ends.ours.get()).pid == getpid() && peer_of(ends.ours.get()).user == geteuid());
    options.host = "127.0.0.1";
    options.port = socket_port(listener.socket());
    options.within = 60s;
    descriptor made;
    connecting first(options, [&](descriptor socket, int error) {
        EXPECT_EQ(error, 0);
        made = std::move(socket);
        end_one();
    });
    options.host = "localhost";
    connecting second(options, [&](connecting_ref it, descriptor, int error) {
        EXPECT(error == 0 && !it.is_valid());
        end_one();
    });
    loop::current().add(listener);
    loop::current().add(first);
    loop::current().add(second);
    EXPECT(run(default_mode, 60s) == result::stopped);
    EXPECT_EQ(accepted.size(), size_t(2));
    EXPECT(made && socket_address(made.get(), true) == "127.0.0.1:" + std::to_string(options.port));
    connecting refused({"", 0, "/no/such/path"}, [&](connecting_ref it, descriptor socket, int error) {
        EXPECT(!socket && error == ENOENT && it.failures().size() == 1);
        EXPECT_STRING(it.failures()[0].address, "/no/such/path");
        loop::current().stop();
    });
    loop::current().add(refused);
    EXPECT(run(default_mode, 60s) == result::stopped);
    EXPECT(error_of([] { connecting({"host", 0}, [] {}); }).find("22 runloop_connect_create") == 0);
}

TEST("a hosted run is served while its descriptor is readable, and ends with its scope") {
    int fired = 0, exits = 0;
    auto timer = timer::every(5ms, [&] { ++fired; });
    observer observer(activity::exit, [&] { ++exits; });
    loop::current().add(timer);
    loop::current().add(observer);
    {
        hosted_run hosted;
        while (fired < 3) {
            pollfd ready = {hosted_run::descriptor(), POLLIN, 0};
            REQUIRE(poll(&ready, 1, 60000) == 1);
            EXPECT(hosted.iterate() == hosted_state::sleeps);
        }
        hosted_run moved(std::move(hosted));
        EXPECT(hosted.has_ended() && !moved.has_ended());
        EXPECT_EQ(exits, 0);
    }
    EXPECT_EQ(exits, 1);
    hosted_run another;
    loop::current().stop();
    EXPECT(another.iterate() == hosted_state::stopped && another.has_ended());
    static const run_loop::mode empty("empty");
    EXPECT(hosted_run(empty).state() == hosted_state::finished);
    EXPECT(error_of([&] { another.iterate(); }).find("22 runloop_hosted_iterate") == 0);
}
