// A file that has been ported, beside one that keeps Foundation. The two centers are the same object, with two lists of observers.
import RunLoopKitFoundationCompat

nonisolated(unsafe) private var told = 0

func observeAndPost() -> Int {
    let center = NotificationCenter.default
    let token = center.addObserver(forName: .init("ported"), object: nil, queue: nil) { _ in told += 1 }
    center.post(name: .init("ported"), object: nil)
    center.post(Notification(name: .init("ported")))
    center.removeObserver(token)
    center.post(name: .init("ported"), object: nil)
    return told
}

func waitForTimer() -> Bool {
    let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in }
    RunLoop.current.run(until: Date() + 0.05)
    return !timer.isValid
}
