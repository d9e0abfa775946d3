// json.c — a scanner as small as reports allow: what they have no use for in numbers and words is not checked.

#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 };

struct walk {
    const char *next;
    json_visitor *visit;
    void *context;
    char path[256];
    size_t length; ///< of the path
    int depth;
};

/// The next character that isn't white space, taken if it is the wanted one.
static bool take(struct walk *walk, char wanted) {
    walk->next += strspn(walk->next, " \t\r\n");
    if (*walk->next != wanted)
        return false;
    walk->next++;
    return true;
}

static char unescape(struct walk *walk) {
    char letter = *walk->next;
    if (letter != 'u')
        return letter == 'n' || letter == 't' || letter == 'r' || letter == 'b' || letter == 'f' ? ' ' : letter;
    for (int i = 0; i < 4 && walk->next[1]; i++)
        walk->next++;
    return '?';
}

static bool take_string(struct walk *walk, char *value, size_t size) {
    size_t length = 0;
    for (; *walk->next != '"'; walk->next++) {
        char byte = *walk->next;
        if (byte == '\\') {
            walk->next++;
            byte = unescape(walk);
        }
        if (!*walk->next)
            return false;
        if (length + 1 < size)
            value[length++] = byte;
    }
    walk->next++;
    value[length] = 0;
    return true;
}

static bool walk_value(struct walk *walk);

static bool walk_member(struct walk *walk, const char *key) {
    size_t length = walk->length;
    int more = snprintf(walk->path + length, sizeof walk->path - length, "%s%s", length ? "." : "", key);
    if (more < 0 || (size_t)more >= sizeof walk->path - length)
        return false;
    walk->length += (size_t)more;
    bool is_right = walk_value(walk);
    walk->length = length;
    walk->path[length] = 0;
    return is_right;
}

static bool walk_container(struct walk *walk, bool is_object) {
    char end = is_object ? '}' : ']', key[64];
    if (take(walk, end))
        return true;
    for (int place = 0;; place++) {
        snprintf(key, sizeof key, "%d", place);
        if (is_object && !(take(walk, '"') && take_string(walk, key, sizeof key) && take(walk, ':')))
            return false;
        if (!walk_member(walk, key))
            return false;
        if (!take(walk, ','))
            return take(walk, end);
    }
}

static bool walk_value(struct walk *walk) {
    char value[128];
    bool is_object = take(walk, '{');
    if (is_object || take(walk, '[')) {
        bool is_right = ++walk->depth <= DEEPEST && walk_container(walk, is_object);
        walk->depth--;
        return is_right;
    }
    if (take(walk, '"')) {
        if (!take_string(walk, value, sizeof value))
            return false;
    } else {
        size_t length = strspn(walk->next, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
        if (length == 0 || length >= sizeof value)
            return false;
        memcpy(value, walk->next, length);
        value[length] = 0;
        walk->next += length;
    }
    walk->visit(walk->context, walk->path, value);
    return true;
}

bool json_walk(const char *text, json_visitor *visit, void *context) {
    struct walk walk = {.next = text, .visit = visit, .context = context};
    bool is_right = walk_value(&walk);
    walk.next += strspn(walk.next, " \t\r\n");
    return is_right && !*walk.next;
}
