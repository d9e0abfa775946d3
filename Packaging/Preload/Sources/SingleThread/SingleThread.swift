#if os(Linux)
internal import RunLoopKitSingleThread
#endif
