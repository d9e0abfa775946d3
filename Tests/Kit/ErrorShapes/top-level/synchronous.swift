// Statements of a program.
import RunLoopKit
import RunLoopKitLinux

let paths = ["a", "b"]
do { _ = try RunLoop.Listener(.tcp(port: 80), on: .main) } catch RunLoop.Error.addressInUse { print("in use") }
for path in paths {
    do {
        try RunLoop.main.add(try RunLoop.Source(watching: path) { _ in print("saved") }, forMode: .common)
    } catch let error as RunLoop.Error where error == .tooManyWatches {
        print(error)
    }
}
