// One statement in the clause of another one.
import RunLoopKit
import RunLoopKitLinux

func inClause(_ ports: [UInt16]) throws {
    for port in ports {
        do {
            _ = try RunLoop.Listener(.tcp(port: port), on: .main)
        } catch RunLoop.Error.addressInUse {
            do { _ = try RunLoop.Listener(.tcp(port: 0), on: .main) } catch RunLoop.Error.tooManyDescriptors { return }
        }
    }
}
