// linux_scenarios.cc — signals, children, changes of files, inputs and outputs.
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

static outcome a_started_child() {
    return attempt([] {
        descriptor out;
        child_options options{{"/bin/sh", "-c", "exit 3"}};
        options.descriptors = {child_descriptor::null(0), child_descriptor::output_pipe(1, out)};
        child_exit last{};
        bool has_ended = false;
        auto child = child::start(options, [&](child_exit exit) { last = exit, has_ended = true; });
        try {
            loop::current().add(child);
        } catch (...) {
            own([&] { must(kill(child.pid(), SIGKILL) == 0 && waitpid(child.pid(), nullptr, 0) > 0); });
            throw;
        }
        run_until([&] { return has_ended; });
        // Without an exit status the end itself is what was told.
        if (last.end == RUNLOOP_CHILD_UNKNOWN && has_ended)
            throw std::system_error(ECHILD, std::generic_category());
        return has_ended && last.status == 3;
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
        if (!changes && error)
            throw std::system_error(error, std::generic_category());
        return changes > 0;
    });
    close(file);
    unlink(path);
    return result;
}

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
        if (error)
            throw std::system_error(error, std::generic_category());
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
        if (error)
            throw std::system_error(error, std::generic_category());
        return count == 5;
    });
}

const scenario linux_scenarios[] = {{"a signal", a_signal, false},
                                    {"a started child", a_started_child, false},
                                    {"changes of a file", changes_of_a_file, false},
                                    {"lines of a socket", lines_of_a_socket, false},
                                    {"an output", an_output, false},
                                    {}};
