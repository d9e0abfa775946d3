#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file or a directory, independent of its current name.
struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
}

/// What the system says about a file.
struct Status {
    enum Kind { case file, directory, other }

    let identity: Identity
    let kind: Kind
    /// In bytes.
    let size: Int
    /// Whether its last name has been removed.
    let isDeleted: Bool

    /// Of the file at that path now; `nil` if there is none, or if the system does not say.
    init?(path: String) {
        var status = stat()
        if stat(path, &status) != 0 { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        size = Int(status.st_size)
        isDeleted = status.st_nlink == 0
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        default: kind = .other
        }
    }
}

/// A file that is open for reading. Its opener closes it. While it is open, no other file can have its identity.
struct File {
    let descriptor: CInt

    /// Opening does not block, even for a FIFO.
    init(path: String) throws(SystemError) {
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw SystemError("open") }
    }

    func status() throws(SystemError) -> Status {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw SystemError("fstat") }
        return Status(status)
    }

    /// The bytes at an offset; none (`[]`) at the end.
    func bytes(at offset: Int, upTo limit: Int = 65_536) throws(SystemError) -> [UInt8] {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            repeat {
                count = pread(descriptor, buffer.baseAddress, limit, off_t(offset))
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        if count < 0 { throw SystemError("read") }
        return bytes
    }

    /// The offset at which the last lines begin. The end of the last one need not have been written yet.
    func offset(ofLast lines: Int) throws(SystemError) -> Int {
        var end = try status().size
        if lines == 0 { return end }
        var breaks = 0
        // The end of the last line begins no other line.
        if end > 0, try bytes(at: end - 1, upTo: 1) == [UInt8(ascii: "\n")] { breaks = -1 }
        while end > 0 {
            let start = max(0, end - 65_536)
            let block = try bytes(at: start, upTo: end - start)
            for index in block.indices.reversed() where block[index] == UInt8(ascii: "\n") {
                breaks += 1
                if breaks == lines { return start + index + 1 }
            }
            end = start
        }
        return 0
    }

    func close() { closeDescriptor(descriptor) }

    /// The names in a directory, in order.
    static func names(inDirectory path: String) throws(SystemError) -> [String] {
        guard let directory = opendir(path) else { throw SystemError("opendir") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// A global function, because the method of that name would hide the system call.
private func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
