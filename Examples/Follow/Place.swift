#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where a path is: the directories that lead there, as far as they exist. Each of them may be moved away, or come.
@MainActor final class Place {
    private let path: String
    private let watches: Watches
    private var current: [Watch] = []
    /// Something has happened on the way, so that other directories may lead there now.
    private var isStale = true

    init(of path: String, _ watches: Watches) {
        self.path = path
        self.watches = watches
    }

    /// Has `action` called when something happens to the path, or to what leads there.
    ///
    /// From the top down: should a directory come right after it was found missing, the one above is watched already.
    func watch(_ action: @escaping Watches.Action) {
        if !isStale { return }
        isStale = false
        var folder = path.hasPrefix("/") ? "/" : "."
        var watches: [Watch] = []
        for name in path.split(separator: "/").map(String.init) {
            do throws(SystemError) {
                let watch = try self.watches.watch(folder, .directory, name: name) { [weak self] in
                    self?.isStale = true
                    action()
                }
                watches.append(watch)
            } catch {
                if error.number != ENOENT && error.number != ENOTDIR { Message.print("\(folder): \(error)") }
                break
            }
            folder = folder == "/" ? "/" + name : folder + "/" + name
        }
        // The former ones end only now, so that what both have is not taken from the kernel and given back.
        current = watches
    }
}
