// version.c — which version of the library this is.

#include "base/base.h"

uint32_t runloop_version(void) {
    return RUNLOOP_VERSION;
}
