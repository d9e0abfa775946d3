// pair.h — what linux_test.cc and async_test.cc share.
#ifndef PAIR_H
#define PAIR_H
#include <runloop_descriptor.hpp>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "../../../../Tests/Core/test.h"

/// EXPECT_TEXT, of what may be a temporary.
#define EXPECT_STRING(actual, expected)                                                                                            \
    do {                                                                                                                           \
        const std::string test_string = (actual);                                                                                  \
        EXPECT_TEXT(test_string.c_str(), expected);                                                                                \
    } while (0)

/// Two connected sockets, both non-blocking.
struct pair {
    run_loop::descriptor ours, theirs;
    pair() {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
        ours.reset(ends[0]);
        theirs.reset(ends[1]);
    }
    void put(std::string_view text) const { REQUIRE(write(theirs.get(), text.data(), text.size()) == ssize_t(text.size())); }
};

#endif // PAIR_H
