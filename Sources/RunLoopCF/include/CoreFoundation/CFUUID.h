// CFUUID.h — not here; see docs/COREFOUNDATION.md.
#error "runloop-cf has no UUIDs."
