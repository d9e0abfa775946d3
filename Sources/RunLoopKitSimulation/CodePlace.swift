internal import CRunLoopExecutors

/// Where a task goes on: the function, and those that await it.
struct CodePlace: Hashable, CustomStringConvertible {
    private let functions: [UnsafeRawPointer]

    /// Of a job that waits for its executor. `nil` if the runtime has no function for it.
    ///
    /// A job has sixteen bytes of every object, two words for who queues it, its flags, its number, two words of the runtime's, and then the
    /// function. That of a task goes on with its context, which has that of its caller, and the function there.
    init?(of job: UnownedJob) {
        let words = unsafeBitCast(job, to: UnsafePointer<UInt>.self)
        guard let function = UnsafeRawPointer(bitPattern: words[7]) else { return nil }
        var functions = [function]
        let kindOfTask = 0
        if words[4] & 0xff == kindOfTask {
            var context = UnsafePointer<UInt>(bitPattern: words[8])
            for _ in 0..<Self.mostCallers {
                guard let known = context, let caller = UnsafeRawPointer(bitPattern: known[1]) else { break }
                functions.append(caller)
                context = UnsafePointer(bitPattern: known[0])
            }
        }
        self.functions = functions
    }

    private static let mostCallers = 6

    /// As debuggers show it.
    static func taskNumber(of job: UnownedJob) -> UInt32 {
        UInt32(unsafeBitCast(job, to: UnsafePointer<UInt>.self)[4] >> 32)
    }

    /// The innermost asynchronous function that is not the standard library's.
    var description: String {
        let names = functions.lazy.compactMap { name(of: $0) }
        return names.first { $0.contains(" async ") && !$0.contains("Swift.") } ?? names.first
            ?? "a function without a name"
    }

    /// As it is written in the program, without the words for the part of it between two awaits.
    private func name(of code: UnsafeRawPointer) -> String? {
        let name = runloop_copy_code_name(code)
        defer { runloop_free_code_name(name) }
        guard let text = name.map({ String(cString: $0) }) else { return nil }
        let part = " resume partial function for "
        guard text.hasPrefix("("), let range = text.firstRange(of: part) else { return text }
        return String(text[range.upperBound...])
    }
}
