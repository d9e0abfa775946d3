// CFRuntime.h — not here; see docs/COREFOUNDATION.md.
#error "runloop-cf has no way to add types of objects."
