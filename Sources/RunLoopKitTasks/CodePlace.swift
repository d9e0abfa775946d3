#if os(Linux)
internal import CRunLoopDiagnostics
internal import RunLoopKit

/// Where a task goes on: the function, and those that await it.
package struct CodePlace: Hashable, CustomStringConvertible {
    /// Addresses in the program's code.
    private let functions: [UInt]

    /// Of a job that waits for its executor. `nil` if the runtime has no function for it.
    package init?(of job: TaskWords) {
        if let closure = Self.ofBeginning(job.function, job.closure) {
            self = closure
        } else {
            self.init(of: job) { TaskWords.plain($0) }
        }
    }

    /// Of a job that has gone on meanwhile, by what it had before.
    init?(functions: [UInt], closure: UInt) {
        guard let first = functions.first else { return nil }
        if let closure = Self.ofBeginning(first, closure) {
            self = closure
        } else {
            self.functions = functions
        }
    }

    /// The closure of a task that has not begun, which goes on in the runtime. `nil` for one that has.
    private static func ofBeginning(_ function: UInt, _ closure: UInt) -> CodePlace? {
        closure != 0 && begins(function) ? CodePlace(function: closure) : nil
    }

    /// Of a task that may go on meanwhile, on another thread: what is read then may be of two moments.
    package init?(ofRunning task: TaskWords) {
        self.init(of: task) { TaskWords.careful($0) }
    }

    private init?(of task: TaskWords, callers: (UInt) -> (context: UInt, function: UInt)?) {
        if task.function == 0 { return nil }
        var functions = [task.function]
        var context = task.isTask ? task.context : 0
        while context != 0, functions.count <= Self.mostCallers, let caller = callers(context), caller.function != 0 {
            functions.append(caller.function)
            context = caller.context
        }
        self.functions = functions
    }

    private static let mostCallers = 16

    /// Whether a function is the runtime's, with which a task begins. Looked up once for each function, since that reads the program's file.
    private static func begins(_ function: UInt) -> Bool {
        if let known = beginnings.withLock({ $0[function] }) { return known }
        let isBeginning = name(of: function)?.contains("future_adapter") == true
        beginnings.withLock { $0[function] = isBeginning }
        return isBeginning
    }

    private static let beginnings = Guarded<[UInt: Bool]>([:])

    /// Of a function, or a call in one.
    package init?(function: UInt) {
        if function == 0 { return nil }
        functions = [function]
    }

    /// Of the calls that led somewhere, innermost first, those in the program's own functions.
    package static func ofProgram(_ calls: [UInt]) -> [CodePlace] {
        calls.compactMap { CodePlace(function: $0) }.filter { place in
            place.source.map { !isOurs($0.path) } ?? false
        }
    }

    /// A file of this library's.
    package static func isOurs(_ path: [Substring]) -> Bool {
        // A sanitizer stands between a program and libc, and has notes of its lines as well.
        if path.contains("sanitizer_common") || path.contains("compiler-rt") { return true }
        return zip(path, path.dropFirst()).contains { parent, folder in
            foldersOfModules.contains(parent) && (folder.hasPrefix("RunLoopKit") || folder.hasPrefix("CRunLoop"))
        }
    }

    /// Where the folders of this library's modules are.
    private static let foldersOfModules: Set<Substring> = [
        "Sources", "Simulation", "Guests", "Foundation", "GLib", "Hosts",
    ]

    /// The file, by the folders that it is in, and the line. `nil` if the program was stripped of these.
    package var source: (path: [Substring], line: UInt32)? { functions.first.flatMap(source(of:)) }

    private func source(of code: UInt) -> (path: [Substring], line: UInt32)? {
        var directory: UnsafePointer<CChar>?
        var file: UnsafePointer<CChar>?
        let line = unsafe runloop_find_code_line(UnsafeRawPointer(bitPattern: code), &directory, &file)
        guard line > 0, let directory = unsafe directory, let file = unsafe file else { return nil }
        let name = unsafe String(cString: file)
        let path = unsafe name.hasPrefix("/") ? name : String(cString: directory) + "/" + name
        return (path.split(separator: "/"), line)
    }

    /// `Folder/File.swift:12`, or nothing if that is not known.
    package var line: String { functions.first.map(line(of:)) ?? "" }

    private func line(of code: UInt) -> String {
        source(of: code).map { $0.path.suffix(2).joined(separator: "/") + ":\($0.line)" } ?? ""
    }

    /// The function, and the line in it.
    package var full: String {
        let (code, name) = innermost
        // The runtime's, around a closure.
        if name.contains("reabstraction thunk ") { return "a closure" }
        let line = code.map(line(of:)) ?? ""
        return line.isEmpty ? shortened(name) : "\(shortened(name)), \(line)"
    }

    /// The function, without types and modules.
    package var function: String { shortened(innermost.1) }

    /// The innermost function of the program's own.
    package var description: String { innermost.1 }

    /// The same, and whether it is a method of an actor.
    package var fullWithActor: String {
        let (_, name) = innermost
        return CodeName.isOfActor(name) ? "actor \(full)" : full
    }

    private var innermost: (UInt?, String) {
        let code =
            functions.first { code in source(of: code).map { !Self.isOurs($0.path) } ?? false } ?? functions.first
        return (code, code.flatMap(Self.name(of:)) ?? "a function without a name")
    }

    /// As it is written in the program, without the words for the part of it between two awaits.
    private static func name(of code: UInt) -> String? {
        guard let text = unsafe takeString(runloop_copy_code_name(UnsafeRawPointer(bitPattern: code))) else {
            return nil
        }
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
#endif
