// json.h — walks a JSON text: each value that isn't a container, with the way to it.
#ifndef RUNLOOP_TOP_JSON_H
#define RUNLOOP_TOP_JSON_H

#include <stdbool.h>

/// `path` has the keys and places that lead to the value, with points between: "0.modes.1.name". The value of a string is without its
/// quotes, and may have any bytes but 0. Both are cut if they are long, perhaps within a character.
typedef void json_visitor(void *context, const char *path, const char *value);

/// False for a text that is no JSON, or nested too deeply; some of it may have been visited.
bool json_walk(const char *text, json_visitor *visit, void *context);

#endif // RUNLOOP_TOP_JSON_H
