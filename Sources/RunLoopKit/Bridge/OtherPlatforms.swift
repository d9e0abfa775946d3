#if !os(Linux)
/// Elsewhere the module is empty but for this, so that a use outside of `#if os(Linux)` is answered by a sentence. Where Foundation is imported
/// too, the name means Foundation's class, since an unavailable declaration never hides an available one.
@available(*, unavailable, message: "RunLoopKit is for Linux: import it, and use it, inside of #if os(Linux).")
@dynamicMemberLookup
public final class RunLoop {
    /// So that `RunLoop.current` is answered as well, not by the lack of such a member.
    public static subscript(dynamicMember name: String) -> Never { preconditionFailure() }
}
#endif
