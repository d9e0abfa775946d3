import RunLoopKit
import RunLoopKitTesting

let turns = await withRunLoop { loop in
    loop.perform {}
    return loop.turn(times: .max)
}
precondition(turns == 1, "There were \(turns) turns.")
