internal import CRunLoopExecutors
internal import CRunLoopSimulation

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
            // One that has not begun goes on in the runtime, which has the closure three words before the context.
            if let first = context, Self.name(of: function)?.contains("future_adapter") == true,
                let closure = UnsafeRawPointer(bitPattern: first[-3])
            {
                functions = [closure]
                context = nil
            }
            for _ in 0..<Self.mostCallers {
                guard let known = context, let caller = UnsafeRawPointer(bitPattern: known[1]) else { break }
                functions.append(caller)
                context = UnsafePointer(bitPattern: known[0])
            }
        }
        self.functions = functions
    }

    private static let mostCallers = 16

    /// Of a function, or a call in one.
    init?(function: UInt) {
        guard let function = UnsafeRawPointer(bitPattern: function) else { return nil }
        functions = [function]
    }

    /// The innermost call that led here and is not this library's. `nil` if the program was stripped of its lines.
    static var ofCaller: CodePlace? {
        var calls = [UnsafeMutableRawPointer?](repeating: nil, count: 32)
        let count = Int(runloop_simulation_calls(&calls, Int32(calls.count)))
        for case .some(let call) in calls.prefix(count) {
            // Where it returns to may be the next line.
            guard let place = CodePlace(function: UInt(bitPattern: call) - 1), let path = place.source?.path,
                !isOurs(path)
            else { continue }
            return place
        }
        return nil
    }

    private static func isOurs(_ path: [Substring]) -> Bool {
        // A sanitizer stands between a program and libc, and has notes of its lines as well.
        if path.contains("sanitizer_common") { return true }
        guard let sources = path.lastIndex(of: "Sources"), path.indices.contains(sources + 1) else { return false }
        return path[sources + 1].hasPrefix("RunLoopKit") || path[sources + 1].hasPrefix("CRunLoop")
    }

    private var source: (path: [Substring], line: UInt32)? { functions.first.flatMap(source(of:)) }

    private func source(of code: UnsafeRawPointer) -> (path: [Substring], line: UInt32)? {
        var (directory, file): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)
        let line = runloop_find_code_line(code, &directory, &file)
        guard line > 0, let directory, let file else { return nil }
        let name = String(cString: file)
        let path = name.hasPrefix("/") ? name : String(cString: directory) + "/" + name
        return (path.split(separator: "/"), line)
    }

    /// `Folder/File.swift:12`, or nothing if that is not known.
    var line: String { functions.first.map(line(of:)) ?? "" }

    private func line(of code: UnsafeRawPointer) -> String {
        source(of: code).map { $0.path.suffix(2).joined(separator: "/") + ":\($0.line)" } ?? ""
    }

    /// The function, and the line in it.
    var full: String {
        let (code, name) = innermost
        // The runtime's, around a closure.
        if name.contains("reabstraction thunk ") { return "a closure" }
        let line = code.map(line(of:)) ?? ""
        return line.isEmpty ? shortened(name) : "\(shortened(name)), \(line)"
    }

    /// As debuggers show it.
    static func taskNumber(of job: UnownedJob) -> UInt32 {
        UInt32(unsafeBitCast(job, to: UnsafePointer<UInt>.self)[4] >> 32)
    }

    /// 0 outside of tasks.
    static var numberOfCurrentTask: UInt32 {
        withUnsafeCurrentTask { task in task.map { taskNumber(of: unsafeBitCast($0, to: UnownedJob.self)) } ?? 0 }
    }

    /// The innermost function of the program's own.
    var description: String { innermost.1 }

    private var innermost: (UnsafeRawPointer?, String) {
        let code =
            functions.first { code in source(of: code).map { !Self.isOurs($0.path) } ?? false } ?? functions.first
        return (code, code.flatMap(Self.name(of:)) ?? "a function without a name")
    }

    /// As it is written in the program, without the words for the part of it between two awaits.
    private static func name(of code: UnsafeRawPointer) -> String? {
        let name = runloop_copy_code_name(code)
        defer { runloop_free_code_name(name) }
        guard let text = name.map({ String(cString: $0) }) else { return nil }
        let part = " resume partial function for "
        guard text.hasPrefix("("), let range = text.firstRange(of: part) else { return text }
        return String(text[range.upperBound...])
    }

    /// Without types and modules: `closure #1 in Account.withdraw`.
    private func shortened(_ name: String) -> String {
        let parts = CodeName(name).parts
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return parts.first ?? name }
        return "\(first) in \(last)"
    }
}

/// A function's name, in which the closures come first: each part in the next.
private struct CodeName {
    let parts: [String]

    init(_ name: String) {
        var name = Self.withoutFiles(name.replacing("partial apply forwarder for ", with: ""))
        // In optimized programs.
        if name.hasPrefix("generic specialization "), let of = name.firstRange(of: " of ") {
            name.removeSubrange(..<of.upperBound)
        }
        var (text, depth) = ("", 0)
        for character in name {
            if "(<".contains(character) { depth += 1 }
            if depth == 0 { text.append(character) }
            if ")>".contains(character) { depth = max(0, depth - 1) }
        }
        parts = text.split(separator: " in ").map { part in
            let part = part.prefix(upTo: part.firstRange(of: " -> ")?.lowerBound ?? part.endIndex)
            if part.hasPrefix("closure #") { return part.split(separator: " ").prefix(2).joined(separator: " ") }
            let path = part.split(separator: " ").first { $0.contains(".") } ?? part
            let names = path.replacing("@Sendable", with: "").split(separator: ".")
            return names.dropFirst(names.count > 1 ? 1 : 0).joined(separator: ".")
        }
    }

    /// What is private is written as `(name in file)`.
    private static func withoutFiles(_ name: String) -> String {
        var result = ""
        var rest = name[...]
        while let open = rest.firstIndex(of: "(") {
            result += rest[..<open]
            rest = rest[open...].dropFirst()
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            guard rest[word.endIndex...].hasPrefix(" in _"), let close = rest.firstIndex(of: ")") else {
                result += "("
                continue
            }
            result += word
            rest = rest[close...].dropFirst()
        }
        return result + rest
    }
}
