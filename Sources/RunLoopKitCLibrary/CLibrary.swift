#if os(Linux)
// The C library, whichever it is, by one import.

#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
#else
#error("RunLoopKit needs a C library for Linux.")
#endif
#endif
