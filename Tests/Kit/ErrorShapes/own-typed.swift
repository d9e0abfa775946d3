// Typed errors of the client's own, where the statement says that its error has any type.
import RunLoopKit
import RunLoopKitLinux

enum Refused: Error, Equatable {
    case busy(String)
    case gone
}

func begin() throws(Refused) {}

func ownTyped(_ items: [RunLoop.Item]) throws {
    for item in items {
        do throws(any Error) { try begin() } catch let error as Refused where error == .gone { item.invalidate() }
    }
}
