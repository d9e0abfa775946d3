// In a method and an initializer of a class.
import RunLoopKit
import RunLoopKitLinux

final class Server {
    private var listeners: [RunLoop.Listener] = []

    init(_ ports: [UInt16]) throws {
        do { listeners.append(try RunLoop.Listener(.tcp(port: 0), on: .main)) } catch RunLoop.Error.accessDenied {}
        for port in ports { try listen(port) }
    }

    func listen(_ port: UInt16) throws {
        do {
            listeners.append(try RunLoop.Listener(.tcp(port: port), on: .main))
        } catch RunLoop.Error.addressInUse, RunLoop.Error.addressNotAvailable {
            for listener in listeners { listener.invalidate() }
        }
    }
}
