import RunLoopKit

/// Reads a descriptor to its end in the main loop, and then closes it.
@MainActor final class Reader {
    private let descriptor: Descriptor
    private var source: RunLoop.Source?

    /// `whenRead` gets the bytes that arrived; no bytes (`[]`) mean the end.
    init(_ descriptor: Descriptor, _ stage: Stage, whenRead: @escaping @MainActor ([UInt8]) -> Void) throws {
        self.descriptor = descriptor
        // The source retains its closure, and this object retains the source: a strong `self` would make a cycle.
        let source = try RunLoop.Source(fileDescriptor: descriptor.number) { [weak self] _ in
            // The main loop calls this on the initial thread, which is the main actor's.
            MainActor.assumeIsolated {
                do throws(Mishap) {
                    // One read per call. If there is more, the loop calls again after it has served others.
                    guard let bytes = try descriptor.bytes() else { return }
                    if bytes.isEmpty { self?.close() }
                    whenRead(bytes)
                } catch {
                    self?.close()
                    stage.report(error)
                }
            }
        }
        try RunLoop.main.add(source, forMode: .default)
        self.source = source
    }

    /// First the source, then the descriptor, whose number may be reused right afterwards.
    func close() {
        guard let source else { return }
        source.invalidate()
        descriptor.close()
        self.source = nil
    }
}
