#if os(Linux)
/// What one call after another takes from somewhere, as a sequence, until there is `nil`. What an iteration has not taken stays there.
struct PulledSequence<Origin, Element, Failure: Error>: AsyncSequence {
    typealias Pull = @Sendable (Origin, isolated (any Actor)?) async throws(Failure) -> Element?

    let origin: Origin
    let pull: Pull

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// After an error there is nothing but the end.
    struct Iterator: AsyncIteratorProtocol {
        let sequence: PulledSequence
        var hasFailed = false

        mutating func next() async throws(Failure) -> Element? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
            if hasFailed { return nil }
            do throws(Failure) {
                return try await sequence.pull(sequence.origin, actor)
            } catch {
                hasFailed = true
                throw error
            }
        }
    }
}

extension PulledSequence: Sendable where Origin: Sendable {}
#endif
