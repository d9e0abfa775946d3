#if os(Linux)
// The modules that a file gets on Linux by importing Foundation, and that it needs for `Date` and `TimeInterval`.
@_exported public import Dispatch
@_exported public import FoundationEssentials

#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
#endif

/// The protocol of Foundation's objects. Here it only means that something is an object, and has none of NSObject's methods. It
/// names the type of an observer's token.
public protocol NSObjectProtocol: AnyObject {}

/// A reference to a value that is not Sendable, passed between threads by code that guards it.
struct Unguarded<Object>: @unchecked Sendable {
    let object: Object

    init(_ object: Object) {
        self.object = object
    }
}
#endif
