/// The last readings of a sensor.
struct Window {
    private let size: Int
    private var values: [Double] = []
    private var oldest = 0

    init(size: Int) {
        self.size = size
    }

    mutating func add(_ value: Double) {
        if values.count < size { return values.append(value) }
        values[oldest] = value
        oldest = (oldest + 1) % size
    }

    /// Their summary; `nil` if there are none.
    var summary: Summary? {
        guard let least = values.min(), let greatest = values.max() else { return nil }
        let mean = values.reduce(0) { $0 + $1 / Double(values.count) }
        return Summary(count: values.count, least: least, mean: mean, greatest: greatest)
    }
}

struct Summary: Sendable, CustomStringConvertible {
    let count: Int
    let least: Double
    let mean: Double
    let greatest: Double

    var description: String {
        "min \(least.rounded2), mean \(mean.rounded2), max \(greatest.rounded2) of \(count)"
    }
}

extension Double {
    /// With two decimals.
    var rounded2: String {
        // A number beyond the range of an integer needs no decimals.
        guard abs(self) < 1e15 else { return "\(self)" }
        let hundredths = Int((abs(self) * 100).rounded())
        let fraction = hundredths % 100
        let sign = self < 0 && hundredths > 0 ? "-" : ""
        return "\(sign)\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
