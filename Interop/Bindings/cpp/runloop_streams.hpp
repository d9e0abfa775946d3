// runloop_streams.hpp — input, output, listeners and connections as sources with closures. Part of runloop_linux.hpp; what runloop.hpp
// says of items, closures and errors holds here, and what runloop_linux.h says of its objects.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_STREAMS_HPP
#define RUNLOOP_STREAMS_HPP
#include <string>
#include <string_view>
#include <vector>

#include "runloop.hpp"
#include "runloop_descriptor.hpp"
#include "runloop_linux.h"

namespace run_loop {

//===-- Output -------------------------------------------------------------------------------------------------------===//
struct output_options {
    size_t limit = 64 * 1024;         ///< How many bytes may wait.
    length idle = clock::duration(0); ///< How long waiting output may not move before it ends with ETIMEDOUT; 0: for ever.
    bool resets = false;              ///< A connection that ends before its output was finished is reset.
    /// The closure is called as well when what waits has fallen to so many bytes and a call was refused some; 0: only when all was sent.
    size_t low_water = 0;
};

class output_ref : public source_ref {
  public:
    using source_ref::source_ref;
    /// As much as the kernel and the buffer take; if that is not all, the closure is called when it is time to go on. Throws the descriptor's error.
    size_t write(std::string_view bytes) const {
        const ptrdiff_t count = runloop_output_write(item_, bytes.data(), bytes.size());
        return count == -EAGAIN ? 0 : size_t(check(count, "runloop_output_write"));
    }
    /// All or, for want of space, nothing: then it is false.
    bool enqueue(std::string_view bytes) const {
        return is_done(runloop_output_enqueue(item_, bytes.data(), bytes.size()), "runloop_output_enqueue");
    }
    /// Sends what waits, as far as the kernel takes it: whether nothing waits now.
    bool flush() const { return is_done(runloop_output_flush(item_), "runloop_output_flush"); }
    /// Takes no more, and ends the output once all was sent. Whether that is now.
    bool finish() const { return is_done(runloop_output_finish(item_), "runloop_output_finish"); }
    size_t waiting() const noexcept { return runloop_output_get_waiting(item_); }
    /// By when all that waits has to be sent, however much moves until then; `never`: by no instant.
    void set_deadline(clock::time_point deadline) const {
        check(runloop_output_set_deadline(item_, deadline.time_since_epoch().count()), "runloop_output_set_deadline");
    }

  private:
    static bool is_done(int outcome, const char *function) { return outcome != -EAGAIN && check(outcome, function) == 0; }
};

/// A descriptor that is written to, and the bytes that wait for it, which are dropped at its end.
class output : public owner<output_ref> {
  public:
    /// In no loop yet. The closure takes an output_ref and an errno value, only the latter, or nothing: output has waited, and all was sent
    /// (0), or can't be.
    template <class Closure> output(lent_or_given descriptor, output_options options, Closure &&drained) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_output_config config{};
        config.descriptor = descriptor.number();
        config.owns = descriptor.is_given();
        config.limit = options.limit;
        config.loop = runloop_current();
        config.idle_ns = options.idle.ns;
        config.resets = options.resets;
        config.low_water = options.low_water;
        config.drained = [](runloop_output *item, int error, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), output_ref(item), -error);
        };
        item_ =
            detail::create(runloop_output_create, "runloop_output_create", config, detail::kept(std::forward<Closure>(drained)));
        descriptor.taken();
    }
};

//===-- Input --------------------------------------------------------------------------------------------------------===//
struct input_options {
    size_t limit = 64 * 1024;            ///< The longest line, or the most bytes that are kept.
    length idle = clock::duration(0);    ///< How long nothing may arrive before it ends with ETIMEDOUT; 0: for ever.
    length message = clock::duration(0); ///< How long a line or message that has begun may take; 0: for ever.
    runloop_output *output = nullptr;    ///< What the other direction moves postpones the idle limit: its `get()`.
};

class input_ref : public source_ref {
  public:
    using source_ref::source_ref;
    /// Reads nothing and calls nothing, until it is resumed; twice is once. Throws EINVAL after the end.
    void pause() const { check(runloop_input_pause(item_), "runloop_input_pause"); }
    /// Goes on, with what was kept.
    void resume() const { check(runloop_input_resume(item_), "runloop_input_resume"); }
    bool is_paused() const noexcept { return runloop_input_is_paused(item_); }
    /// When it ends with ETIMEDOUT, whatever arrives; `never`: not at all.
    void set_deadline(clock::time_point deadline) const {
        check(runloop_input_set_deadline(item_, deadline.time_since_epoch().count()), "runloop_input_set_deadline");
    }
};

/// A descriptor that is read, and the bytes that are not consumed yet.
class input : public owner<input_ref> {
  public:
    /// In no loop yet. `received` is called with all bytes that are not consumed yet, as std::string_view, and returns how many are now, from
    /// the beginning; before them it may take an input_ref. `ended` takes what was not consumed and an errno value (0: the end),
    /// only the latter, or nothing.
    template <class Received, class Ended>
    static input bytes(lent_or_given descriptor, input_options options, Received &&received, Ended &&ended) {
        using kind = closures<std::decay_t<Received>, std::decay_t<Ended>>;
        runloop_input_config config{};
        config.received = [](runloop_input *item, const char *bytes, size_t count, void *info) noexcept -> size_t {
            auto &closure = static_cast<kind *>(info)->received;
            if constexpr (std::is_invocable_v<decltype(closure), input_ref, std::string_view>)
                return closure(input_ref(item), std::string_view(bytes, count));
            else
                return closure(std::string_view(bytes, count));
        };
        return input(descriptor, options, config,
                     std::make_unique<kind>(kind{std::forward<Received>(received), std::forward<Ended>(ended)}));
    }
    /// The same for lines, without their ends. `received` takes the line and an errno value: 0, or EMSGSIZE for the beginning of a line that is
    /// longer than the limit; before them it may take an input_ref.
    template <class Received, class Ended>
    static input lines(lent_or_given descriptor, input_options options, Received &&received, Ended &&ended) {
        using kind = closures<std::decay_t<Received>, std::decay_t<Ended>>;
        runloop_input_config config{};
        config.received_line = [](runloop_input *item, const char *line, size_t count, int error, void *info) noexcept {
            detail::call_last(static_cast<kind *>(info)->received, input_ref(item), std::string_view(line, count), -error);
        };
        return input(descriptor, options, config,
                     std::make_unique<kind>(kind{std::forward<Received>(received), std::forward<Ended>(ended)}));
    }

  private:
    template <class Received, class Ended> struct closures {
        Received received;
        Ended ended;
    };
    template <class Closures>
    input(lent_or_given descriptor, input_options options, runloop_input_config &config, std::unique_ptr<Closures> kept)
        : owner(nullptr) {
        config.descriptor = descriptor.number();
        config.owns = descriptor.is_given();
        config.limit = options.limit;
        config.loop = runloop_current();
        config.idle_ns = options.idle.ns;
        config.message_ns = options.message.ns;
        config.output = options.output;
        config.ended = [](runloop_input *, int error, const char *rest, size_t count, void *info) noexcept {
            detail::call_last(static_cast<Closures *>(info)->ended, std::string_view(rest, count), -error);
        };
        item_ = detail::create(runloop_input_create, "runloop_input_create", config, std::move(kept));
        descriptor.taken();
    }
};

//===-- Listeners ----------------------------------------------------------------------------------------------------===//
/// A listening socket. `address` is a number: "127.0.0.1", "::". `port` 0: the kernel chooses one.
inline descriptor listen_tcp(const char *address, uint16_t port, int backlog = 0) {
    return descriptor(check(runloop_listen_tcp(address, port, backlog), "runloop_listen_tcp"));
}
/// With a path, whose permissions are `mode`.
inline descriptor listen_unix(const char *path, uint32_t mode = 0600, int backlog = 0) {
    return descriptor(check(runloop_listen_unix(path, mode, backlog), "runloop_listen_unix"));
}
inline descriptor listen_abstract(const char *name, int backlog = 0) {
    return descriptor(check(runloop_listen_abstract(name, backlog), "runloop_listen_abstract"));
}
/// The port of a TCP socket, its own or its peer's.
inline uint16_t socket_port(int socket, bool of_peer = false) {
    return uint16_t(check(runloop_socket_get_port(socket, of_peer), "runloop_socket_get_port"));
}
/// "127.0.0.1:80", "[::1]:80", "/run/x", "@abstract" or "".
inline std::string socket_address(int socket, bool of_peer = false) {
    char text[128];
    return std::string(text,
                       size_t(check(runloop_socket_get_address(socket, of_peer, text, sizeof text), "runloop_socket_get_address")));
}

/// The process at the other end of a Unix socket.
struct socket_peer {
    pid_t pid;  ///< At that time; 0: unknown.
    uid_t user; ///< What to decide by.
    gid_t group;
    descriptor process; ///< A pidfd; none before Linux 6.5, and if it was reaped.
};
/// Throws EAFNOSUPPORT for another socket.
inline socket_peer peer_of(int socket) {
    runloop_peer peer;
    check(runloop_socket_get_peer(socket, &peer), "runloop_socket_get_peer");
    return {peer.pid, peer.uid, peer.gid, descriptor(peer.pidfd)};
}

struct listener_options {
    bool removes_path = false; ///< Of a Unix socket, at the end.
    bool resets = false;       ///< Each connection is reset when it is closed.
    uint32_t budget = 0;       ///< How many connections are accepted before something else has its turn; 0 is 16.
};

/// A socket whose connections are accepted.
class listener : public owner<source_ref> {
  public:
    /// In no loop yet. `accepted` is called with a descriptor for each connection, non-blocking. `paused` takes an errno value: descriptors or
    /// memory have run out, and 0 when a connection was accepted again; any other value is final.
    template <class Accepted, class Paused>
    listener(lent_or_given socket, listener_options options, Accepted &&accepted, Paused &&paused) : owner(nullptr) {
        struct kind {
            std::decay_t<Accepted> accepted;
            std::decay_t<Paused> paused;
        };
        runloop_listener_config config{};
        config.descriptor = socket.number();
        config.owns = socket.is_given();
        config.removes_path = options.removes_path;
        config.resets = options.resets;
        config.budget = options.budget;
        config.accepted = [](runloop_listener *, int connection, void *info) noexcept {
            static_cast<kind *>(info)->accepted(descriptor(connection));
        };
        config.paused = [](runloop_listener *, int error, void *info) noexcept { static_cast<kind *>(info)->paused(-error); };
        item_ = detail::create(runloop_listener_create, "runloop_listener_create", config,
                               std::make_unique<kind>(kind{std::forward<Accepted>(accepted), std::forward<Paused>(paused)}));
        socket.taken();
    }
    template <class Accepted> listener(lent_or_given socket, Accepted &&accepted)
        : listener(std::move(socket), {}, std::forward<Accepted>(accepted), [](int) {}) {}
    int socket() const noexcept { return runloop_source_get_descriptor(item_); }
};

//===-- Connecting ---------------------------------------------------------------------------------------------------===//
/// Where to: exactly one of host, path and abstract_name is not empty. The rest is for TCP, as in runloop_connect.h.
struct connect_options {
    std::string host{}; ///< A number, or a name, which is looked up.
    uint16_t port = 0;
    std::string path{};
    std::string abstract_name{};
    length within = forever; ///< For all of it, look-up and attempts.
    std::string local_address{};
    std::string interface {};
    length keepalive_idle = clock::duration(0), keepalive_interval = clock::duration(0);
    uint32_t keepalive_count = 0;
    length user_timeout = clock::duration(0);
    bool delays = false;
    bool resets = false;
};

class connecting_ref : public source_ref {
  public:
    using source_ref::source_ref;
    /// The attempts that have failed so far, in their order.
    std::vector<runloop_connect_failure> failures() const {
        std::vector<runloop_connect_failure> failures(runloop_connect_get_failures(item_, nullptr, 0));
        const size_t count = runloop_connect_get_failures(item_, failures.data(), failures.size());
        failures.resize(count < failures.size() ? count : failures.size());
        return failures;
    }
    /// Why the look-up has failed, in the words of the C library, or nullptr.
    const char *name_error() const noexcept { return runloop_connect_get_name_error(item_); }
};

/// A connection that is being made. Destroying it closes its sockets at once.
class connecting : public owner<connecting_ref> {
  public:
    /// In no loop yet. The closure is called once, with a connecting_ref, a socket and an errno value, or the last ones of these: the
    /// socket is connected and non-blocking, and the value 0; otherwise it holds no descriptor.
    template <class Closure> connecting(const connect_options &options, Closure &&connected) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_connect_config config{};
        config.host = text(options.host);
        config.port = options.port;
        config.path = text(options.path);
        config.abstract_name = text(options.abstract_name);
        config.deadline_ns = from_now(options.within).time_since_epoch().count();
        config.local_address = text(options.local_address);
        config.interface = text(options.interface);
        config.keepalive_idle_ns = options.keepalive_idle.ns;
        config.keepalive_interval_ns = options.keepalive_interval.ns;
        config.keepalive_count = options.keepalive_count;
        config.user_timeout_ns = options.user_timeout.ns;
        config.delays = options.delays;
        config.resets = options.resets;
        config.connected = [](runloop_connect *item, int socket, int error, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), connecting_ref(item), descriptor(socket), -error);
        };
        item_ = detail::create(runloop_connect_create, "runloop_connect_create", config,
                               detail::kept(std::forward<Closure>(connected)));
    }

  private:
    static const char *text(const std::string &text) noexcept { return text.empty() ? nullptr : text.c_str(); }
};

} // namespace run_loop
#endif // RUNLOOP_STREAMS_HPP
