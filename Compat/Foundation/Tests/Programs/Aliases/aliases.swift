// The names that this module takes from RunLoopKitFoundationCompat: declared here, they come before the imported ones in each of its files.
import RunLoopKitFoundationCompat

typealias RunLoop = RunLoopKitFoundationCompat.RunLoop
typealias Timer = RunLoopKitFoundationCompat.Timer
