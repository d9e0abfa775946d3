import CGLib
import CRunLoopMainQueue
import Dispatch
import Glibc

// GLib's loop has the initial thread. Blocks of the main queue and tasks of the main actor are performed there, from whichever thread they
// come, also while a callback of GLib's runs a loop; and while there are none the thread sleeps.

let initialThread = pthread_self()

func expect(_ condition: Bool, _ what: String) {
    if condition { return }
    print("Toolkit: \(what)")
    exit(1)
}

/// What has been performed. Used on the initial thread only, which it checks.
final class Seen: @unchecked Sendable {
    private(set) var names: [String] = []
    private var loop: OpaquePointer?

    /// Asks everybody who may, and ends the loop when all have been there.
    func askEverybody(thenQuit loop: OpaquePointer?) {
        names = []
        self.loop = loop
        DispatchQueue.global().async { DispatchQueue.main.async { self.note("a block") } }
        Task { @MainActor in
            try await Task.sleep(nanoseconds: 1_000_000)
            note("a task")
        }
        Task.detached { await MainActor.run { self.note("a visitor") } }
    }

    func note(_ name: String) {
        expect(pthread_equal(pthread_self(), initialThread) != 0, "\(name) was performed on another thread")
        names.append(name)
        if names.count == 3 { g_main_loop_quit(loop) }
    }
}

let seen = Seen()
let mainLoop = g_main_loop_new(nil, 0)

// Nobody but the initial thread can.
var refused: CInt = 0
DispatchQueue.global().sync {
    let thread = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
    pthread_create(
        thread, nil,
        { _ in
            refused = runloop_main_queue_serve_under_glib(RUNLOOP_MAIN_QUEUE_PRIORITY, nil)
            return nil
        }, nil)
    pthread_join(thread.pointee, nil)
    thread.deallocate()
}
expect(refused == -EPERM, "another thread was not refused: \(refused)")

var source: CUnsignedInt = 0
let result = runloop_main_queue_serve_under_glib(RUNLOOP_MAIN_QUEUE_PRIORITY, &source)
expect(result == 0 && source != 0, "not served under GLib: \(result)")

seen.askEverybody(thenQuit: mainLoop)
g_main_loop_run(mainLoop)
expect(seen.names.count == 3, "performed were \(seen.names)")

// A dialog: a loop in a callback of GLib's.
g_idle_add(
    { _ in
        let dialog = g_main_loop_new(nil, 0)
        seen.askEverybody(thenQuit: dialog)
        g_main_loop_run(dialog)
        g_main_loop_quit(mainLoop)
        return 0
    }, nil)
g_main_loop_run(mainLoop)
expect(seen.names.count == 3, "performed in a dialog were \(seen.names)")

// Nothing to do for half a second: GLib asks the kernel when it begins to sleep and when it wakes, and not in between.
var polls = 0
g_main_context_set_poll_func(nil) { descriptors, count, timeout in
    polls += 1
    return g_poll(descriptors, count, timeout)
}
DispatchQueue.main.asyncAfter(deadline: .now() + 0.5) { g_main_loop_quit(mainLoop) }
g_main_loop_run(mainLoop)
let pollsForABlock = polls
expect(pollsForABlock <= 4, "GLib polled \(polls) times for one block")

// A loop of GLib's inside a block of the queue does not serve the queue, and sleeps although there is more in it.
DispatchQueue.main.async {
    let dialog = g_main_loop_new(nil, 0)
    let performed = seen.names.count
    DispatchQueue.main.async { seen.note("a block behind a dialog") }
    polls = 0
    g_timeout_add(
        50,
        { dialog in
            g_main_loop_quit(OpaquePointer(dialog))
            return 0
        }, UnsafeMutableRawPointer(dialog))
    g_main_loop_run(dialog)
    expect(seen.names.count == performed, "the queue was served inside its own block")
    expect(polls <= 4, "GLib polled \(polls) times in a block of the queue")
}
while seen.names.last != "a block behind a dialog" { g_main_context_iteration(nil, 1) }

// A source that is removed serves nobody; another one does.
g_source_remove(source)
DispatchQueue.main.async { seen.note("the last block") }
for _ in 1...10 { g_main_context_iteration(nil, 0) }
expect(seen.names.last != "the last block", "served without a source")
_ = runloop_main_queue_serve_under_glib(RUNLOOP_MAIN_QUEUE_PRIORITY, nil)
while seen.names.last != "the last block" { g_main_context_iteration(nil, 1) }
print("the main queue and the main actor are served in GLib's loop, with \(pollsForABlock) polls in half a second")
