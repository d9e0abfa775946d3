#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// A start in the core's terms, with the files that are open until then.
@safe final class ChildStart {
    private let arguments: CStrings
    private let environment: CStrings?
    /// The directory and the program, if they are given.
    private let directory, program: CStrings?
    private let options: RunLoop.Child.Options
    /// Is a standard descriptor something else if it is not listed?
    private let listsInherited: Bool
    /// Their `parent_end` is set and used within `run`, while that has the memory.
    @safe private var descriptors: [runloop_child_descriptor] = unsafe []
    private var files: [CInt] = []
    /// The parent's ends of the pipes, when the child has been started.
    private(set) var ends: [ChildPipes.End] = []
    /// Which descriptors are the same as a terminal's.
    private(set) var shares: [(CInt, CInt)] = []
    private var terminal: (number: CInt, rows: UInt16, columns: UInt16)?

    /// - Parameter standard: those that are not named are the parent's, whatever that is.
    init(
        _ arguments: [String], _ standard: [CInt: RunLoop.Child.Stream], _ environment: [String: String]?,
        _ directory: String?, _ options: RunLoop.Child.Options, listsInherited: Bool = false
    ) throws(RunLoop.Error) {
        self.listsInherited = listsInherited
        self.arguments = try CStrings(arguments) { "argument \($0)" }
        if let environment {
            self.environment = try CStrings(environment.map { "\($0)=\($1)" }) { _ in "a variable of the environment" }
        } else {
            self.environment = nil
        }
        if let directory {
            self.directory = try CStrings([directory]) { _ in "the directory" }
        } else {
            self.directory = nil
        }
        if let program = options.program {
            self.program = try CStrings([program]) { _ in "the program" }
        } else {
            program = nil
        }
        self.options = options
        for (number, stream) in standard { try append(number, stream.kind) }
        for (number, stream) in options.descriptors { try append(number, stream.kind) }
        let streams = standard.merging(options.descriptors) { $1 }
        for (number, stream) in streams {
            if case .same(let other) = stream.kind, case .terminal = streams[other]?.kind {
                shares.append((number, other))
            }
        }
    }

    deinit {
        for file in files { closeDescriptor(file) }
    }

    private func append(_ number: CInt, _ kind: RunLoop.Child.Stream.Kind) throws(RunLoop.Error) {
        var descriptor = unsafe runloop_child_descriptor()
        unsafe descriptor.number = number
        switch kind {
        // What exec leaves there.
        case .inherited where !listsInherited && (0...2).contains(number): return
        case .inherited: unsafe descriptor.kind = .RUNLOOP_CHILD_INHERITED
        case .null: unsafe descriptor.kind = .RUNLOOP_CHILD_NULL
        case .pipe where number != 0: unsafe descriptor.kind = .RUNLOOP_CHILD_OUTPUT_PIPE
        case .pipe, .inputPipe: unsafe descriptor.kind = .RUNLOOP_CHILD_INPUT_PIPE
        case .terminal(let rows, let columns):
            unsafe descriptor.kind = .RUNLOOP_CHILD_TERMINAL
            terminal = (number, rows, columns)
        case .file(let path, let appending):
            unsafe descriptor.kind = .RUNLOOP_CHILD_DESCRIPTOR
            unsafe descriptor.from = try openFile(path, writing: number != 0, appending: appending)
            unsafe files.append(descriptor.from)
        case .descriptor(let from): unsafe (descriptor.kind, descriptor.from) = (.RUNLOOP_CHILD_DESCRIPTOR, from)
        case .same(let from): unsafe (descriptor.kind, descriptor.from) = (.RUNLOOP_CHILD_SAME, from)
        }
        unsafe descriptors.append(descriptor)
    }

    private var group: Int32 {
        switch options.group {
        case .parents: Int32(RUNLOOP_CHILD_PARENTS_GROUP)
        case .new: Int32(RUNLOOP_CHILD_NEW_GROUP)
        case .newSession: Int32(RUNLOOP_CHILD_NEW_SESSION)
        case .existing(let group): group
        }
    }

    /// Calls `create` with the configuration, once.
    func run(
        _ create: (inout runloop_child_start_config, inout OpaquePointer?) -> Int32
    ) throws(RunLoop.Error) -> OpaquePointer? {
        if let signal = options.ignoredSignals.first(where: { !(1...64).contains($0) }) {
            throw RunLoop.Error.invalid.about("signal \(signal)")
        }
        var config = unsafe runloop_child_start_config()
        unsafe config.arguments = UnsafePointer(arguments.pointer)
        unsafe config.environment = environment.map { unsafe UnsafePointer($0.pointer) }
        unsafe config.program = program?.pointer.pointee
        unsafe config.searches = true
        unsafe config.directory = directory?.pointer.pointee
        unsafe config.group = group
        unsafe config.has_terminal = options.terminal != nil
        unsafe config.terminal = options.terminal ?? -1
        if let terminal { unsafe (config.terminal_rows, config.terminal_columns) = (terminal.rows, terminal.columns) }
        unsafe config.parent_death_signal = options.parentDeathSignal ?? 0
        unsafe config.ignored_signals = options.ignoredSignals.reduce(0) { $0 | 1 << ($1 - 1) }
        let limits = options.limits.map { runloop_child_limit(resource: $0, soft: $1.soft, hard: $1.hard) }
        return try unsafe withExtendedLifetime(self) { () throws(RunLoop.Error) in
            try unsafe run(&config, limits, create)
        }
    }

    private func run(
        _ config: inout runloop_child_start_config, _ limits: [runloop_child_limit],
        _ create: (inout runloop_child_start_config, inout OpaquePointer?) -> Int32
    ) throws(RunLoop.Error) -> OpaquePointer? {
        let ends = unsafe UnsafeMutableBufferPointer<CInt>.allocate(capacity: descriptors.count)
        defer { unsafe ends.deallocate() }
        unsafe ends.initialize(repeating: -1)
        for index in unsafe descriptors.indices {
            unsafe descriptors[index].parent_end = ends.baseAddress.map { unsafe $0 + index }
        }
        var core: OpaquePointer?
        var failed = [CChar](repeating: 0, count: 4_200)
        let result = unsafe failed.withUnsafeMutableBufferPointer { failed in
            unsafe descriptors.withUnsafeBufferPointer { descriptors in
                unsafe limits.withUnsafeBufferPointer { limits in
                    unsafe (config.failed, config.failed_size) = (failed.baseAddress, failed.count)
                    unsafe (config.descriptors, config.descriptor_count) = (descriptors.baseAddress, descriptors.count)
                    unsafe (config.limits, config.limit_count) = (limits.baseAddress, limits.count)
                    return unsafe create(&config, &core)
                }
            }
        }
        if result < 0 {
            let subject = unsafe failed.withUnsafeBufferPointer {
                unsafe $0.baseAddress.map { unsafe String(cString: $0) } ?? ""
            }
            throw RunLoop.Error(result: result, of: .start, subject: subject.isEmpty ? nil : subject)
        }
        for index in unsafe descriptors.indices where unsafe ends[index] >= 0 {
            let descriptor = unsafe descriptors[index]
            let kind: ChildPipes.Kind =
                switch unsafe descriptor.kind {
                case .RUNLOOP_CHILD_INPUT_PIPE: .input
                case .RUNLOOP_CHILD_TERMINAL: .terminal
                default: .output
                }
            unsafe self.ends.append((descriptor.number, ends[index], kind))
        }
        return unsafe core
    }
}
#endif
