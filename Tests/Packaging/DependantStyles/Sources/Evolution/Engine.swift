import RunLoopKit

public struct Engine: Sendable {
    public let loop: RunLoop

    public init(on loop: RunLoop) { self.loop = loop }

    public func start(_ timer: RunLoop.Timer) throws { try loop.add(timer, forMode: .common) }

    @inlinable public func stop() { loop.stop() }
}
