import RunLoopKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The kernel's notices of changes to files and directories (inotify), as calls in the main loop.
///
/// A notice is a hint to look, nothing more. Who looks at the file itself cannot be wrong about it, whatever order notices
/// come in, and however many of them the kernel has dropped.
@MainActor final class Watches {
    typealias Action = @MainActor () -> Void

    enum Kind {
        case file
        /// Of its names as well as of itself.
        case directory

        fileprivate var events: UInt32 {
            switch self {
            // The second one tells of the end of a name, too: the number of names is an attribute.
            case .file: UInt32(IN_MODIFY) | UInt32(IN_ATTRIB)
            case .directory:
                [IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_ATTRIB, IN_DELETE_SELF, IN_MOVE_SELF, IN_ONLYDIR]
                    .reduce(0) { $0 | UInt32($1) }
            }
        }
    }

    /// Somebody's wish to be called. The kernel has one watch per file, however many want to know.
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

    /// Has `action` called when something happens to what has the path now.
    ///
    /// - Parameter name: in a directory, only what happens to this name, and to the directory itself.
    /// - Throws: ENOENT and ENOTDIR if it is not there; ENOSPC if the user has too many watches.
    func watch(_ path: String, _ kind: Kind, name: String? = nil, _ action: @escaping Action) throws(SystemError)
        -> Watch
    {
        // The kernel knows what it watches already, and answers with the same number.
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
        // One notice has at most a name of 255 bytes; there is room for many.
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
            // Nobody knows what was dropped, so everybody looks.
            for interest in interests.values.joined() { interest.action() }
            return
        }
        for interest in interests[notice.wd] ?? [] where name.isEmpty || interest.name == nil || interest.name == name {
            interest.action()
        }
        // What was watched is gone, and the kernel's watch with it.
        if notice.mask & UInt32(IN_IGNORED) != 0 { interests[notice.wd] = nil }
    }
}

/// Ends when it is let go of.
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

/// Here, because the method has the name of the function.
private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
