// What Offsets.java must print: where the fields are, and the values of constants.
#include "runloop.h"
#include <stdio.h>

#define FIELD(type, field) printf(" " #field " %zu", offsetof(type, field))
#define SIZE(type) printf(" size %zu\n", sizeof(type))
#define CONSTANT(prefix, name) printf(#name " %d\n", (int)prefix##name)

int main(void) {
    printf("runloop_context");
    FIELD(runloop_context, info), FIELD(runloop_context, retain), FIELD(runloop_context, release);
    FIELD(runloop_context, describe), SIZE(runloop_context);
    printf("runloop_timer_config");
    FIELD(runloop_timer_config, order), FIELD(runloop_timer_config, fire_ns), FIELD(runloop_timer_config, interval_ns);
    FIELD(runloop_timer_config, tolerance_ns), FIELD(runloop_timer_config, fire), SIZE(runloop_timer_config);
    printf("runloop_source_config");
    FIELD(runloop_source_config, order), FIELD(runloop_source_config, perform), FIELD(runloop_source_config, schedule);
    FIELD(runloop_source_config, cancel), FIELD(runloop_source_config, equal), SIZE(runloop_source_config);
    printf("runloop_descriptor_config");
    FIELD(runloop_descriptor_config, order), FIELD(runloop_descriptor_config, descriptor);
    FIELD(runloop_descriptor_config, events), FIELD(runloop_descriptor_config, counter);
    FIELD(runloop_descriptor_config, ready), FIELD(runloop_descriptor_config, equal), SIZE(runloop_descriptor_config);
    printf("runloop_observer_config");
    FIELD(runloop_observer_config, order), FIELD(runloop_observer_config, activities);
    FIELD(runloop_observer_config, repeats), FIELD(runloop_observer_config, observe), SIZE(runloop_observer_config);

    const char *results[5] = {[RUNLOOP_RESULT_FINISHED] = "FINISHED",
                              [RUNLOOP_RESULT_STOPPED] = "STOPPED",
                              [RUNLOOP_RESULT_TIMED_OUT] = "TIMED_OUT",
                              [RUNLOOP_RESULT_HANDLED_SOURCE] = "HANDLED_SOURCE"};
    printf("results %s %s %s %s\n", results[1], results[2], results[3], results[4]);
    CONSTANT(RUNLOOP_ACTIVITY_, ENTRY);
    CONSTANT(RUNLOOP_ACTIVITY_, BEFORE_TIMERS);
    CONSTANT(RUNLOOP_ACTIVITY_, BEFORE_SOURCES);
    CONSTANT(RUNLOOP_ACTIVITY_, BEFORE_WAITING);
    CONSTANT(RUNLOOP_ACTIVITY_, AFTER_WAITING);
    CONSTANT(RUNLOOP_ACTIVITY_, EXIT);
    CONSTANT(RUNLOOP_, READABLE);
    CONSTANT(RUNLOOP_, PRIORITY);
    CONSTANT(RUNLOOP_, WRITABLE);
    CONSTANT(RUNLOOP_, ERROR);
    CONSTANT(RUNLOOP_, HANG_UP);
    printf("%s %s\n", RUNLOOP_DEFAULT_MODE, RUNLOOP_COMMON_MODES);
}
