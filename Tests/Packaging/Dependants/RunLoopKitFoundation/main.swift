import Foundation
import RunLoopKit
import RunLoopKitFoundation

// Each loop waits for the other one: Foundation's timer fires, and a timer of ours sees it.
nonisolated(unsafe) var fired = false
let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in fired = true }
let host = try RunLoopKit.RunLoop.FoundationHost()
let watch = RunLoopKit.RunLoop.Timer(every: .milliseconds(1)) { _ in
    if fired { RunLoopKit.RunLoop.current.stop() }
}
try RunLoopKit.RunLoop.current.add(watch, forMode: .default)
precondition(host.run() == .stopped, "The run ended in another way.")
