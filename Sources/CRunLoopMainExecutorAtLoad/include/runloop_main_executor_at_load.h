// runloop_main_executor_at_load.h — a program that links this library has the main actor on the main run loop, from before its
// `main`, be it synchronous or async. There is nothing to call.
#ifndef RUNLOOP_MAIN_EXECUTOR_AT_LOAD_H
#define RUNLOOP_MAIN_EXECUTOR_AT_LOAD_H

#endif // RUNLOOP_MAIN_EXECUTOR_AT_LOAD_H
