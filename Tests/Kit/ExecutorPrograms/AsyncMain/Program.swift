import Dispatch
import Glibc
import RunLoopKit

/// Prints a line for each thing that must happen on the initial thread; RunLoopKitTests runs it and reads that.
@main struct Program {
    static func main() async {
        print("main before await: \(isOnInitialThread())")
        // This tests Task.sleep: it ends on another thread, and main continues on its own.
        try? await Task.sleep(for: .milliseconds(1))
        print("main after await: \(isOnInitialThread())")
        await MainActor.run { print("main actor: \(isOnInitialThread())") }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                print("main queue: \(isOnInitialThread())")
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in
                print("timer of the main loop: \(isOnInitialThread())")
                RunLoop.main.stop()
                continuation.resume()
            }
            try! RunLoop.main.add(timer, forMode: .common)
        }
        await Task.detached { print("pool: \(isOnInitialThread())") }.value
        for await _ in RunLoop.main.ticks(every: .milliseconds(1)) { break }
        print("after a stop and a sequence: \(isOnInitialThread())")
    }
}

/// Reads the thread from the kernel, not from the loop.
private func isOnInitialThread() -> Bool {
    // Only the initial thread has the number of its process.
    let link = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
        let length = readlink("/proc/thread-self", buffer.baseAddress!, 63)
        buffer[max(0, length)] = 0
        return String(cString: buffer.baseAddress!)
    }
    return link == "\(getpid())/task/\(getpid())"
}
