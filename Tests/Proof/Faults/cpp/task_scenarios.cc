// task_scenarios.cc — coroutines: sleeps, waits in waits, signals, changes of files, streams, connections, processes.
#include <csignal>

#include "scenarios.h"

using namespace run_loop;

/// How many there are, in frames.
struct counted {
    static int alive;
    counted() {
        ++alive;
    }
    counted(const counted &) = delete;
    counted &operator=(const counted &) = delete;
    ~counted() {
        --alive;
    }
};
int counted::alive;

/// No frame may be left.
template <class Make> static outcome await_it(Make make) {
    const outcome result = attempt([&] { return wait(make()); });
    return counted::alive == 0 ? result : LOST;
}

static task<int> later(int value) {
    const counted here;
    co_await sleep_for(1ms);
    co_return value;
}

static task<int> sum() {
    const int first = co_await later(1);
    co_return first + co_await later(2);
}

static outcome tasks_that_sleep() {
    return await_it([]() -> task<bool> { co_return co_await sum() == 3; });
}

static outcome a_wait_in_a_task() {
    return await_it([]() -> task<bool> { co_return co_await later(1) + wait(later(2)) == 3; });
}

static outcome a_task_that_throws() {
    return await_it([]() -> task<bool> {
        try {
            co_await later(1);
            throw EDOM;
        } catch (int error) {
            co_return error == EDOM;
        }
    });
}

/// The inner wait is stopped, and destroys what it waits for.
static outcome a_task_that_is_destroyed() {
    return await_it([]() -> task<bool> {
        const auto loop = loop::current();
        auto stop = timer::after(1ms, [loop] { loop.stop(); });
        loop.add(stop);
        const int error = error_of([] { wait([]() -> task<> { co_await sleep_for(1h); }()); });
        throw_if(error == EINTR ? 0 : error);
        co_return error == EINTR;
    });
}

static int spawned, spawned_error;

static task<> note_end() {
    const counted here;
    try {
        spawned = co_await later(1);
    } catch (const std::bad_alloc &) {
        spawned_error = ENOMEM;
    } catch (const std::system_error &error) {
        spawned_error = error.code().value();
    }
}

static outcome a_spawned_task() {
    spawned = spawned_error = 0;
    const outcome result = attempt([] {
        spawn(note_end());
        run_until([] { return spawned || spawned_error; });
        throw_if(spawned_error);
        return spawned == 1;
    });
    // One that a failed run has left waits still.
    pause_faults();
    run_until([] { return counted::alive == 0; });
    return counted::alive == 0 ? result : LOST;
}

static task<> note(int &into, int value) {
    into = co_await later(value);
}

static outcome a_scope_that_is_joined() {
    return await_it([]() -> task<bool> {
        int first = 0, second = 0;
        task_scope scope;
        scope.spawn(note(first, 1));
        scope.spawn(note(second, 2));
        co_await scope.join();
        co_return first + second == 3;
    });
}

static task<> sleep_long() {
    const counted here;
    co_await sleep_for(1h);
}

static outcome a_scope_that_is_cancelled() {
    return await_it([]() -> task<bool> {
        task_scope scope;
        scope.spawn(sleep_long());
        scope.spawn([](task_scope &its) -> task<> {
            co_await later(1);
            its.cancel();
        }(scope));
        co_await scope.join();
        co_return counted::alive == 0;
    });
}

static outcome the_first_of_several() {
    return await_it([]() -> task<bool> {
        const auto first = co_await when_any(sleep_long(), later(1), sleep_for(1h));
        co_return first.index() == 1 && std::get<1>(first) == 1;
    });
}

static outcome a_limit() {
    return await_it([]() -> task<bool> {
        bool is_over = false;
        try {
            co_await timeout(sleep_long(), 1ms);
        } catch (const std::system_error &error) {
            throw_if(error.code().value() == ETIMEDOUT ? 0 : error.code().value());
            is_over = true;
        }
        co_return is_over &&co_await timeout(later(3), 60s) == 3;
    });
}

//===-- what they wait for -------------------------------------------------------------------------------------------===//

static outcome awaited_signals() {
    return await_it([]() -> task<bool> {
        signals signals(SIGUSR1);
        own([] { raise(SIGUSR1); });
        const auto first = co_await signals.next();
        auto later = timer::after(1ms, [] { own([] { raise(SIGUSR1); }); });
        loop::current().add(later);
        co_return first.count + (co_await signals.next()).count == 2;
    });
}

static outcome awaited_changes() {
    const folder folder;
    return await_it([&]() -> task<bool> {
        file_changes changes(folder.path(), {watch_scope::directory});
        folder.touch("news whose name is no short text");
        for (const auto &change : co_await changes.next())
            throw_if(change.kind == RUNLOOP_CHANGE_FAILED ? change.error ? change.error : EIO : 0);
        co_return true;
    });
}

#define LONG "a line that is longer than a short text"

/// Each kind of read, of texts that need memory of their own, while they come and after the end.
static outcome streams() {
    ends ends;
    return await_it([&]() -> task<bool> {
        stream ours(std::move(ends.near)), theirs(std::move(ends.far), {.idle = 60s}, {.idle = 60s});
        co_await ours.out.write(LONG "\n" LONG LONG "\n" LONG);
        const auto line = co_await theirs.in.line();
        const auto exact = co_await theirs.in.exactly(strlen(LONG));
        const auto some = co_await theirs.in.read(1000);
        co_await ours.out.write(LONG "\n" LONG);
        co_await ours.out.finish();
        const auto next = co_await theirs.in.line();
        const auto last = co_await theirs.in.line();
        co_return line == LONG &&exact == LONG &&some == LONG "\n" LONG &&next == LONG &&last == LONG &&
            !co_await theirs.in.line();
    });
}

/// Reads all that comes.
class drain {
  public:
    explicit drain(int number)
        : source_(number, readiness::readable, [this, number] {
              static char bytes[1 << 16];
              own([&] { count_ += size_t(std::max(recv(number, bytes, sizeof bytes, 0), ssize_t(0))); });
          }) {
        loop::current().add(source_);
    }
    size_t count() const {
        return count_;
    }

  private:
    size_t count_ = 0;
    descriptor_source source_;
};

/// More than its buffer takes, and the kernel's.
static outcome a_writer_that_waits() {
    static const char much[1 << 20] = {};
    ends ends;
    return await_it([&]() -> task<bool> {
        writer writer(std::move(ends.near), {.limit = 100000});
        const drain drain(ends.far.get());
        co_await writer.write({much, sizeof much});
        co_await writer.flush();
        co_await writer.finish();
        while (drain.count() < sizeof much)
            co_await sleep_for(1ms);
        co_return true;
    });
}

static task<> write_all(writer &writer, std::string_view bytes) {
    co_await writer.write(bytes);
}

/// The second one waits for its turn.
static outcome two_writers() {
    static const char much[1 << 20] = {};
    ends ends;
    return await_it([&]() -> task<bool> {
        writer writer(std::move(ends.near), {.limit = 100000});
        const drain drain(ends.far.get());
        task_scope scope;
        scope.spawn(write_all(writer, {much, sizeof much}));
        scope.spawn(write_all(writer, {much, sizeof much}));
        co_await scope.join();
        co_await writer.finish();
        while (drain.count() < 2 * sizeof much)
            co_await sleep_for(1ms);
        co_return true;
    });
}

static task<bool> meet(acceptor &acceptor, uint16_t port) {
    stream client(co_await connect_tcp("127.0.0.1", port, 60s));
    stream server(co_await acceptor.accept());
    co_await client.out.write("hello\n");
    const auto line = co_await server.in.line();
    co_return line &&*line == "hello";
}

static outcome a_connection() {
    return await_it([]() -> task<bool> {
        acceptor acceptor(listen_tcp("127.0.0.1", 0));
        co_return co_await meet(acceptor, socket_port(acceptor.socket()));
    });
}

static outcome a_connection_that_is_refused() {
    return await_it([]() -> task<bool> {
        try {
            co_await connect_unix("/no/such/path");
        } catch (const connect_error &error) {
            throw_if(error.code().value() == ENOENT ? 0 : error.code().value());
            co_return error.failures().size() == 1;
        }
        co_return false;
    });
}

static task<int> end_of(process &process) {
    const auto exit = co_await process.end();
    // Without an exit status the end itself is what was told.
    throw_if(exit.end == RUNLOOP_CHILD_UNKNOWN ? ECHILD : 0);
    co_return exit.status;
}

static outcome a_process() {
    return await_it([]() -> task<bool> {
        process process({{"/bin/sh", "-c", "exit 3"}});
        co_return co_await end_of(process) == 3;
    });
}

static outcome a_process_with_pipes() {
    return await_it([]() -> task<bool> {
        descriptor to, from;
        child_options options{{"/bin/cat"}};
        options.descriptors = {child_descriptor::input_pipe(0, to), child_descriptor::output_pipe(1, from)};
        process process(options);
        writer writer(std::move(to));
        reader reader(std::move(from));
        co_await writer.write(LONG "\n");
        co_await writer.finish();
        const auto line = co_await reader.line();
        co_return co_await end_of(process) == 0 && line == LONG;
    });
}

const scenario task_scenarios[] = {{"tasks that sleep", tasks_that_sleep, false},
                                   {"a wait in a task", a_wait_in_a_task, false},
                                   {"a task that throws", a_task_that_throws, false},
                                   {"a task that is destroyed", a_task_that_is_destroyed, false},
                                   {"a spawned task", a_spawned_task, false},
                                   {"a scope that is joined", a_scope_that_is_joined, false},
                                   {"a scope that is cancelled", a_scope_that_is_cancelled, false},
                                   {"the first of several", the_first_of_several, false},
                                   {"a limit", a_limit, false},
                                   {"awaited signals", awaited_signals, false},
                                   {"awaited changes", awaited_changes, false},
                                   {"streams", streams, false},
                                   {"a writer that waits", a_writer_that_waits, false},
                                   {"two writers", two_writers, false},
                                   {"a connection", a_connection, false},
                                   {"a connection that is refused", a_connection_that_is_refused, false},
                                   {"a process", a_process, false},
                                   {"a process with pipes", a_process_with_pipes, false},
                                   {}};
