// version.c — which version of the library this is, and that it is for Linux.

#ifdef __linux__
#if !defined(__GNUC__) || __STDC_VERSION__ < 201112L || defined(__STDC_NO_ATOMICS__)
#error "RunLoopKit's C needs C11 with atomics, and extensions of gcc and clang: one of these, and -std=c11 or later."
#endif
#include "base/base.h"

uint32_t runloop_version(void) {
    return RUNLOOP_VERSION;
}
// SwiftPM and Xcode build a package's C for each platform that the package's clients name, where all other files are nothing, too.
#elif !defined(SWIFT_PACKAGE)
#error "RunLoopKit is for Linux and Android: this compiler builds for something else."
#endif // __linux__
