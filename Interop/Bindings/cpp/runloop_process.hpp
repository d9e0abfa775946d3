// runloop_process.hpp — signals, children and changes of files as sources with closures. Part of runloop_linux.hpp; what runloop.hpp
// says of items, closures and errors holds here, and what runloop_linux.h says of its objects.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_PROCESS_HPP
#define RUNLOOP_PROCESS_HPP
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "runloop.hpp"
#include "runloop_descriptor.hpp"
#include "runloop_linux.h"

namespace run_loop {

//===-- Signals ------------------------------------------------------------------------------------------------------===//
/// What arrived: its number, sender, and how many arrivals it stands for.
using signal_arrival = runloop_signal_arrival;

class signal_ref : public source_ref {
  public:
    using source_ref::source_ref;
    int number() const noexcept { return runloop_signal_get_number(item_); }
    /// False if the signal was left ignored, or this has ended.
    bool is_caught() const noexcept { return runloop_signal_is_caught(item_); }
};

/// A signal that is caught, from the constructor on until the destructor.
class signal_source : public owner<signal_ref> {
  public:
    /// In no loop yet. The closure takes a signal_ref and a signal_arrival, only the latter, or nothing. `force`: also one that is
    /// ignored.
    template <class Closure> signal_source(int number, Closure &&closure, bool force = false) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_signal_config config{};
        config.number = number;
        config.force = force;
        config.receive = [](runloop_signal *item, const runloop_signal_arrival *arrival, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), signal_ref(item), *arrival);
        };
        item_ =
            detail::create(runloop_signal_create, "runloop_signal_create", config, detail::kept(std::forward<Closure>(closure)));
    }
};

//===-- Children -----------------------------------------------------------------------------------------------------===//
/// How a process ended, with its processor time.
using child_exit = runloop_child_exit;

/// A signal of a polite end, and how long the next one waits for its effect.
struct child_step {
    int signal;
    length pause;
};

/// What a descriptor of a child is.
class child_descriptor {
  public:
    static child_descriptor inherited(int number) noexcept { return {{number, RUNLOOP_CHILD_INHERITED, 0, nullptr}}; }
    static child_descriptor null(int number) noexcept { return {{number, RUNLOOP_CHILD_NULL, 0, nullptr}}; }
    /// The child reads what is written to `parent_end`, which must live until the child has been started.
    static child_descriptor input_pipe(int number, descriptor &parent_end) noexcept {
        return {{number, RUNLOOP_CHILD_INPUT_PIPE, 0, parent_end.out()}};
    }
    /// What the child writes is read from `parent_end`.
    static child_descriptor output_pipe(int number, descriptor &parent_end) noexcept {
        return {{number, RUNLOOP_CHILD_OUTPUT_PIPE, 0, parent_end.out()}};
    }
    /// The parent's `from`, which remains the caller's.
    static child_descriptor of(int number, int from) noexcept { return {{number, RUNLOOP_CHILD_DESCRIPTOR, from, nullptr}}; }
    /// The same as the child's `other`: for 2 from 1, what a shell calls 2>&1.
    static child_descriptor same(int number, int other) noexcept { return {{number, RUNLOOP_CHILD_SAME, other, nullptr}}; }

    /// A new terminal in a session of its own, once, whose other side is `parent_end`. Its size is one of the child's options;
    /// runloop_terminal_set_size changes it.
    static child_descriptor terminal(int number, descriptor &parent_end) noexcept {
        return {{number, RUNLOOP_CHILD_TERMINAL, 0, parent_end.out()}};
    }

  private:
    friend struct child_config;
    child_descriptor(runloop_child_descriptor native) noexcept : native_(native) {}
    runloop_child_descriptor native_;
};

/// The program that is started, and what it has.
struct child_options {
    std::vector<std::string> arguments; ///< As of main: at least one.
    /// "NAME=value". Without a value: the parent's.
    std::optional<std::vector<std::string>> environment{};
    std::string program{};                   ///< The file that is executed; empty: the first argument.
    bool searches = true;                    ///< In the parent's PATH, if the program has no slash.
    std::string directory{};                 ///< The working directory; empty: the parent's.
    int group = RUNLOOP_CHILD_PARENTS_GROUP; ///< Or a number, RUNLOOP_CHILD_NEW_GROUP, RUNLOOP_CHILD_NEW_SESSION.
    /// What becomes its controlling terminal, in a new session; in another group of its own, the terminal of the parent's session whose
    /// foreground it has until its end; -1: none.
    int terminal = -1;
    uint16_t terminal_rows = 24, terminal_columns = 80; ///< The size of a new terminal.
    std::vector<child_descriptor> descriptors{}; ///< 0, 1 and 2 are the parent's if they aren't listed; nothing else is open.
    std::vector<runloop_child_limit> limits{};
    int parent_death_signal = 0;  ///< Sent to it when this process ends; 0: none.
    uint64_t ignored_signals = 0; ///< n as bit n - 1.
};

/// The options in C's terms, which are theirs and valid as long as they are.
struct child_config {
    explicit child_config(const child_options &options)
        : arguments(pointers(options.arguments, "argument")),
          environment(pointers(options.environment.value_or(std::vector<std::string>()), "variable")) {
        native.arguments = arguments.data();
        native.environment = options.environment ? environment.data() : nullptr;
        native.program = options.program.empty() ? nullptr : whole(options.program, "program");
        native.searches = options.searches;
        native.directory = options.directory.empty() ? nullptr : whole(options.directory, "directory");
        native.group = options.group;
        native.has_terminal = options.terminal >= 0;
        native.terminal = options.terminal;
        native.terminal_rows = options.terminal_rows;
        native.terminal_columns = options.terminal_columns;
        for (const auto &descriptor : options.descriptors)
            descriptors.push_back(descriptor.native_);
        native.descriptors = descriptors.data();
        native.descriptor_count = descriptors.size();
        native.limits = options.limits.data();
        native.limit_count = options.limits.size();
        native.parent_death_signal = options.parent_death_signal;
        native.ignored_signals = options.ignored_signals;
        native.failed = failed;
        native.failed_size = sizeof failed;
    }
    child_config(const child_config &) = delete;
    child_config &operator=(const child_config &) = delete;
    /// Throws the error of a negative outcome, with what it is about.
    void check(int outcome, const char *call) const {
        if (outcome < 0)
            throw std::system_error(-outcome, std::generic_category(), *failed ? std::string(call) + ": " + failed : call);
    }

    runloop_child_start_config native{};

  private:
    /// C would take what is before a null for all of it.
    static const char *whole(const std::string &text, const std::string &what) {
        if (text.find('\0') != std::string::npos)
            throw std::system_error(EINVAL, std::generic_category(), what + " has a null");
        return text.c_str();
    }
    static std::vector<const char *> pointers(const std::vector<std::string> &texts, const char *what) {
        std::vector<const char *> pointers;
        for (const auto &text : texts)
            pointers.push_back(whole(text, what + (" " + std::to_string(pointers.size()))));
        pointers.push_back(nullptr);
        return pointers;
    }
    std::vector<const char *> arguments, environment;
    std::vector<runloop_child_descriptor> descriptors;
    char failed[4096] = "";
};

class child_ref : public source_ref {
  public:
    using source_ref::source_ref;
    int pid() const noexcept { return runloop_child_get_pid(item_); }
    /// For poll and the like: valid as long as the child's object, and not to be closed.
    int pidfd() const noexcept { return runloop_source_get_descriptor(item_); }
    /// Its end, if that was reported.
    std::optional<child_exit> exit() const noexcept {
        child_exit exit;
        return runloop_child_get_exit(item_, &exit) == 0 ? std::optional(exit) : std::nullopt;
    }
    /// To this process and no other one. Throws ESRCH if it has been reaped, EPERM, EINVAL.
    void send_signal(int number) const { check(runloop_child_send_signal(item_, number), "runloop_child_send_signal"); }
    /// Sends the signals with pauses, until it has ended; the end is reported as ever. `of_group`: to the group that it leads. Throws ESRCH
    /// if its end was seen by a loop or it was reaped, EPERM, EINVAL.
    void end_by(std::initializer_list<child_step> steps, bool of_group = false) const {
        std::vector<runloop_child_step> natives;
        for (const auto &step : steps)
            natives.push_back({step.signal, step.pause.ns});
        check(runloop_child_end_by(item_, natives.data(), natives.size(), of_group), "runloop_child_end_by");
    }
};

/// A process whose end is awaited. Destroyed before, it stops waiting, and nobody reaps the process; detached, its loop does.
class child : public owner<child_ref> {
  public:
    /// Starts a program, and returns when it is executed. In no loop yet: added to one, it is reaped there. The closure takes a child_ref and
    /// a child_exit, only the latter, or nothing. Throws what execve says, with the path: ENOENT, EACCES, …
    template <class Closure> static child start(const child_options &options, Closure &&closure) {
        child_config config(options);
        auto kept = detail::kept(std::forward<Closure>(closure));
        set_closure(config.native.child, *kept);
        runloop_child *started;
        config.check(runloop_child_start(&config.native, &started), "runloop_child_start");
        kept.release();
        return child(started);
    }
    /// A process that somebody else has started. `reaps`: a child of ours for which nobody else waits.
    template <class Closure> child(int pid, bool reaps, Closure &&closure) : owner(nullptr) {
        auto kept = detail::kept(std::forward<Closure>(closure));
        runloop_child_config config{};
        set_closure(config, *kept);
        config.pid = pid;
        config.reaps = reaps;
        item_ = detail::create(runloop_child_create, "runloop_child_create", config, std::move(kept));
    }

  private:
    explicit child(runloop_child *started) noexcept : owner(started) {}
    template <class Closure> static void set_closure(runloop_child_config &config, Closure &closure) noexcept {
        config.context.info = &closure;
        config.context.release = detail::destroy<Closure>;
        config.exited = [](runloop_child *item, const runloop_child_exit *exit, void *info) noexcept {
            detail::call_last(*static_cast<Closure *>(info), child_ref(item), *exit);
        };
    }
};

//===-- Changes of files ---------------------------------------------------------------------------------------------===//
enum class watch_scope {
    file = RUNLOOP_WATCH_FILE,           ///< What has the path, and not what is in it.
    directory = RUNLOOP_WATCH_DIRECTORY, ///< That, and its entries.
    tree = RUNLOOP_WATCH_TREE,           ///< That, and everything below it.
};

/// Changes, as the closure of a watch gets them: at least one. The texts are valid during the call.
struct change_list {
    const runloop_change *first;
    size_t count;
    const runloop_change *begin() const noexcept { return first; }
    const runloop_change *end() const noexcept { return first + count; }
    size_t size() const noexcept { return count; }
};

struct watch_options {
    watch_scope scope = watch_scope::file;
    bool follows_link = false;          ///< To what a symbolic link refers.
    length settle = clock::duration(0); ///< Changes are reported together once nothing was noticed for so long; 0: as they come.
};

/// A path whose changes are reported.
class file_watch : public owner<source_ref> {
  public:
    /// In no loop yet; changes count from now on. The closure takes a source_ref and a change_list, only the latter, or nothing.
    template <class Closure> file_watch(const char *path, watch_options options, Closure &&closure) : owner(nullptr) {
        using kind = std::decay_t<Closure>;
        runloop_watch_config config{};
        config.path = path;
        config.scope = runloop_watch_scope(options.scope);
        config.follows_link = options.follows_link;
        config.settle_ns = options.settle.ns;
        config.changed = [](runloop_watch *item, const runloop_change *changes, size_t count, void *info) noexcept {
            detail::call_last(*static_cast<kind *>(info), source_ref(item), change_list{changes, count});
        };
        item_ = detail::create(runloop_watch_create, "runloop_watch_create", config, detail::kept(std::forward<Closure>(closure)));
    }
    /// As created.
    const char *path() const noexcept { return runloop_watch_get_path(item_); }
};

} // namespace run_loop
#endif // RUNLOOP_PROCESS_HPP
