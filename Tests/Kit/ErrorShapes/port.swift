// The errors of a port.
import RunLoopKit
import RunLoopKitLinux

func port(_ port: RunLoop.Port<Int, Int>) async throws -> Int {
    var refused = 0
    for number in 0..<10 {
        do {
            try port.send(number)
            print(try await port.request(number, timeout: .seconds(1)))
        } catch RunLoop.PortError.full {
            refused += 1
        } catch let error as RunLoop.PortError where error == .timedOut {
            refused += 10
        }
    }
    return refused
}
