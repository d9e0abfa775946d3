// A child, which can't be copied.
import RunLoopKit
import RunLoopKitLinux

func child(_ commands: [[String]]) async throws {
    for command in commands {
        do {
            let child = try RunLoop.Child.start(command, on: .main)
            print(try await child.exit())
        } catch RunLoop.Error.accessDenied {
            print("may not")
        } catch let error as RunLoop.Error where error.errorNumber == 2 {
            print(error.subject ?? "", "is not there")
        }
    }
}
