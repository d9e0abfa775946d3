// stream_scenarios.cc — inputs, outputs, listeners, connections.
#include <sys/uio.h>

#include "scenarios.h"

using namespace run_loop;

static outcome lines_of_a_socket() {
    ends ends;
    return attempt([&] {
        int lines = 0, error = 0;
        bool has_ended = false;
        auto input = input::lines(
            std::move(ends.near), {}, [&](std::string_view line, int) { lines += line == "hello"; },
            [&](std::string_view, int ended) { error = ended, has_ended = true; });
        loop::current().add(input);
        ends.put("hello\nhello\n");
        ends.far.reset();
        run_until([&] { return has_ended; });
        throw_if(error);
        return has_ended && lines == 2;
    });
}

static outcome an_output() {
    ends ends;
    return attempt([&] {
        int error = 0;
        bool is_drained = false;
        output output(std::move(ends.near), {}, [&](int result) { error = result, is_drained = true; });
        loop::current().add(output);
        output.write("hello");
        output.finish();
        char bytes[8];
        ssize_t count = 0;
        run_until([&] {
            own([&] { count = recv(ends.far.get(), bytes, sizeof bytes, MSG_DONTWAIT); });
            return count >= 0 || is_drained;
        });
        throw_if(error);
        return count == 5;
    });
}

/// Pieces that are consumed when all has come, from an input with limits, which rests once.
static outcome bytes_of_a_socket() {
    ends ends;
    return attempt([&] {
        size_t count = 0;
        int error = 0;
        bool has_ended = false;
        auto input = input::bytes(
            std::move(ends.near), {1000, 60s, 60s},
            [&](input_ref, std::string_view bytes) { return bytes.size() < 10 ? 0 : (count = bytes.size()); },
            [&](int ended) { error = ended, has_ended = true; });
        loop::current().add(input);
        ends.put("hello");
        run(default_mode, 1ms, true);
        if (!has_ended)
            input.pause(), input.set_deadline(from_now(60s)), input.resume();
        if (!has_ended)
            ends.put("hello");
        run_until([&] { return count || has_ended; });
        ends.far.reset();
        run_until([&] { return has_ended; });
        throw_if(error);
        return has_ended && count == 10;
    });
}

/// Takes what has come, by a call that does not fail here: how much.
static size_t take(const descriptor &from) {
    static char bytes[1 << 16];
    const iovec whole = {bytes, sizeof bytes};
    size_t sum = 0;
    for (ssize_t count; (count = readv(from.get(), &whole, 1)) > 0;)
        sum += size_t(count);
    return sum;
}

/// All of it is sent, piece by piece: what was not taken once the output has said that it goes on.
static outcome an_output_that_waits() {
    static const char much[1 << 20] = {};
    ends ends;
    return attempt([&] {
        std::string_view rest(much, sizeof much);
        int error = 0;
        bool goes_on = true;
        output output(std::move(ends.near), {sizeof much / 4, 60s},
                      [&](output_ref, int result) { error = result, goes_on = true; });
        loop::current().add(output);
        output.set_deadline(from_now(60s));
        size_t sum = 0;
        for (const auto end = from_now(3s); sum < sizeof much && !error && run_loop::clock::now() < end;
             sum += take(ends.far)) {
            while (goes_on && !rest.empty()) {
                const size_t count = output.write(rest);
                goes_on = count == rest.size();
                rest.remove_prefix(count);
            }
            run(default_mode, 1ms, true);
        }
        throw_if(error);
        return sum == sizeof much && output.flush();
    });
}

/// The loop accepts a connection to the socket.
static bool meet(descriptor socket, connect_options options) {
    int accepted = 0, error = 0;
    bool has_tried = false;
    descriptor made;
    listener listener(
        std::move(socket), {!options.path.empty()}, [&](descriptor) { ++accepted; },
        [&](int paused) { error = paused ? paused : error; });
    loop::current().add(listener);
    options.within = 2s;
    connecting connecting(options, [&](descriptor connected, int failed) {
        error = failed ? failed : error;
        made = std::move(connected);
        has_tried = true;
    });
    loop::current().add(connecting);
    run_until([&] { return has_tried && (accepted == 1 || error); });
    if (accepted == 1 && made)
        return true;
    throw_if(error);
    return false;
}

static outcome a_connection_by_tcp() {
    return attempt([] {
        auto socket = listen_tcp("127.0.0.1", 0);
        connect_options options;
        options.host = "127.0.0.1";
        options.port = socket_port(socket.get());
        return meet(std::move(socket), options);
    });
}

static outcome a_connection_by_path() {
    const folder folder;
    return attempt([&] {
        connect_options options;
        options.path = folder.path();
        options.path += "/socket";
        auto socket = listen_unix(options.path.c_str());
        return socket_address(socket.get()) == options.path && meet(std::move(socket), options);
    });
}

static outcome a_refused_connection() {
    return attempt([] {
        connect_options options;
        options.path = "/no/such/path";
        int error = 0;
        connecting connecting(options,
                              [&](connecting_ref, descriptor socket, int failed) { error = socket ? -1 : failed; });
        loop::current().add(connecting);
        run_until([&] { return error; });
        throw_if(error == ENOENT || error == -1 ? 0 : error);
        return error == ENOENT && connecting.failures().size() == 1;
    });
}

const scenario stream_scenarios[] = {{"lines of a socket", lines_of_a_socket, false},
                                     {"bytes of a socket", bytes_of_a_socket, false},
                                     {"an output", an_output, false},
                                     {"an output that waits", an_output_that_waits, false},
                                     {"a connection by TCP", a_connection_by_tcp, false},
                                     {"a connection by path", a_connection_by_path, false},
                                     {"a refused connection", a_refused_connection, false},
                                     {}};
