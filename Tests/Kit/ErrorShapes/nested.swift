// One statement in another one, each with a constant.
import RunLoopKit
import RunLoopKitLinux

func nested(_ ports: [UInt16]) throws {
    for port in ports {
        do {
            do {
                _ = try RunLoop.Listener(.tcp(port: port), on: .main)
            } catch RunLoop.Error.addressInUse {
                _ = try RunLoop.Listener(.tcp(port: 0), on: .main)
            }
        } catch RunLoop.Error.accessDenied {
            print("may not")
        }
    }
}
