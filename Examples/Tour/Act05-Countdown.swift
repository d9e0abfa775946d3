/// Counts the parties that the act waits for.
@MainActor final class Countdown {
    private var remaining: Int
    private let whenOver: () -> Void

    init(from remaining: Int, whenOver: @escaping () -> Void) {
        (self.remaining, self.whenOver) = (remaining, whenOver)
    }

    func oneLess() {
        remaining -= 1
        if remaining == 0 { whenOver() }
    }
}
