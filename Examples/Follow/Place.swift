#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The place of a path: the directories that lead to it, as far as they exist. Each may be moved away or created.
@MainActor final class Place {
    private let path: String
    private let watches: Watches
    private var current: [Watch] = []
    /// Whether something has changed on the way, so that other directories may lead there now.
    private var isStale = true

    init(of path: String, _ watches: Watches) {
        self.path = path
        self.watches = watches
    }

    /// Calls `action` when something happens to the path, or to the directories that lead to it.
    ///
    /// From the top down: if a directory is created right after it was found missing, the one above it is watched already.
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
        // The former watches end only now, so that the kernel's watches that both share are kept.
        current = watches
    }
}
