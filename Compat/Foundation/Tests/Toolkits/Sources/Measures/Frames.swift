import RunLoopKit
import Toolkit

import class RunLoopKit.RunLoop

/// How many frames are drawn in three seconds, alone and beside fifty tasks of the main actor that yield.
@MainActor
enum Frames {
    private static var jobs = 0
    private static var isOver = false

    static func measure() async {
        let alone = await count()
        for _ in 0..<50 { Task { await yieldAgainAndAgain() } }
        let beside = await count()
        isOver = true
        print("frames \(alone) \(beside)")
        print("jobs \(jobs)")
    }

    private static func yieldAgainAndAgain() async {
        while !isOver {
            jobs += 1
            let end = RunLoop.Instant.now + .microseconds(100)
            while RunLoop.Instant.now < end {}
            await Task.yield()
        }
    }

    private static func count() async -> Int {
        let before = toolkit_get_frames()
        try! await Task.sleep(for: .seconds(3))
        return Int(toolkit_get_frames() - before)
    }
}
