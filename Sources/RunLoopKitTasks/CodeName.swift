#if os(Linux)
internal import RunLoopKit

/// A function's name, in which the closures come first: each part in the next.
struct CodeName {
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
            if part.hasPrefix("implicit closure #") {
                return part.split(separator: " ").prefix(3).joined(separator: " ")
            }
            if part.hasPrefix("closure #") { return part.split(separator: " ").prefix(2).joined(separator: " ") }
            let path = part.split(separator: " ").first { $0.contains(".") } ?? part
            let names = path.replacing("@Sendable", with: "").split(separator: ".")
            return names.dropFirst(names.count > 1 ? 1 : 0).joined(separator: ".")
        }
    }

    /// Is it a method of an actor? Not if that is generic, or in an extension.
    static func isOfActor(_ name: String) -> Bool {
        if let known = methods.withLock({ $0[name] }) { return known }
        let isOfActor = type(of: name) is any Actor.Type
        methods.withLock { $0[name] = isOfActor }
        return isOfActor
    }

    private static let methods = Guarded<[String: Bool]>([:])

    /// The type that has a method, `Module.Type.method`, or `Module.(Type in _0123)` if it is private. `nil` if it has none, or one with parameters.
    private static func type(of name: String) -> Any.Type? {
        var path: [String] = []
        var rest = name.prefix { !"<:".contains($0) }
        while let end = rest.firstIndex(of: "."), rest[..<end].wholeMatch(of: /\w+|\(\w+ in _\w+\)/) != nil {
            path.append(String(rest[..<end]))
            rest = rest[end...].dropFirst()
        }
        guard path.count == 2 || path.count == 3 else { return nil }
        let outer = path.count == 2 ? [""] : ["V", "C", "O"]
        return outer.lazy.compactMap { kind in
            _typeByName(mangled(path[0]) + path.dropFirst().map(mangled).joined(separator: kind) + "C")
        }.first
    }

    private static func mangled(_ name: String) -> String {
        let words = name.split { "( )".contains($0) }
        guard words.count == 3 else { return "\(name.utf8.count)\(name)" }
        return "\(words[0].utf8.count)\(words[0])\(words[2].utf8.count)\(words[2])LL"
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
#endif
