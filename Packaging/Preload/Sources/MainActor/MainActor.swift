#if os(Linux)
internal import RunLoopKitMainActor
#endif
