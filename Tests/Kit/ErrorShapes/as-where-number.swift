// The type and its number.
import RunLoopKit
import RunLoopKitLinux

func asWhereNumber(_ ports: [UInt16]) throws -> RunLoop.Listener? {
    for port in ports {
        do {
            return try RunLoop.Listener(.tcp(port: port), on: .current)
        } catch let error as RunLoop.Error where error.errorNumber == 98 {
            continue
        }
    }
    return nil
}
