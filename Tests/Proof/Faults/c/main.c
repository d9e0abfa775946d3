// main.c — the scenarios of the C libraries.
#include "faults.h"

int main(int count, char **words) {
    const struct scenario *const groups[] = {core_scenarios,    linux_scenarios,      file_scenarios, stream_scenarios,
                                             message_scenarios, diagnostic_scenarios, cf_scenarios};
    struct fault_plan plan = {
        .size = sizeof plan, .groups = groups, .group_count = sizeof groups / sizeof *groups, .works = fires};
    return !fault_plan_try(&plan, count - 1, words + 1);
}
