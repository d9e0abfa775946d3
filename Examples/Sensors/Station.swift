import RunLoopKit
import RunLoopKitLinux

extension RunLoop.Mode {
    /// The mode in which nothing is measured: it has no timer and no input.
    static let paused: RunLoop.Mode = "sensors.paused"
}

/// The station's reports.
enum Event: Sendable {
    case reading(sensor: String, value: Double, unit: String, Summary)
    case problem(sensor: String, String)
    case paused
    case resumed
}

/// Measures, and summarises the readings. Everything in it happens on the loop's thread.
///
/// Its executor is the loop's, so a timer of that loop, which fires on the same thread, is isolated to the actor already:
/// `assumeIsolated` instead of `await`, no task, no thread switch.
actor Station {
    /// The events, for one consumer. The sequence ends with `close()`.
    nonisolated let events: AsyncStream<Event>
    private nonisolated let continuation: AsyncStream<Event>.Continuation
    private nonisolated let thread: RunLoop.Thread
    private nonisolated let executor: any SerialExecutor
    private let windowSize: Int
    private var windows: [String: Window] = [:]
    private var timers: [RunLoop.Timer] = []
    private var reader: Task<Void, Never>?
    private var failing: Set<String> = []
    private var isPauseWanted = false
    private var isPausing = false

    init(on thread: RunLoop.Thread, window: Int) {
        self.thread = thread
        // In the paused mode as well; otherwise no summary would be available during a pause.
        executor = thread.loop.makeExecutor(inModes: [.common, .paused])
        windowSize = window
        // A slow consumer misses the oldest events: memory is bounded, and the newest events matter most.
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(10_000))
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Reads each sensor now and at its intervals. All timers have a tolerance, so that those that are due at about the same
    /// time share a wake-up.
    func measure(_ sensors: [Sensor]) throws {
        for sensor in sensors {
            let timer = RunLoop.Timer(at: .now, every: sensor.interval, tolerance: sensor.interval / 10) {
                [weak self] _ in
                self?.assumeIsolated { $0.ask(sensor) }
            }
            try thread.loop.add(timer, forMode: .default)
            timers.append(timer)
        }
    }

    /// Takes readings from a FIFO until `close()`. In the default mode: input during a pause waits in the FIFO.
    func measure(_ fifo: Fifo) {
        reader = Task { [loop = thread.loop] in
            do {
                let lines = loop.lines(of: fifo.descriptor, skippingLongerThan: 200, inMode: .default)
                for try await line in lines { take(line) }
            } catch {
                report("\(error)", from: "fifo")
            }
        }
    }

    /// Runs the loop in another mode, nested in the default one: nothing is measured until `resume()`. Idempotent.
    func pause() {
        isPauseWanted = true
        if isPausing { return }
        isPausing = true
        // Not directly: the caller would wait until the end of the pause.
        thread.perform { [self] in
            continuation.yield(.paused)
            do { try waitForEndOfPause() } catch { continuation.yield(.problem(sensor: "pause", "\(error)")) }
            continuation.yield(.resumed)
            assumeIsolated { $0.isPausing = false }
        }
    }

    private nonisolated func waitForEndOfPause() throws {
        // A run in an empty mode would finish at once.
        let keepAlive = try RunLoop.KeepAlive(on: thread.loop, inMode: .paused)
        defer { keepAlive.invalidate() }
        // Jobs of the actor run meanwhile, `resume()` among them, and the condition is checked after them. Once it holds, the run
        // ends with that iteration; in the rest of it there may be another `pause()`.
        while assumeIsolated({ $0.isPauseWanted }) {
            thread.loop.run(mode: .paused, until: { assumeIsolated { !$0.isPauseWanted } }, deadline: nil)
        }
    }

    /// Ends the pause, even if it was requested and has not begun yet.
    func resume() {
        isPauseWanted = false
    }

    /// Summaries of the readings so far, by the names of sensors.
    func summaries() -> [(sensor: String, summary: Summary)] {
        windows.compactMap { sensor, window in window.summary.map { (sensor, $0) } }.sorted { $0.sensor < $1.sensor }
    }

    /// Stops measuring, and ends the sequence of events.
    func close() async {
        resume()
        for timer in timers { timer.invalidate() }
        reader?.cancel()
        await reader?.value
        continuation.finish()
    }

    private func ask(_ sensor: Sensor) {
        do {
            take(try sensor.measure(), from: sensor.name, unit: sensor.unit)
            failing.remove(sensor.name)
        } catch {
            // Reported once, until the sensor works again.
            if failing.insert(sensor.name).inserted { report("\(error)", from: sensor.name) }
        }
    }

    private func take(_ line: RunLoop.Line) {
        guard case .text(let text) = line else { return report("a line is too long", from: "fifo") }
        guard let value = Double(text.filter { !$0.isWhitespace }), value.isFinite else {
            return report("\"\(text.prefix(20))\" is no reading", from: "fifo")
        }
        take(value, from: "fifo", unit: "")
    }

    private func take(_ value: Double, from sensor: String, unit: String) {
        windows[sensor, default: Window(size: windowSize)].add(value)
        if let summary = windows[sensor]?.summary {
            continuation.yield(.reading(sensor: sensor, value: value, unit: unit, summary))
        }
    }

    private func report(_ problem: String, from sensor: String) {
        continuation.yield(.problem(sensor: sensor, problem))
    }
}
