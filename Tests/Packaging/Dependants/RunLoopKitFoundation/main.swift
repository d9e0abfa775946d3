import Foundation
import RunLoopKit
import RunLoopKitFoundation

nonisolated(unsafe) var fired = false
let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in fired = true }
let host = try RunLoopKit.RunLoop.FoundationHost()
RunLoopKit.RunLoop.current.perform(after: .milliseconds(20)) { RunLoopKit.RunLoop.current.stop() }
precondition(host.run() == .stopped && fired, "One of the loops was not served.")
