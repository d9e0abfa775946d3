// CFByteOrder.h — not here; see docs/COREFOUNDATION.md.
#error "runloop-cf has no byte order functions: use endian.h."
