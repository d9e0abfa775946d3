internal import CRunLoopCore
internal import CRunLoopOverlay

/// What becomes of a posted closure when the loop's thread ends before it could run.
enum DiscardOfPost {
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
        StoredClosure(consume body).store { words in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: modes.count) { names in
                for (index, mode) in modes.enumerated() { names[index] = mode.name }
                return runloop__post_pair(
                    core, nil, names.baseAddress, modes.count, performPost, words, discard.function)
            }
        }
    }

    /// Posts a closure in one mode, or in all common ones.
    @inline(__always)
    func post(
        _ mode: Mode, atEnd discard: DiscardOfPost = .free, _ body: sending @escaping () -> Void
    ) -> Int32 {
        StoredClosure(consume body).store { words in
            runloop__post_pair(core, mode.name, nil, 0, performPost, words, discard.function)
        }
    }
}

extension DiscardOfPost {
    @inline(__always)
    fileprivate var function: runloop_function { self == .free ? freePost : performPost }
}

@Sendable
private func performPost(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    StoredClosure.take(from: info)()
}

@Sendable
private func freePost(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    _ = StoredClosure.take(from: info)
}
