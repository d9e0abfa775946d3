#if os(Linux)
internal import RunLoopKit

/// Tasks that wait for a value, in the order of their arrival. Part of a state that a lock protects: tasks are resumed without the lock.
/// The thread that takes a task out resumes it, so that happens once.
@safe struct WaitingTasks<Value: Sendable> {
    typealias Waiter = UnsafeContinuation<Value, Never>

    @safe private var waiters = unsafe Line<Waiter>()

    var isEmpty: Bool { unsafe waiters.isEmpty }

    /// By which a task is found when it is cancelled, which may be before it waits.
    mutating func makeNumber() -> UInt { unsafe waiters.makeNumber() }

    mutating func append(_ waiter: Waiter, _ number: UInt) { unsafe waiters.append(waiter, number) }

    mutating func removeFirst() -> Waiter? { unsafe waiters.removeFirst() }

    /// `nil` if it does not wait, or no more.
    mutating func remove(_ number: UInt) -> Waiter? { unsafe waiters.remove(number) }

    mutating func removeAll() -> [Waiter] { unsafe waiters.removeAll() }

    /// Waits for what `begin`, `cancel` or anybody else resumes the task with. `cancel` may be called before `begin`.
    static func wait(
        isolation actor: isolated (any Actor)?, begin: (Waiter) -> Void, cancel: @Sendable () -> Void
    ) async -> Value {
        await withTaskCancellationHandler(
            operation: {
                unsafe await withUnsafeContinuation(isolation: actor) { (waiter: Waiter) in
                    unsafe waiter.resumes(on: actor)
                    unsafe begin(waiter)
                }
            }, onCancel: cancel, isolation: actor)
    }
}
#endif
