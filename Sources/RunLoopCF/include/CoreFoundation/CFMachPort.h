// CFMachPort.h — not here; see docs/COREFOUNDATION.md.
#error "Linux has no Mach ports: use a version-1 source with an eventfd, or CFFileDescriptor."
