@preconcurrency import Glibc
import RunLoopKit
import RunLoopKitMainActor
import Toolkit

import class RunLoopKit.RunLoop

/// What a program measures of itself. Which measurement it is, its argument says; it prints lines of a name and figures.
@MainActor
public enum Measurement {
    /// Opens the window, begins to host our loop and Foundation's, and measures.
    public static func run(_ host: () throws -> Void) {
        setlinebuf(stdout)
        toolkit_open()
        try! host()
        let name = CommandLine.arguments.dropFirst().first ?? "idle"
        toolkit_animate(name == "frames")
        Task {
            // The window is being shown.
            try await Task.sleep(for: .seconds(1))
            await measure(name)
            // Our loop quits the toolkit's.
            toolkit_close()
        }
        toolkit_run()
        print("quit 0")
    }

    private static func measure(_ name: String) async {
        switch name {
        case "idle": await Idle.measure()
        case "frames": await Frames.measure()
        default: await Nested.measure()
        }
    }
}
