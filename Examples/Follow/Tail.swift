/// An open file, and how much of it has been printed. It follows the file, not its name.
@MainActor final class Tail {
    enum Start {
        case lastLines(Int)
        case beginning
    }

    let identity: Identity
    private let file: File
    private var offset: Int

    init(_ file: File, from start: Start) throws(SystemError) {
        self.file = file
        identity = try file.status().identity
        switch start {
        case .beginning: offset = 0
        case .lastLines(let count): offset = try file.offset(ofLast: count)
        }
    }

    /// Leads to the file, whatever its name is now.
    var link: String { "/proc/self/fd/\(file.descriptor)" }

    /// Whether the last name has been removed, so that nothing more is expected.
    var isDeleted: Bool { (try? file.status().isDeleted) ?? true }

    /// Prints a piece, of bounded size, of what has been appended. Returns whether there may be more.
    func printOn(_ output: Output, as name: String) -> Bool {
        do throws(SystemError) {
            if try file.status().size < offset {
                Message.print("\(name): file truncated")
                offset = 0
            }
            let bytes = try file.bytes(at: offset)
            offset += bytes.count
            output.print(bytes, from: name)
            return !bytes.isEmpty
        } catch {
            Message.print("\(name): \(error)")
            return false
        }
    }

    func close() { file.close() }
}
