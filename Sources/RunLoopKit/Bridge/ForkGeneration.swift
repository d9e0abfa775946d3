#if os(Linux)
internal import CRunLoopCore

/// The process in which something was made. It is over in the children that fork off the process.
package struct ForkGeneration: Sendable {
    private let number = runloop_fork_generation()

    package init() {}

    package var isOver: Bool { runloop_fork_generation() != number }
}
#endif
