// runloop_command.hpp — programs that are run to their end in one call. Part of runloop_linux.hpp; what runloop.hpp says of items, closures and
// errors holds here, and what runloop_command.h says of commands.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_COMMAND_HPP
#define RUNLOOP_COMMAND_HPP
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "runloop_process.hpp"

namespace run_loop {

enum class excess {
    drop = RUNLOOP_COMMAND_DROP,   ///< It is read and dropped, so that the program goes on to its end.
    close = RUNLOOP_COMMAND_CLOSE, ///< The pipe is closed: the program is sent SIGPIPE, or gets EPIPE, when it writes more.
};

/// How a program is run. Of its descriptors 0, 1 and 2 those that `child` doesn't list are the command's.
struct command_options {
    child_options child{};
    std::optional<std::string> input{}; ///< Without: /dev/null.
    size_t limit = 1024 * 1024;         ///< How many bytes are kept of each output.
    run_loop::excess excess = run_loop::excess::drop;
    length timeout = clock::duration(0); ///< How long it may run before it is ended, politely at first; 0: for ever.
    /// How long after its end another process may have its pipes before they are cut off.
    length output_limit = std::chrono::seconds(2);
};

/// Whether an output is all that was written.
enum class output_end {
    complete = RUNLOOP_COMMAND_COMPLETE,
    over_limit = RUNLOOP_COMMAND_OVER_LIMIT, ///< There was more than the limit.
    cut_off = RUNLOOP_COMMAND_CUT_OFF,       ///< Another process still had the pipe after the end, and may write more.
};

/// What a program has written to one of its outputs: the first bytes, and how many more were read.
struct command_output {
    std::string bytes;
    uint64_t dropped;
    output_end end;
};

/// What has become of a program.
struct command_result {
    child_exit exit;
    command_output output, error;
    size_t input_left; ///< How much of its input it has not taken.
    bool timed_out;
    bool is_success() const noexcept { return exit.end == RUNLOOP_CHILD_EXITED && exit.status == 0; }
};

namespace detail {

inline command_output copied(const runloop_command_output &output) {
    return {std::string(output.bytes, output.count), output.dropped, output_end(output.end)};
}
inline command_result copied(const runloop_command_result &result) {
    return {result.exit, copied(result.output), copied(result.error), result.input_left, result.timed_out};
}

/// The options in C's terms, which are theirs and valid as long as they are.
struct command_config {
    explicit command_config(const command_options &options) : child(options.child) {
        native.start = child.native;
        native.input = options.input ? options.input->data() : nullptr;
        native.input_count = options.input ? options.input->size() : 0;
        native.limit = options.limit;
        native.excess = runloop_command_excess(options.excess);
        native.timeout_ns = options.timeout.ns;
        // Zero would be the default.
        native.output_limit_ns = options.output_limit.ns == 0 ? 1 : options.output_limit.ns;
    }
    child_config child;
    runloop_command_config native{};
};

} // namespace detail

class command_ref : public source_ref {
  public:
    using source_ref::source_ref;
    int pid() const noexcept { return runloop_command_get_pid(item_); }
    /// Sends the signals with pauses, until it has ended; the result is reported as ever. Throws ESRCH if its end was seen by a loop or it was
    /// reaped, EPERM, EINVAL.
    void end_by(std::initializer_list<child_step> steps, bool of_group = false) const {
        std::vector<runloop_child_step> natives;
        for (const auto &step : steps)
            natives.push_back({step.signal, step.pause.ns});
        check(runloop_command_end_by(item_, natives.data(), natives.size(), of_group), "runloop_command_end_by");
    }
};

/// A program that runs. Destroyed before its end, its pipes are closed, and nobody reaps the process; detached, its loop does all that.
class command : public owner<command_ref> {
  public:
    /// Starts it, in no loop yet: added to one, it is fed, read and reaped there. The closure takes a command_ref and a runloop_command_result,
    /// which is valid during the call, only the latter, or nothing. Throws what a child's start does.
    template <class Closure> static command start(const command_options &options, Closure &&closure) {
        using kind = std::decay_t<Closure>;
        detail::command_config config(options);
        auto kept = detail::kept(std::forward<Closure>(closure));
        config.native.context.info = kept.get();
        config.native.context.release = detail::destroy<kind>;
        config.native.ended = [](runloop_command *item, const runloop_command_result *result, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), command_ref(item), *result);
        };
        runloop_command *started;
        config.child.check(runloop_command_create(&config.native, &started), "runloop_command_create");
        kept.release();
        return command(started);
    }

  private:
    explicit command(runloop_command *started) noexcept : owner(started) {}
};

/// Runs a program to its end, and sleeps meanwhile, without a loop: no closure of the thread's loop is called. Throws what a child's start does.
inline command_result run_command(const command_options &options) {
    detail::command_config config(options);
    runloop_command_result result;
    config.child.check(runloop_command_run(&config.native, &result), "runloop_command_run");
    struct guard {
        runloop_command_result &result;
        ~guard() { runloop_command_result_free(&result); }
    } guard{result};
    return detail::copied(result);
}

} // namespace run_loop
#endif // RUNLOOP_COMMAND_HPP
