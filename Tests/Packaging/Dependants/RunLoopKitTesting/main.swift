import RunLoopKit
import RunLoopKitTesting

let turns = await withRunLoop { loop in
    loop.perform {}
    return loop.iterate(times: .max)
}
precondition(turns == 1, "There were \(turns) turns.")
