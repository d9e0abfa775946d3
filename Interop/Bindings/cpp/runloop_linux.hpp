// runloop_linux.hpp — librunloop-linux in C++17: signals, children, changes of files, input, output, listeners and connections as items
// with closures. `make install` installs it beside runloop_linux.h. Coroutines on top of it are in runloop_async.hpp.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_LINUX_HPP
#define RUNLOOP_LINUX_HPP
#include "runloop_command.hpp"
#include "runloop_descriptor.hpp"
#include "runloop_process.hpp"
#include "runloop_streams.hpp"
#endif // RUNLOOP_LINUX_HPP
