import AwaitsOnLoop

/// The main actor on the main loop itself.
@main struct Program {
    static func main() { runAwaits() }
}
