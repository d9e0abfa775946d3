// scenarios.h — what scenarios in C++ are made of.
#ifndef RUNLOOP_FAULTS_SCENARIOS_H
#define RUNLOOP_FAULTS_SCENARIOS_H

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/socket.h>
#include <unistd.h>

#include <runloop_async.hpp>
#include <runloop_hosted.hpp>
#include <runloop_linux.hpp>

#include "scenario.h"

using namespace std::chrono_literals;

extern const scenario item_scenarios[], linux_scenarios[], stream_scenarios[], task_scenarios[];

/// The test's own: a failure here is a fault of the test.
inline void must(bool condition) {
    if (!condition)
        perror("the scenario's own call failed"), _exit(99);
}

/// What the scenario does itself in between does not fail.
template <class Body> void own(Body &&body) {
    pause_faults();
    body();
    begin_faults();
}

/// What a call-out was told: an errno value, or 0.
inline void throw_if(int error) {
    if (error)
        throw std::system_error(error, std::generic_category());
}

/// The errno value that a call in a call-out throws, or 0.
template <class Body> int error_of(Body &&body) {
    try {
        body();
        return 0;
    } catch (const std::bad_alloc &) {
        return ENOMEM;
    } catch (const std::system_error &error) {
        return error.code().value();
    }
}

/// The body says whether all is as expected, or throws what it was told.
template <class Body> outcome attempt(Body &&body) {
    begin_faults();
    try {
        return body() ? AS_EXPECTED : LOST;
    } catch (const std::bad_alloc &) {
        return told(-ENOMEM);
    } catch (const std::system_error &error) {
        return told(-error.code().value());
    }
}

/// Runs the loop until the condition holds, for three seconds at most.
template <class Condition> void run_until(Condition &&condition, run_loop::mode mode = run_loop::default_mode) {
    const auto end = run_loop::from_now(3s);
    while (!condition() && run_loop::clock::now() < end) {
        if (run_loop::run(mode, 20ms, true) == run_loop::result::finished)
            usleep(1000);
    }
}

/// Two connected sockets, which do not block.
struct ends {
    run_loop::descriptor near, far;
    ends() {
        int numbers[2];
        must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, numbers) == 0);
        near.reset(numbers[0]), far.reset(numbers[1]);
    }
    void put(const char *text) const {
        own([&] { must(write(far.get(), text, strlen(text)) == ssize_t(strlen(text))); });
    }
};

/// A folder, which is removed at the end.
class folder {
  public:
    folder() {
        own([&] { must(mkdtemp(path_)); });
    }
    folder(const folder &) = delete;
    folder &operator=(const folder &) = delete;
    ~folder() {
        own([&] {
            char command[64];
            snprintf(command, sizeof command, "rm -rf '%s'", path_);
            must(system(command) == 0);
        });
    }
    const char *path() const {
        return path_;
    }
    /// Makes or changes a file in it.
    void touch(const char *name) const {
        own([&] {
            char path[128];
            snprintf(path, sizeof path, "%s/%s", path_, name);
            const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
            must(file >= 0 && write(file, "news", 4) == 4);
            close(file);
        });
    }

  private:
    char path_[32] = "/tmp/runloop-faults-XXXXXX";
};

#endif // RUNLOOP_FAULTS_SCENARIOS_H
