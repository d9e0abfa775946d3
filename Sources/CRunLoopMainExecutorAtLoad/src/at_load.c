// at_load.c — the runtime takes a main executor only before it has chosen one, which an async `main` makes it do before its first
// statement. So this runs when the program is loaded.

#include "runloop_main_executor_at_load.h"

/// MainLoopExecutor.swift
extern void runloop_install_main_executor(void);

__attribute__((constructor)) static void install(void) {
    runloop_install_main_executor();
}
