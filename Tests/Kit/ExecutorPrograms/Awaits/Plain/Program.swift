import AwaitsOnLoop

/// The main actor on the main dispatch queue.
@main struct Program {
    static func main() { runAwaits() }
}
