import Measures
import RunLoopKit
import RunLoopKitFoundation
import Toolkit

nonisolated(unsafe) var host: RunLoop.FoundationHost?
Measurement.run {
    host = try RunLoop.FoundationHost()
    toolkit_set_wait { host?.run(until: .now + .nanoseconds($0)) }
}
