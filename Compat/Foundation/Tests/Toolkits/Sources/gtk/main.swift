import Measures
import RunLoopKit
import RunLoopKitFoundation

Measurement.run { try RunLoop.ToolkitHost() }
