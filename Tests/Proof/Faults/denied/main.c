// main.c — the scenarios of the C libraries where calls are refused and things are lacking. `denied --list` prints their names, `--calls` the calls
// that are refused and `--spared` those that are not; `--most N` refuses so many calls of a kind in each scenario, one after the other.
#include "../documented.h"
#include "denied.h"

static const struct scenario *const groups[] = {core_scenarios,   linux_scenarios,   file_scenarios,
                                                stream_scenarios, message_scenarios, diagnostic_scenarios,
                                                cf_scenarios,     denied_scenarios};
enum { GROUPS = sizeof groups / sizeof *groups };

/// Is the list of the structure's errors one that ends with all that the kernel may have?
static bool is_open_list(const char *structure) {
    return strcmp(structure, "runloop_connect_config") == 0 || strcmp(structure, "runloop_listener_config") == 0 ||
           strcmp(structure, "runloop_output_config") == 0 || strcmp(structure, "runloop_output_write") == 0;
}

static bool is_documented(const char *function, int error, int refusal) {
    // Of the program that was started, of the C library, and of what says no more than that it could not be had.
    bool is_foreign = strncmp(function, "runloop_", 8) != 0;
    bool says_no_more = strcmp(function, "runloop_current") == 0 || strcmp(function, "runloop_cf") == 0 ||
                        strcmp(function, "runloop_child_exit") == 0;
    // What every header says of sandboxes.
    bool is_refusal = (refusal == EPERM || refusal == ENOSYS) && error == refusal;
    if (*function == 0)
        return false;
    return is_foreign || says_no_more || is_refusal || is_open_list(function) || documented_lists(function, error) ||
           documented_in_structure(function, error);
}

int main(int count, char **words) {
    const char *first = count > 1 ? words[1] : "";
    denied_continue_program();
    for (int i = 0; i < GROUPS && strcmp(first, "--list") == 0; i++) {
        for (const struct scenario *scenario = groups[i]; scenario->name; scenario++)
            puts(scenario->name);
    }
    for (int i = 1; i < denied_call_count && strcmp(first, "--calls") == 0; i++)
        puts(denied_calls[i].name);
    for (int i = 0; spared_calls[i].name && strcmp(first, "--spared") == 0; i++)
        printf("%s\t%s\n", spared_calls[i].name, spared_calls[i].reason);
    if (strcmp(first, "--list") == 0 || strcmp(first, "--calls") == 0 || strcmp(first, "--spared") == 0)
        return 0;
    struct fault_plan plan = {.size = sizeof plan,
                              .groups = groups,
                              .group_count = GROUPS,
                              .works = fires,
                              .is_documented = is_documented,
                              .most_of_kind = 1000,
                              .conditions = denied_conditions};
    if (strcmp(first, "--most") == 0 && count > 2) {
        plan.most_of_kind = atoi(words[2]);
        words += 2;
        count -= 2;
    }
    documented_read_all();
    injector_use(denied_calls, denied_call_count, true);
    return !fault_plan_try(&plan, count - 1, words + 1);
}
