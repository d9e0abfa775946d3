// CFBitVector.h — not here; see docs/COREFOUNDATION.md.
#error "runloop-cf has arrays and sets only."
