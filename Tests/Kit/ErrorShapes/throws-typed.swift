// A client whose own errors have a type.
import RunLoopKit
import RunLoopKitLinux

enum ServerError: Error {
    case loop(RunLoop.Error)
    case other
}

func throwsTyped(_ ports: [UInt16]) throws(ServerError) {
    for port in ports {
        do {
            _ = try RunLoop.Listener(.tcp(port: port), on: .main)
        } catch let error as RunLoop.Error {
            throw .loop(error)
        } catch {
            throw .other
        }
    }
}
