#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit
internal import RunLoopKitTasks

/// A choice of a run, where another run under the same seed had chosen otherwise, or among others.
struct Difference: Sendable {
    var number = 0
    var way = 0
    var ways = 0
    var step = 0
    /// When, by whom and at which line: "0.5 seconds, by task 2, at App/Pool.swift:12".
    var place = ""
    /// What there was to choose from. Empty if that has no names.
    var names: [String] = []

    /// "task 1, task 3 and loop main, and took task 3".
    var text: String {
        if names.isEmpty { return "\(ways) ways, and took number \(way + 1)" }
        return "\(names.joined(separator: ", ")), and took \(names[way])"
    }
}

/// Looks in a run for the first choice that is not as in another one, or for one of a number. Used by one thread at a time.
final class Followed {
    private let made: [Choices.Made]
    private let number: Int?
    private(set) var found: Difference?
    var describe: ((Choices.Kind) -> Difference)?

    init(_ made: [Choices.Made], number: Int? = nil) {
        (self.made, self.number) = (made, number)
    }

    func compare(_ number: Int, way: Int, ways: Int, _ kind: Choices.Kind) {
        if found != nil { return }
        let isSame = number < made.count && made[number].way == way && made[number].chosenFrom == ways
        if self.number.map({ $0 != number }) ?? isSame { return }
        var difference = describe?(kind) ?? Difference()
        (difference.number, difference.way, difference.ways) = (number, way, ways)
        found = difference
    }
}

extension Schedule {
    /// For a run that is compared with another one.
    func follow(_ followed: Followed, since start: Int64) {
        choices.followed = followed
        followed.describe = { [unowned self] kind in describe(kind, since: start) }
    }

    private func describe(_ kind: Choices.Kind, since start: Int64) -> Difference {
        let enters = runloop_simulation_enter()
        defer { if enters { runloop_simulation_exit() } }
        var difference = Difference()
        difference.step = steps
        let line = CodePlace.ofCaller.map { ", at \($0.line)" } ?? ""
        difference.place = "\(Nanoseconds.inSeconds(now - start)), by \(currentName)\(line)"
        if kind == .turn || kind == .preemption { difference.names = offered.map(name) }
        return difference
    }

    private func name(of candidate: Candidate) -> String {
        guard let index = candidate.job else { return name(of: members[candidate.member]) }
        var name = "a job that is gone"
        jobs.visit { if $0 == index { name = self.name(of: $1, $1.name) } }
        return name
    }
}

extension Outcome {
    /// What the second run, which was compared with this one, did first that this one had not done.
    func firstDifference(_ again: Outcome, _ difference: Difference?, _ own: Difference?) -> String {
        guard let difference else {
            if made.count > again.made.count {
                return
                    "The second run ended after the first \(again.made.count) of \(made.count) choices, which were the same."
            }
            let index =
                zip(lines, again.lines).enumerated().first { $1.0 != $1.1 }?.offset
                ?? min(lines.count, again.lines.count)
            let noted = { (lines: [String]) in index < lines.count ? "“\(lines[index])”" : "nothing more" }
            if lines != again.lines {
                return
                    "All \(made.count) choices were the same, but the first run noted \(noted(lines)), and the second \(noted(again.lines))."
            }
            return
                "All \(made.count) choices were the same, but the second run ended otherwise: \(again.error.map { "\($0)" } ?? "it passed")."
        }
        let first =
            difference.number < made.count
            ? own?.text ?? Difference(way: made[difference.number].way, ways: made[difference.number].chosenFrom).text
            : "no choice more: it had ended"
        return """
            The first choice that differed is number \(difference.number + 1), in step \(difference.step), at \(difference.place). The second run \
            had \(difference.text). The first run had \(first).
            """
    }
}
#endif
