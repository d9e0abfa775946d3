// version.c — which version of the library this is, and that it is for Linux.

#ifdef __linux__
#include "base/base.h"

uint32_t runloop_version(void) {
    return RUNLOOP_VERSION;
}
// SwiftPM and Xcode build a package's C for each platform that the package's clients name, where all other files are nothing, too.
#elif !defined(SWIFT_PACKAGE)
#error "RunLoopKit is for Linux and Android: this compiler builds for something else."
#endif // __linux__
