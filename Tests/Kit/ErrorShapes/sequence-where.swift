// Around a sequence, with a condition.
import RunLoopKit
import RunLoopKitLinux

func sequenceWhere(_ loop: RunLoop, _ descriptors: [CInt]) async throws {
    for descriptor in descriptors {
        do {
            for try await byte in loop.bytes(of: descriptor) { print(byte) }
        } catch let error as RunLoop.Error where error == .badDescriptor {
            continue
        }
    }
}
