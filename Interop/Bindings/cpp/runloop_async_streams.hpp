// runloop_async_streams.hpp — connections and streams for coroutines. Part of runloop_async.hpp.
#ifndef RUNLOOP_ASYNC_STREAMS_HPP
#define RUNLOOP_ASYNC_STREAMS_HPP
#include <optional>
#include <string>

#include "runloop_streams.hpp"
#include "runloop_task.hpp"

namespace run_loop {
namespace detail {
inline void throw_if(int error, const char *what) {
    if (error)
        throw std::system_error(error, std::generic_category(), what);
}
} // namespace detail

//===-- Connecting ---------------------------------------------------------------------------------------------------===//
/// Why no connection could be made: the error, and that of each attempt.
class connect_error : public std::system_error {
  public:
    connect_error(int error, connecting_ref connecting)
        : std::system_error(error, std::generic_category(), words(connecting)), failures_(connecting.failures()) {}
    const std::vector<runloop_connect_failure> &failures() const noexcept { return failures_; }

  private:
    static std::string words(connecting_ref connecting) {
        std::string words = "connect";
        if (const char *error = connecting.name_error())
            words += std::string(": ") + error;
        for (const auto &failure : connecting.failures())
            words += std::string("; ") + failure.address + ": " + std::generic_category().message(-failure.error);
        return words;
    }
    std::vector<runloop_connect_failure> failures_;
};

namespace detail {

class connect_awaiter {
  public:
    connect_awaiter(const connect_options &options, mode mode)
        : connecting_(options, [this](descriptor socket, int error) { connected(std::move(socket), error); }), mode_(mode) {}
    connect_awaiter(const connect_awaiter &) = delete;
    connect_awaiter &operator=(const connect_awaiter &) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        loop::current().add(connecting_, mode_);
        waiter_.set(waiting);
    }
    descriptor await_resume() {
        if (error_)
            throw connect_error(error_, connecting_);
        return std::move(socket_);
    }

  private:
    void connected(descriptor socket, int error) {
        socket_ = std::move(socket);
        error_ = error;
        waiter_.resume();
    }
    connecting connecting_;
    mode mode_;
    waiter waiter_;
    descriptor socket_;
    int error_ = 0;
};

} // namespace detail

/// `co_await connect(options)`: a descriptor, or a connect_error is thrown. (Name the options: g++ before 13 destroys an aggregate twice that
/// is a temporary of a co_await expression.)
inline detail::connect_awaiter connect(const connect_options &options, mode mode = common_modes) { return {options, mode}; }
/// `co_await connect_tcp("localhost", 80, 5s)`: the same for TCP, with a limit for all of it.
inline detail::connect_awaiter connect_tcp(std::string_view host, uint16_t port, length within = forever) {
    connect_options options;
    options.host = host;
    options.port = port;
    options.within = within;
    return {options, common_modes};
}
/// The same for a Unix socket with a path.
inline detail::connect_awaiter connect_unix(std::string_view path, length within = forever) {
    connect_options options;
    options.path = path;
    options.within = within;
    return {options, common_modes};
}

//===-- Streams ------------------------------------------------------------------------------------------------------===//
/// Writes to a descriptor. Bytes are taken at once as far as the limit allows, and sent by the loop.
class writer {
  public:
    explicit writer(lent_or_given descriptor, output_options options = {}, mode mode = common_modes)
        : output_(std::move(descriptor), options, [this](int error) { ended_waiting(error); }) {
        loop::current().add(output_, mode);
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    output_ref output() const noexcept { return output_; }

    /// Until all bytes are sent or in the buffer. They must live so long. Throws the descriptor's error.
    task<> write(std::string_view bytes) {
        for (;;) {
            bytes.remove_prefix(output_.write(bytes));
            if (bytes.empty())
                co_return;
            co_await drained(*this);
        }
    }
    /// Until nothing waits.
    task<> flush() {
        if (!output_.flush())
            co_await drained(*this);
    }
    /// Until all was sent; then the peer reads an end.
    task<> finish() {
        if (!output_.finish())
            co_await drained(*this);
    }

  private:
    class drained {
      public:
        explicit drained(writer &self) noexcept : self_(self) {}
        drained(const drained &) = delete;
        drained &operator=(const drained &) = delete;
        ~drained() { self_.waiter_.clear(); }
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiting) noexcept { self_.waiter_.set(waiting); }
        void await_resume() const { detail::throw_if(self_.error_, "write"); }

      private:
        writer &self_;
    };
    void ended_waiting(int error) {
        error_ = error;
        waiter_.resume();
    }
    run_loop::output output_;
    detail::waiter waiter_;
    int error_ = 0;
};

/// Reads a descriptor, only while a coroutine waits for it: silence in between is no silence of the peer's.
class reader {
  public:
    explicit reader(lent_or_given descriptor, input_options options = {}, mode mode = common_modes)
        : input_(run_loop::input::bytes(
              std::move(descriptor), options, [this](std::string_view bytes) { return received(bytes); },
              [this](std::string_view rest, int error) { ended(rest, error); })) {
        input_.pause();
        loop::current().add(input_, mode);
    }
    reader(const reader &) = delete;
    reader &operator=(const reader &) = delete;
    input_ref input() const noexcept { return input_; }

    /// `co_await reader.read()`: at least one byte, at most so many; none at the end. Throws the descriptor's error or ETIMEDOUT, once
    /// what came before it was read, and each time; and ENOMEM: what memory did not suffice for is there for the next call, but for what
    /// was left at the end, which is lost.
    auto read(size_t most = 64 * 1024) noexcept { return chunk_awaiter(*this, {unit::some, most}); }
    /// `co_await reader.line()`: a line without its end, or none at the end. Throws what `read` does, and EMSGSIZE if it is longer than
    /// the limit.
    auto line() noexcept { return line_awaiter(*this, {unit::line, 0}); }
    /// `co_await reader.exactly(16)`: so many bytes, at most the limit, or those up to the end.
    auto exactly(size_t count) noexcept { return chunk_awaiter(*this, {unit::exactly, count}); }

  private:
    static constexpr size_t npos = std::string_view::npos;
    enum class unit { some, line, exactly };
    struct wish {
        unit kind;
        size_t count;
        size_t seen = 0;
        /// How many of the bytes are what is wished for; npos: it is not there yet.
        size_t in(std::string_view bytes) noexcept {
            if (kind == unit::line) {
                const size_t end = bytes.find('\n', seen);
                seen = bytes.size();
                return end == npos ? npos : end + 1;
            }
            if (bytes.size() >= count)
                return count;
            return kind == unit::some && !bytes.empty() ? bytes.size() : npos;
        }
    };

    class awaiter {
      public:
        awaiter(reader &self, wish wish) noexcept : self_(self), wish_(wish) {}
        awaiter(const awaiter &) = delete;
        awaiter &operator=(const awaiter &) = delete;
        ~awaiter() {
            if (self_.wish_ != &wish_)
                return;
            self_.wish_ = nullptr;
            self_.waiter_.clear();
            runloop_input_pause(self_.input_.get());
        }
        bool await_ready() noexcept { return self_.has_ended_ || wish_.in({}) == 0; }
        void await_suspend(std::coroutine_handle<> waiting) {
            self_.input_.resume();
            self_.waiter_.set(waiting);
            self_.wish_ = &wish_;
        }

      protected:
        /// What was taken; after the end, what is there of it.
        std::string take() {
            if (!self_.has_ended_) {
                self_.throw_error();
                return std::exchange(self_.taken_, {});
            }
            wish_.seen = 0;
            const size_t count = wish_.in(self_.taken_);
            if (count == npos)
                self_.throw_error();
            std::string piece = self_.taken_.substr(0, count);
            self_.taken_.erase(0, piece.size());
            return piece;
        }

      private:
        reader &self_;
        wish wish_;
    };
    struct chunk_awaiter : awaiter {
        using awaiter::awaiter;
        std::string await_resume() { return take(); }
    };
    struct line_awaiter : awaiter {
        using awaiter::awaiter;
        std::optional<std::string> await_resume() {
            std::string line = take();
            if (line.empty())
                return std::nullopt;
            if (line.back() == '\n')
                line.pop_back();
            if (!line.empty() && line.back() == '\r')
                line.pop_back();
            return line;
        }
    };

    void throw_error() {
        // There may be memory again. Any other error remains.
        detail::throw_if(error_ == ENOMEM ? std::exchange(error_, 0) : error_, "read");
    }
    size_t received(std::string_view bytes) {
        size_t count = wish_ ? wish_->in(bytes) : npos;
        if (count == npos)
            return 0;
        try {
            taken_ = bytes.substr(0, count);
        } catch (const std::bad_alloc &) {
            // Who waits is told, and the next one gets the bytes.
            error_ = ENOMEM;
            count = 0;
        }
        wish_ = nullptr;
        input_.pause();
        waiter_.resume();
        return count;
    }
    void ended(std::string_view rest, int error) {
        has_ended_ = true;
        error_ = error;
        try {
            taken_ = rest;
        } catch (const std::bad_alloc &) {
            // The rest is lost, and who waits is told.
            error_ = error ? error : ENOMEM;
        }
        wish_ = nullptr;
        waiter_.resume();
    }
    run_loop::input input_;
    detail::waiter waiter_;
    wish *wish_ = nullptr; ///< Of the awaiter that waits.
    std::string taken_;    ///< For that awaiter; after the end, what was not consumed.
    int error_ = 0;
    bool has_ended_ = false;
};

/// A socket in both directions: `co_await stream.in.line()`, `co_await stream.out.write("…")`.
class stream {
  public:
    explicit stream(descriptor socket, input_options in_options = {}, output_options out_options = {}, mode mode = common_modes)
        : socket_(std::move(socket)), out(socket_.get(), out_options, mode),
          in(socket_.get(), with_output(in_options, out_options, out), mode) {}
    int socket() const noexcept { return socket_.get(); }

  private:
    static input_options with_output(input_options options, output_options out_options, const writer &out) noexcept {
        if (out_options.idle.ns > 0)
            options.output = out.output().get();
        return options;
    }
    descriptor socket_;

  public:
    writer out;
    reader in;
};

} // namespace run_loop
#endif // RUNLOOP_ASYNC_STREAMS_HPP
