import AwaitsOnLoop

/// The main actor on the main loop itself, as everything else.
@main struct Program {
    static func main() { runAwaits() }
}
