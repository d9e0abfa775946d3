import RunLoopKit
import RunLoopKitDiagnostics

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One act of the tour.
@MainActor protocol Act {
    static var title: String { get }
    /// One sentence about what the audience will see.
    static var shows: String { get }
    /// Plays the act, and throws if something did not happen.
    static func perform(on stage: Stage) throws
}

/// The guided tour: `tour` plays all acts, `tour 5` one of them.
///
/// Its `main` is synchronous, so that it keeps the initial thread. An `async` one would give that thread up, and the main
/// loop could not run on it.
@main
struct Tour {
    @MainActor private static let acts: [any Act.Type] = [
        Activities.self, Modes.self, Threads.self, SignalledSources.self, Descriptors.self, MainQueue.self,
        NestedRuns.self, EventHandOver.self, EndOfIteration.self, Conditions.self,
        Hosted.self, System.self,
    ]

    @MainActor static func main() {
        switch Request(CommandLine.arguments.dropFirst(), acts: acts.count) {
        case .help: Terminal.print(Request.usage)
        case .list: list()
        case .play(let numbers, let trace): play(numbers, trace)
        case .refused(let reason):
            Terminal.complain("tour: \(reason)\n\(Request.usage)")
            exit(2)
        }
    }

    @MainActor private static func list() {
        for (number, act) in zip(1..., acts) {
            Terminal.print("\(number.right(2))  \(act.title.left(20))  \(act.shows)")
        }
    }

    /// - Parameter trace: where the timeline of the main loop is written to.
    @MainActor private static func play(_ numbers: [Int], _ trace: String?) {
        if trace != nil { RunLoop.main.startRecording(capacity: 200_000) }
        let opening = RunLoop.Instant.now
        Terminal.print("A tour of RunLoopKit. Times are in milliseconds since the beginning of each act.")
        for number in numbers {
            let act = acts[number - 1]
            Terminal.print("\n" + "\(number). \(act.title)".styled(.title) + "\n   " + act.shows)
            Watchdog.allow(seconds: 30)
            do {
                let stage = Stage()
                try act.perform(on: stage)
                try stage.close()
            } catch {
                Terminal.complain("     FAILED".styled(.bad) + "  Act \(number) (\(act.title)): \(error)")
                exit(1)
            }
        }
        if let trace, !Terminal.save(RunLoop.trace(of: [.main]), to: trace) {
            Terminal.complain("tour: the trace can't be written to \(trace).")
            exit(1)
        }
        let played = numbers.count == 1 ? "1 act" : "\(numbers.count) acts"
        Terminal.print("\n\(played) in \((RunLoop.Instant.now - opening).milliseconds) ms; all happened as told.")
    }
}

/// The choices made on the command line.
enum Request {
    case play([Int], trace: String?)
    case list
    case help
    case refused(String)

    static let usage = """
        usage: tour                 all acts
               tour NUMBER ...      only these
               tour --trace FILE …  writes what the main loop did to a file, for Perfetto or Tools/scripts/trace-page
               tour --list          what there is
        """

    init(_ arguments: ArraySlice<String>, acts: Int) {
        var numbers: [Int] = []
        var trace: String?
        var words = arguments
        while let argument = words.popFirst() {
            switch argument {
            case "--trace":
                guard let file = words.popFirst() else {
                    self = .refused("--trace needs the name of a file.")
                    return
                }
                trace = file
            case "--list", "-l":
                self = .list
                return
            case "--help", "-h":
                self = .help
                return
            default:
                guard let number = Int(argument), (1...acts).contains(number) else {
                    self = .refused("there is no act \"\(argument)\"; they are numbered from 1 to \(acts).")
                    return
                }
                numbers.append(number)
            }
        }
        self = .play(numbers.isEmpty ? Array(1...acts) : numbers, trace: trace)
    }
}

/// An act that hangs has failed, too.
enum Watchdog {
    static func allow(seconds: UInt32) {
        signal(SIGALRM) { _ in
            let message: StaticString = "     FAILED  the act did not come to an end.\n"
            _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
            _exit(1)
        }
        _ = alarm(seconds)
    }
}
