import RunLoopKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Measures the load and the memory of this machine, and takes readings from a FIFO.
///
///     mkfifo /tmp/readings
///     swift run sensors --fifo /tmp/readings
///     echo 21.5 > /tmp/readings               in another terminal; then type "pause", "resume", "summary" or "quit"
///
/// It shows actors and tasks on a loop's thread: an actor whose executor is the loop, so that timers call it without a thread
/// switch; input as a sequence of lines; readings as a sequence that another task consumes; and polling that pauses while the
/// loop runs another mode. The initial thread remains free for the user.
///
/// Start reading at Station.swift.
@main
struct Sensors {
    /// Synchronous, so that it keeps the initial thread and can run the main loop, which serves the main actor.
    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(Options.usage) }
        do {
            try run(Options(CommandLine.arguments.dropFirst()))
        } catch let refusal as Refusal {
            Terminal.complain("sensors: \(refusal)\n\(Options.usage)")
            exit(2)
        } catch {
            Terminal.complain("sensors: \(error)")
            exit(1)
        }
    }

    @MainActor private static func run(_ options: Options) throws {
        let fifo = try options.fifo.map { path throws(SystemError) in try Fifo(path: path) }
        let thread = try RunLoop.Thread(name: "sensors")
        let station = Station(on: thread, window: options.window)
        let console = Console(station)
        try console.run(sensors: options.sensors(), fifo: fifo)
        // The station has removed everything from the loop. The thread ends when it has nothing more to do.
        thread.stop()
        thread.join()
        fifo?.close()
        Terminal.print("the end: \(console.readings) readings")
    }
}
