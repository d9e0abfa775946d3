// bridge.h — how Go's closures are known to C: as numbers, runtime/cgo's handles, which travel as `info`.
#ifndef BRIDGE_H
#define BRIDGE_H
#include <runloop.h>

int bridge_timer_create(uintptr_t handle, int64_t after_ns, int64_t interval_ns, int64_t tolerance_ns, int32_t order,
                        runloop_timer **out);
int bridge_source_create(uintptr_t handle, int32_t order, runloop_source **out);
int bridge_descriptor_source_create(uintptr_t handle, int descriptor, runloop_readiness events, int32_t order,
                                    runloop_source **out);
int bridge_observer_create(uintptr_t handle, runloop_activity activities, bool repeats, int32_t order,
                           runloop_observer **out);
int bridge_post(runloop *loop, const char *mode, uintptr_t handle, bool wakes);
int bridge_timer_set_fire_after(runloop_timer *timer, int64_t after_ns);
int64_t bridge_timer_get_remaining(runloop_timer *timer);
#endif // BRIDGE_H
