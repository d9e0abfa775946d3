/// In the place of the runtime's, which would install the executors of a factory.
void swift_createExecutors(const void *factory, const void *conformance);
