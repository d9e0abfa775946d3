// main.cc — the scenarios of the binding to C++.
#include "scenarios.h"

int main(int count, char **words) {
    const scenario *const groups[] = {item_scenarios, linux_scenarios, stream_scenarios, task_scenarios};
    fault_plan plan = {};
    plan.size = sizeof plan, plan.groups = groups, plan.group_count = std::size(groups);
    return !fault_plan_try(&plan, count - 1, words + 1);
}
