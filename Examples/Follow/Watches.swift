import RunLoopKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The kernel's notifications of changes to files and directories (inotify), as calls in the main loop.
///
/// A notification is only a hint to check the file. The file itself is always right, in whatever order notifications come,
/// and however many of them the kernel has dropped.
@MainActor final class Watches {
    typealias Action = @MainActor () -> Void

    enum Kind {
        case file
        /// Changes of its names and of the file itself.
        case directory

        fileprivate var events: UInt32 {
            switch self {
            // The second one also reports the removal of a name: the number of names is an attribute.
            case .file: UInt32(IN_MODIFY) | UInt32(IN_ATTRIB)
            case .directory:
                [IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_ATTRIB, IN_DELETE_SELF, IN_MOVE_SELF, IN_ONLYDIR]
                    .reduce(0) { $0 | UInt32($1) }
            }
        }
    }

    /// A registered call. The kernel has one watch per file, for any number of these.
    fileprivate struct Interest {
        let token: Watch.Token
        /// Only changes of this name, if there is one.
        let name: String?
        let action: Action
    }

    private let descriptor: CInt
    private var interests: [CInt: [Interest]] = [:]
    private var tokensSoFar = 0
    private var source: RunLoop.Source?

    init(on loop: RunLoop) throws {
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        if descriptor < 0 { throw SystemError("inotify_init1") }
        let source = try RunLoop.Source(isolation: .shared, fileDescriptor: descriptor) { [weak self] _ in self?.read()
        }
        try loop.add(source, forMode: .default)
        self.source = source
    }

    /// Calls `action` when something happens to the file that is at the path now.
    ///
    /// - Parameter name: in a directory, only what happens to this name, and to the directory itself.
    /// - Throws: ENOENT and ENOTDIR if there is none; ENOSPC if the user has too many watches.
    func watch(_ path: String, _ kind: Kind, name: String? = nil, _ action: @escaping Action) throws(SystemError)
        -> Watch
    {
        // For a file that it watches already, the kernel returns the same number.
        let number = inotify_add_watch(descriptor, path, kind.events)
        if number < 0 { throw SystemError("inotify_add_watch") }
        tokensSoFar += 1
        let token = Watch.Token(number: number, serial: tokensSoFar)
        interests[number, default: []].append(Interest(token: token, name: name, action: action))
        return Watch(token: token, owner: self)
    }

    fileprivate func end(_ token: Watch.Token) {
        guard var remaining = interests[token.number] else { return }
        remaining.removeAll { $0.token == token }
        interests[token.number] = remaining.isEmpty ? nil : remaining
        if remaining.isEmpty { inotify_rm_watch(descriptor, token.number) }
    }

    private func read() {
        // A notification has a name of at most 255 bytes; the buffer has space for many.
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            let count = systemRead(descriptor, buffer.baseAddress, buffer.count)
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)])
            while !rest.isEmpty {
                // The name follows the fixed part, padded with zeros.
                let size = MemoryLayout<inotify_event>.size
                let notice = rest.loadUnaligned(as: inotify_event.self)
                let name = rest[size..<(size + Int(notice.len))].prefix { $0 != 0 }
                tell(notice, name: String(decoding: name, as: UTF8.self))
                rest = UnsafeRawBufferPointer(rebasing: rest[(size + Int(notice.len))...])
            }
        }
    }

    private func tell(_ notice: inotify_event, name: String) {
        if notice.mask & UInt32(IN_Q_OVERFLOW) != 0 {
            // The dropped notifications are unknown, so every file is checked.
            for interest in interests.values.joined() { interest.action() }
            return
        }
        for interest in interests[notice.wd] ?? [] where name.isEmpty || interest.name == nil || interest.name == name {
            interest.action()
        }
        // The watched file is gone, and so is the kernel's watch.
        if notice.mask & UInt32(IN_IGNORED) != 0 { interests[notice.wd] = nil }
    }
}

/// The watch ends when this is released.
@MainActor final class Watch {
    fileprivate struct Token: Hashable {
        let number: CInt
        let serial: Int
    }

    private let token: Token
    private let owner: Watches

    fileprivate init(token: Token, owner: Watches) {
        (self.token, self.owner) = (token, owner)
    }

    isolated deinit {
        owner.end(token)
    }
}

/// A global function, because the method of that name would hide the system call.
private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
