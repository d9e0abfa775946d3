// Trying again until it succeeds.
import RunLoopKit
import RunLoopKitLinux

func retry(from first: UInt16) throws -> RunLoop.Listener {
    var port = first
    while true {
        do {
            return try RunLoop.Listener(.tcp(port: port), on: .main)
        } catch RunLoop.Error.addressInUse where port < .max {
            port += 1
        }
    }
}
