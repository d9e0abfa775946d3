do {
    let watcher = Watcher()
    watcher.post()
}
Watcher().post()
print("kept \(Watcher.count), ported \(observeAndPost()), the timer fired: \(waitForTimer())")
