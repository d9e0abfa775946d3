#if os(Linux)
extension RunLoop.Observer.Activities: CustomStringConvertible {
    /// The name of the activity, or the names, `[beforeTimers, exit]`; `all` in one word, and bits without a name as a number.
    public var description: String {
        if self == .all { return "all" }
        return describe(
            self,
            [
                (.entry, "entry"), (.beforeTimers, "beforeTimers"), (.beforeSources, "beforeSources"),
                (.beforeWaiting, "beforeWaiting"), (.afterWaiting, "afterWaiting"), (.exit, "exit"),
            ])
    }
}

extension RunLoop.Source.Readiness: CustomStringConvertible {
    /// The name of the reason, or the names, `[read, hangUp]`; bits without a name as a number.
    public var description: String {
        describe(
            self,
            [
                (.read, "read"), (.priority, "priority"), (.write, "write"), (.error, "error"), (.hangUp, "hangUp"),
                (.signalled, "signalled"), (.due, "due"),
            ])
    }
}

/// A set of one is its name. Any other set is a list in brackets.
private func describe<Options: OptionSet>(
    _ options: Options, _ known: [(option: Options, name: String)]
) -> String where Options.RawValue == UInt32, Options.Element == Options {
    var names = known.filter { options.contains($0.option) }.map(\.name)
    let rest = known.reduce(options.rawValue) { $0 & ~$1.option.rawValue }
    if rest != 0 { names.append("0x" + String(rest, radix: 16)) }
    return names.count == 1 ? names[0] : "[" + names.joined(separator: ", ") + "]"
}
#endif
