// boolean.c — the two truth values as objects.

#include "strings/strings.h"
#include "values/values.h"

struct __CFBoolean {
    struct cf_object object;
};

static CFStringRef describe(CFTypeRef object) {
    return cf__string_from_utf8(object == kCFBooleanTrue ? "true" : "false");
}

static const struct cf_class class = {.type = CF_TYPE_BOOLEAN, .describe = describe};

static struct __CFBoolean true_object = {{&class, CF_UNCOUNTED}}, false_object = {{&class, CF_UNCOUNTED}};
const CFBooleanRef kCFBooleanTrue = &true_object;
const CFBooleanRef kCFBooleanFalse = &false_object;

CFTypeID CFBooleanGetTypeID(void) {
    return CF_TYPE_BOOLEAN;
}

Boolean CFBooleanGetValue(CFBooleanRef boolean) {
    return CF_IS(boolean, CF_TYPE_BOOLEAN) && boolean == kCFBooleanTrue;
}
