#if os(Linux)
internal import RunLoopKit

/// The steps of a story. What happens again and again, and nothing else meanwhile, is one step with a count.
struct StorySteps {
    enum Kind {
        /// A task goes on, so the text names its function.
        case runs
        /// Another one's turn, of which nothing comes by itself.
        case turn
        case other
    }

    private struct Step {
        let instant: Int64
        /// Its number.
        let text: Int
    }

    private var steps: [Step] = []
    private var texts: [(text: String, kind: Kind, count: Int)] = []
    private var numbers: [String: Int] = [:]

    var count: Int { steps.count }

    var lastText: String? { steps.last.map { texts[$0.text].text } }

    mutating func append(_ instant: Int64, _ text: String, _ kind: Kind) {
        let number = numbers[text] ?? texts.count
        if number == texts.count {
            numbers[text] = number
            texts.append((text, kind, 0))
        }
        texts[number].count += 1
        steps.append(Step(instant: instant, text: number))
    }

    /// So often, a step is one of something that goes round.
    private static let often = 20
    /// So many steps of such, with none of another kind between them, are folded.
    private static let longStretch = 60

    func folded(since start: Int64) -> [String] {
        var lines: [String] = []
        var index = 0
        while index < steps.count {
            let end = endOfStretch(from: index)
            if end - index >= Self.longStretch {
                lines += fold(index..<end, since: start)
                index = end
            } else {
                lines += (index..<max(end, index + 1)).map { line($0, since: start) }
                index = max(end, index + 1)
            }
        }
        return lines
    }

    private func line(_ index: Int, since start: Int64) -> String {
        "\(Nanoseconds.inSeconds(steps[index].instant - start)) \(texts[steps[index].text].text)"
    }

    private func endOfStretch(from begin: Int) -> Int {
        var end = begin
        while end < steps.count && goesRound(texts[steps[end].text]) { end += 1 }
        return end
    }

    private func goesRound(_ text: (text: String, kind: Kind, count: Int)) -> Bool {
        text.count >= Self.often || text.kind == .turn
    }

    /// The first and the last of each kind are there, and between them how often each function went on.
    private func fold(_ stretch: Range<Int>, since start: Int64) -> [String] {
        let first = distinct(stretch)
        let last = distinct(stretch.dropFirst(first.count).reversed()).reversed()
        let middle = first.count + stretch.lowerBound..<stretch.upperBound - last.count
        if middle.isEmpty { return stretch.map { line($0, since: start) } }
        var counts: [Int: Int] = [:]
        for step in steps[middle] { counts[step.text, default: 0] += 1 }
        let runs = counts.filter { texts[$0.key].kind == .runs }
        let shown = (runs.isEmpty ? counts : runs).sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(4)
        let what = shown.map { "\(texts[$0.key].text), \(Self.grouped($0.value)) times" }.joined(separator: "; ")
        let begin = Nanoseconds.seconds(steps[middle.lowerBound].instant - start)
        let end = Nanoseconds.inSeconds(steps[middle.upperBound - 1].instant - start)
        return first.map { line($0, since: start) } + ["\(begin) to \(end) \(what)"]
            + last.map { line($0, since: start) }
    }

    /// Those before a text comes again.
    private func distinct(_ indices: some Sequence<Int>) -> [Int] {
        var seen: Set<Int> = []
        return Array(indices.prefix { seen.insert(steps[$0].text).inserted })
    }

    /// "6,670".
    private static func grouped(_ number: Int) -> String {
        let digits = Array("\(number)")
        return digits.indices.reduce(into: "") { text, index in
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digits[index])
        }
    }
}
#endif
