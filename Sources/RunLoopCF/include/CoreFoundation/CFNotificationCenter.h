// CFNotificationCenter.h — not here; see docs/COREFOUNDATION.md.
#error "runloop-cf has no notifications."
