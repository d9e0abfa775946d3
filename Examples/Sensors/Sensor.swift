#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A quantity that is measured by polling.
struct Sensor: Sendable {
    let name: String
    let unit: String
    /// The interval of polling. It may be late by a tenth, so that several sensors share a wake-up.
    var interval: Duration
    let measure: @Sendable () throws -> Double

    /// The number of runnable processes, averaged over a minute.
    static let load = Sensor(name: "load", unit: "", interval: .seconds(5)) {
        try number(atStartOf: TextFile.read("/proc/loadavg"), from: "/proc/loadavg")
    }

    /// The used share of the memory.
    static let memory = Sensor(name: "memory", unit: "%", interval: .seconds(2)) {
        let text = try TextFile.read("/proc/meminfo")
        func field(_ name: String) throws -> Double {
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") }) else {
                throw Unreadable(path: "/proc/meminfo", text: text)
            }
            return try number(atStartOf: line.drop { !$0.isNumber }, from: "/proc/meminfo")
        }
        return try 100 * (1 - field("MemAvailable") / field("MemTotal"))
    }

    /// The number at the beginning of a file.
    static func file(_ path: String, name: String) -> Sensor {
        Sensor(name: name, unit: "", interval: .seconds(1)) { try number(atStartOf: TextFile.read(path), from: path) }
    }

    private static func number(atStartOf text: some StringProtocol, from path: String) throws -> Double {
        guard let number = Double(text.prefix { !$0.isWhitespace }), number.isFinite else {
            throw Unreadable(path: path, text: String(text))
        }
        return number
    }
}

/// A file that exists but does not contain a number.
struct Unreadable: Error, CustomStringConvertible {
    let path: String
    let text: String

    var description: String { "\(path) begins with \"\(text.prefix(20).prefix { !$0.isNewline })\"" }
}

enum TextFile {
    /// Reads a short file as a whole. Files of /proc and /sys are generated when they are read, so this does not block.
    static func read(_ path: String) throws(SystemError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { throw SystemError("open \(path)") }
        defer { close(descriptor) }
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, initialized in
            count = systemRead(descriptor, buffer.baseAddress, buffer.count)
            initialized = max(0, count)
        }
        if count < 0 { throw SystemError("read \(path)") }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A global function, because the method of that name would hide the system call.
private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
