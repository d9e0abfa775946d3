// One constant, and a loop after it: as a newcomer wrote it.
import RunLoopKit
import RunLoopKitLinux

func constant(_ paths: [String]) throws {
    do { _ = try RunLoop.Listener(.tcp(port: 80), on: .main) } catch RunLoop.Error.addressInUse { print("in use") }
    for path in paths {
        let saved = try RunLoop.Source(watching: path) { _ in print("saved") }
        try RunLoop.main.add(saved, forMode: .common)
    }
}
