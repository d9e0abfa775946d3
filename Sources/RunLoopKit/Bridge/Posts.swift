#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay

/// What becomes of a posted closure when the loop's thread ends before it could run.
package enum DiscardOfPost {
    /// It is freed unused.
    case free
    /// It runs on the ending thread.
    case perform
}

extension RunLoop {
    /// Posts a closure in several modes. The result is that of the core: 0, or a negative error number, and then the closure has
    /// been freed.
    func post(
        _ modes: Set<Mode>, atEnd discard: DiscardOfPost = .free, _ body: sending @escaping () -> Void
    ) -> Int32 {
        unsafe StoredClosure(consume body).store { words in
            unsafe withNames(of: modes) { names, count in
                unsafe runloop__post_pair(core, nil, names, count, performPost, words, discard.function)
            }
        }
    }

    /// Posts a call in several modes, as `post(to:_:_:)` of it.
    func post(_ modes: Set<Mode>, _ call: PostedCall) -> Int32 {
        unsafe withNames(of: modes) { names, count in unsafe call.post(to: core, names, count) }
    }

    private func withNames(
        of modes: Set<Mode>, _ post: (UnsafePointer<UnsafePointer<CChar>?>?, Int) -> Int32
    ) -> Int32 {
        unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: modes.count) { names in
            for (index, mode) in modes.enumerated() { unsafe names[index] = mode.name }
            return unsafe post(names.baseAddress, modes.count)
        }
    }

    /// Posts a closure in one mode, or in all common ones.
    @inline(__always)
    func post(
        _ mode: Mode, atEnd discard: DiscardOfPost = .free, _ body: sending @escaping () -> Void
    ) -> Int32 {
        unsafe StoredClosure(consume body).store { words in
            unsafe runloop__post_pair(core, mode.name, nil, 0, performPost, words, discard.function)
        }
    }
}

/// What is posted as an object, which the post retains, so that no closure has to be made for it.
package class PostedCall {
    /// On the loop's thread.
    package func run() { preconditionFailure("A posted call is of a subclass.") }
    /// Instead, if the loop's thread ends first, on that thread.
    package func discard() { preconditionFailure("A posted call is of a subclass.") }

    /// Posts it in several modes. The result is that of the core: 0, or a negative error number, and then the call is neither run
    /// nor discarded.
    func post(to loop: OpaquePointer, _ modes: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) -> Int32 {
        // The second word is not used.
        var words = unsafe (Unmanaged.passRetained(self).toOpaque(), 0)
        let result = unsafe runloop__post_pair(
            loop, nil, modes, count, runPostedCall, &words, discardPostedCall)
        if result < 0 { unsafe releaseInfo(words.0) }
        return result
    }
}

@Sendable
private func runPostedCall(_ info: UnsafeMutableRawPointer?) { unsafe takePostedCall(info)?.run() }

@Sendable
private func discardPostedCall(_ info: UnsafeMutableRawPointer?) { unsafe takePostedCall(info)?.discard() }

private func takePostedCall(_ info: UnsafeMutableRawPointer?) -> PostedCall? {
    unsafe info.map { unsafe Unmanaged<PostedCall>.fromOpaque($0.load(as: UnsafeRawPointer.self)).takeRetainedValue() }
}

extension DiscardOfPost {
    @inline(__always)
    fileprivate var function: runloop_function { unsafe self == .free ? freePost : performPost }
}

@Sendable
private func performPost(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    unsafe StoredClosure.take(from: info)()
}

@Sendable
private func freePost(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    _ = unsafe StoredClosure.take(from: info)
}
#endif
