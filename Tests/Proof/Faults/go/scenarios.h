// scenarios.h — how the functions of scenarios.go come to the driver.
#ifndef SCENARIOS_H
#define SCENARIOS_H
#include "scenario.h"

bool try_scenarios(int word_count, char **words);
#endif // SCENARIOS_H
