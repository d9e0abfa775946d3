// The whole program: a timer of one millisecond, and the end. Foundation's loop has no public stop function, so the timer exits the
// program.
import Foundation

let timer = Timer(fire: Date(timeIntervalSinceNow: 0.001), interval: 0, repeats: false) { _ in exit(0) }
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
