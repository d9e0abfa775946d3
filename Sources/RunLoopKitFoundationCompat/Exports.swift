// What a file that imports Foundation on Linux gets besides Foundation itself, and needs for `Date` and `TimeInterval`.
@_exported public import Dispatch
@_exported public import FoundationEssentials

#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
#endif

/// What Foundation's objects have in common. Here it says only that something is an object: the methods of NSObject are not
/// there. Its use is to name the type of an observer's token.
public protocol NSObjectProtocol: AnyObject {}

/// A reference to something that is not Sendable, taken across threads by code that knows how it is guarded there.
struct Unguarded<Object>: @unchecked Sendable {
    let object: Object

    init(_ object: Object) {
        self.object = object
    }
}
