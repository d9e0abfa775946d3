// A clause that throws another error.
import RunLoopKit
import RunLoopKitLinux

struct Refusal: Error {}

func throwsAnother(_ ports: [UInt16]) throws {
    for port in ports {
        do {
            _ = try RunLoop.Listener(.tcp(port: port), on: .main)
        } catch RunLoop.Error.addressInUse {
            throw Refusal()
        }
    }
}
