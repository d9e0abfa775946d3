// runloop_async_streams.hpp — connections and streams for coroutines. Part of runloop_async.hpp.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_ASYNC_STREAMS_HPP
#define RUNLOOP_ASYNC_STREAMS_HPP
#include <optional>
#include <string>

#include "runloop_streams.hpp"
#include "runloop_task.hpp"

namespace run_loop {

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
    connect_awaiter(const connect_options &options, mode mode) : options_(options), mode_(mode) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        throw_if(waiting_ ? EBUSY : 0, "connect");
        connecting_.emplace(options_, [this](descriptor socket, int error) { connected(std::move(socket), error); });
        loop::current().add(*connecting_, mode_);
        waiting_ = waiting;
    }
    descriptor await_resume() {
        if (error_)
            throw connect_error(error_, *connecting_);
        return std::move(socket_);
    }

  private:
    void connected(descriptor socket, int error) {
        socket_ = std::move(socket);
        error_ = error;
        std::exchange(waiting_, nullptr).resume();
    }
    connect_options options_;
    mode mode_;
    std::optional<connecting> connecting_;
    std::coroutine_handle<> waiting_;
    descriptor socket_;
    int error_ = 0;
};

} // namespace detail

/// `co_await connect(options)`: a descriptor, or a connect_error is thrown. A second coroutine that awaits the same object gets EBUSY, and
/// a connection of its own after that. (Name the options: g++ before 13 destroys an aggregate twice that is a temporary of a co_await
/// expression.)
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
/// Writes to a descriptor. Bytes are taken at once as far as the limit allows, and sent by the loop. Any number of coroutines may write, flush
/// and finish: each has its turn once those before it are done, in the order in which they were awaited, so their bytes are never mixed. One that
/// is ended while it writes may have sent a part; the next one goes on after that.
class writer {
  public:
    explicit writer(lent_or_given descriptor, output_options options = {}, mode mode = common_modes)
        : output_(std::move(descriptor), with_mark(options), [this](int error) { ended_waiting(error); }) {
        loop::current().add(output_, mode);
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    output_ref output() const noexcept { return output_; }

    /// Until all bytes are sent or in the buffer. They must live so long. Throws the descriptor's error.
    task<> write(std::string_view bytes) { co_await turn(*this, order::write, bytes); }
    /// Until nothing waits.
    task<> flush() { co_await turn(*this, order::flush); }
    /// Until all was sent; then the peer reads an end.
    task<> finish() { co_await turn(*this, order::finish); }

  private:
    /// Coroutines that wait for space resume while the rest is sent.
    static output_options with_mark(output_options options) noexcept {
        if (options.low_water == 0)
            options.low_water = options.limit / 2;
        return options;
    }
    enum class order { write, flush, finish };
    class turn : public detail::waiter {
      public:
        turn(writer &self, order order, std::string_view bytes = {}) noexcept : self_(self), order_(order), bytes_(bytes) {}
        bool await_ready() { return !self_.turns_ && is_done(); }
        void await_suspend(std::coroutine_handle<> waiting) noexcept { join(self_.turns_, waiting); }
        void await_resume() const {
            if (failure_)
                std::rethrow_exception(failure_);
            detail::throw_if(error_, "write");
        }
        /// Its output was sent up to what `error` says: whether the turn is over.
        bool is_over(int error) noexcept {
            try {
                return (error_ = error) || is_done();
            } catch (...) {
                failure_ = std::current_exception();
                return true;
            }
        }

      private:
        bool is_done() {
            if (order_ != order::write)
                return order_ == order::flush ? self_.output_.flush() : self_.output_.finish();
            bytes_.remove_prefix(self_.output_.write(bytes_));
            return bytes_.empty();
        }
        writer &self_;
        order order_;
        std::string_view bytes_;
        int error_ = 0;
        std::exception_ptr failure_;
    };
    void ended_waiting(int error) {
        turns_.resume_while([error](detail::waiter &first) { return static_cast<turn &>(first).is_over(error); });
    }
    run_loop::output output_;
    detail::waiters turns_;
};

/// Reads a descriptor, only while a coroutine waits for it: silence in between is no silence of the peer's. One coroutine reads at a time: a
/// second one gets EBUSY, since nobody could say which bytes are whose.
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
        /// Before it waits.
        awaiter(awaiter &&) noexcept = default;
        awaiter &operator=(awaiter &&) = delete;
        ~awaiter() {
            if (!waiting_.leave())
                return;
            self_.wish_ = nullptr;
            runloop_input_pause(self_.input_.get());
        }
        bool await_ready() noexcept { return self_.has_ended_ || wish_.in({}) == 0; }
        void await_suspend(std::coroutine_handle<> waiting) {
            detail::throw_if(self_.reading_ ? EBUSY : 0, "read");
            self_.input_.resume();
            waiting_.join(self_.reading_, waiting);
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
        detail::waiter waiting_;
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
            // The coroutine that waits is resumed with the error, and the next one gets the bytes.
            error_ = ENOMEM;
            count = 0;
        }
        wish_ = nullptr;
        input_.pause();
        reading_.take_first().resume();
        return count;
    }
    void ended(std::string_view rest, int error) {
        has_ended_ = true;
        error_ = error;
        try {
            taken_ = rest;
        } catch (const std::bad_alloc &) {
            // The rest is lost, and the coroutine that waits is resumed with the error.
            error_ = error ? error : ENOMEM;
        }
        wish_ = nullptr;
        reading_.take_first().resume();
    }
    run_loop::input input_;
    detail::waiters reading_; ///< The waiting coroutines.
    wish *wish_ = nullptr;    ///< Of the awaiter that waits.
    std::string taken_;       ///< For that awaiter; after the end, what was not consumed.
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
