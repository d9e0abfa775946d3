// task_scenarios.cc — coroutines: sleeps, streams, connections.
#include "scenarios.h"

using namespace run_loop;

static task<int> later(int value) {
    co_await sleep_for(1ms);
    co_return value;
}

static task<int> sum() {
    const int first = co_await later(1);
    co_return first + co_await later(2);
}

static outcome tasks_that_sleep() {
    return attempt([] { return wait(sum()) == 3; });
}

static task<bool> talk(descriptor &near, descriptor &far) {
    stream ours(std::move(near)), theirs(std::move(far));
    co_await ours.out.write("hello\n");
    co_await ours.out.finish();
    const auto line = co_await theirs.in.line();
    co_return line &&*line == "hello";
}

static outcome streams() {
    ends ends;
    return attempt([&] { return wait(talk(ends.near, ends.far)); });
}

static task<bool> meet(acceptor &acceptor, uint16_t port) {
    stream client(co_await connect_tcp("127.0.0.1", port, 60s));
    stream server(co_await acceptor.accept());
    co_await client.out.write("hello\n");
    const auto line = co_await server.in.line();
    co_return line &&*line == "hello";
}

static outcome a_connection() {
    return attempt([] {
        acceptor acceptor(listen_tcp("127.0.0.1", 0));
        return wait(meet(acceptor, socket_port(acceptor.socket())));
    });
}

static task<int> end_of(process &process) {
    const auto exit = co_await process.end();
    // Without an exit status the end itself is what was told.
    if (exit.end == RUNLOOP_CHILD_UNKNOWN)
        throw std::system_error(ECHILD, std::generic_category());
    co_return exit.status;
}

static outcome a_process() {
    return attempt([] {
        process process({{"/bin/sh", "-c", "exit 3"}});
        return wait(end_of(process)) == 3;
    });
}

const scenario task_scenarios[] = {{"tasks that sleep", tasks_that_sleep, false},
                                   {"streams", streams, false},
                                   {"a connection", a_connection, false},
                                   {"a process", a_process, false},
                                   {}};
