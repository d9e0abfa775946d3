// linux_scenarios.cc — signals, children, changes of files.
#include <csignal>
#include <sys/wait.h>

#include "scenarios.h"

using namespace run_loop;

static outcome a_signal() {
    return attempt([] {
        int count = 0;
        signal_source source(SIGUSR1, [&] { ++count; });
        loop::current().add(source);
        own([] { raise(SIGUSR1); });
        run_until([&] { return count == 1; });
        return count == 1;
    });
}

/// Without an exit status the end itself is what was told.
static bool has_ended_with(const std::optional<child_exit> &exit, int status) {
    throw_if(exit && exit->end == RUNLOOP_CHILD_UNKNOWN ? ECHILD : 0);
    return exit && exit->status == status;
}

/// A process that ends with 3 once the other end of its pipe is closed.
static pid_t fork_child(descriptor &end) {
    int ends[2];
    must(pipe2(ends, O_CLOEXEC) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        char byte;
        _exit(read(ends[0], &byte, 1) == 0 ? 3 : 4);
    }
    must(pid > 0);
    leave_alone(pid);
    close(ends[0]);
    end.reset(ends[1]);
    return pid;
}

static outcome a_child_of_somebody_else() {
    descriptor end;
    const pid_t pid = fork_child(end);
    bool is_awaited = false;
    const outcome result = attempt([&] {
        std::optional<child_exit> last;
        child child(pid, true, [&](child_exit exit) { last = exit; });
        loop::current().add(child);
        is_awaited = true;
        end.reset();
        run_until([&] { return last.has_value(); });
        return has_ended_with(last, 3);
    });
    pause_faults();
    end.reset();
    if (!is_awaited)
        waitpid(pid, nullptr, 0);
    return result;
}

static outcome a_child_that_is_ended() {
    return attempt([] {
        child_options options{{"/bin/sh", "-c", "exec sleep 60"}};
        options.group = RUNLOOP_CHILD_NEW_GROUP;
        options.environment = {{"PATH", "NAME=value"}};
        std::optional<child_exit> last;
        auto child = child::start(options, [&](child_exit exit) { last = exit; });
        try {
            loop::current().add(child);
            child.end_by({{SIGTERM, 0s}}, true);
        } catch (...) {
            own([&] { must(kill(-child.pid(), SIGKILL) == 0 && waitpid(child.pid(), nullptr, 0) > 0); });
            throw;
        }
        run_until([&] { return last.has_value(); });
        return has_ended_with(last, SIGTERM);
    });
}

static outcome a_started_child() {
    return attempt([] {
        descriptor out;
        child_options options{{"/bin/sh", "-c", "exit 3"}};
        options.descriptors = {child_descriptor::null(0), child_descriptor::output_pipe(1, out)};
        std::optional<child_exit> last;
        auto child = child::start(options, [&](child_exit exit) { last = exit; });
        try {
            loop::current().add(child);
        } catch (...) {
            own([&] { must(kill(child.pid(), SIGKILL) == 0 && waitpid(child.pid(), nullptr, 0) > 0); });
            throw;
        }
        run_until([&] { return last.has_value(); });
        return has_ended_with(last, 3);
    });
}

static outcome changes_of_a_file() {
    char path[] = "/tmp/runloop-faults-XXXXXX";
    const int file = mkstemp(path);
    must(file >= 0);
    const outcome result = attempt([&] {
        int changes = 0, error = 0;
        file_watch watch(path, {}, [&](source_ref, change_list list) {
            for (const auto &change : list)
                change.kind == RUNLOOP_CHANGE_FAILED ? error = -change.error : ++changes;
        });
        loop::current().add(watch);
        own([&] { must(write(file, "x", 1) == 1); });
        run_until([&] { return changes > 0 || error; });
        throw_if(changes ? 0 : error);
        return changes > 0;
    });
    close(file);
    unlink(path);
    return result;
}

static outcome changes_of_a_tree() {
    const folder folder;
    return attempt([&] {
        int changes = 0, error = 0;
        file_watch watch(folder.path(), {watch_scope::tree}, [&](change_list list) {
            for (const auto &change : list)
                change.kind == RUNLOOP_CHANGE_FAILED ? error = change.error ? -change.error : EIO : ++changes;
        });
        loop::current().add(watch);
        folder.touch("news");
        run_until([&] { return changes > 0 || error; });
        throw_if(changes ? 0 : error);
        return changes > 0;
    });
}

const scenario linux_scenarios[] = {{"a signal", a_signal, false},
                                    {"a child of somebody else", a_child_of_somebody_else, false},
                                    {"a started child", a_started_child, false},
                                    {"a child that is ended", a_child_that_is_ended, false},
                                    {"changes of a file", changes_of_a_file, false},
                                    {"changes of a tree", changes_of_a_tree, false},
                                    {}};
