import RunLoopKitFoundationCompat

let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in }
let patience = Date(timeIntervalSinceNow: 60)
while timer.isValid && Date() < patience { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01)) }
precondition(!timer.isValid, "The timer has not fired.")
