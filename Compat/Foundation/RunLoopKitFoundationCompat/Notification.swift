#if os(Linux)
/// The namespace of `Name`. Foundation's class of this name is not offered; programs post `Notification` values.
public enum NSNotification {
    /// The name of a notification.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The text.
        public let rawValue: String

        /// The name with that text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The name with that text.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

/// Foundation's notification: something that happened, posted to the observers of a center.
///
/// Not Sendable, as in Foundation: its object and information may be of any type.
public struct Notification: Hashable {
    /// The name of a notification.
    public typealias Name = NSNotification.Name

    /// What has happened.
    public var name: Name
    /// What it happened to: usually the sender.
    public var object: Any?
    /// Further information.
    public var userInfo: [AnyHashable: Any]?

    /// Makes a notification. It is not posted yet.
    public init(name: Name, object: Any? = nil, userInfo: [AnyHashable: Any]? = nil) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
    }

    /// Equal names, the same object, and equal information (values that cannot be compared are different).
    public static func == (a: Notification, b: Notification) -> Bool {
        guard a.name == b.name, isSame(a.object, b.object) else { return false }
        guard let infoA = a.userInfo, let infoB = b.userInfo else { return a.userInfo == nil && b.userInfo == nil }
        return infoA.count == infoB.count && infoA.allSatisfy { key, value in isSame(value, infoB[key]) }
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Notification: CustomStringConvertible {
    /// The name and the other values. For people and logs.
    public var description: String {
        var text = "name = \(name.rawValue)"
        if let object { text += ", object = \(object)" }
        if let userInfo { text += ", userInfo = \(userInfo)" }
        return text
    }
}

@available(*, unavailable)
extension Notification: @unchecked Sendable {}

/// Are these the same sender? Objects by identity, values by equality; `nil` is the same as `nil`.
func isSame(_ a: Any?, _ b: Any?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    if let a = asObject(a) { return a === asObject(b) }
    guard asObject(b) == nil, let a = a as? AnyHashable, let b = b as? AnyHashable else { return false }
    return a == b
}

/// The object that a value is; `nil` for a structure or an enumeration, which `as AnyObject` would put into a new one.
func asObject(_ value: Any) -> AnyObject? {
    type(of: value) is AnyObject.Type ? value as AnyObject : nil
}
#endif
