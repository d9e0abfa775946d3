/// A value that a sensor should not exceed, or not fall below.
struct Alarm: Sendable, CustomStringConvertible {
    enum Side: Character {
        case above = ">"
        case below = "<"
    }

    let sensor: String
    let side: Side
    let threshold: Double
    private(set) var isRinging = false

    /// From `load>2`, or `fifo<0.5`.
    init?(_ text: String) {
        guard let index = text.firstIndex(where: { Side(rawValue: $0) != nil }), let side = Side(rawValue: text[index]),
            let threshold = Double(text[text.index(after: index)...]), threshold.isFinite, index > text.startIndex
        else { return nil }
        (sensor, self.side, self.threshold) = (String(text[..<index]), side, threshold)
    }

    /// Takes a reading into account. Returns whether the state changed: a value that stays too high is reported once.
    mutating func hasChanged(with value: Double) -> Bool {
        let wasRinging = isRinging
        isRinging = side == .above ? value > threshold : value < threshold
        return isRinging != wasRinging
    }

    var description: String { "\(sensor)\(side.rawValue)\(threshold.rounded2)" }
}
