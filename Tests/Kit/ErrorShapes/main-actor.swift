// In a function of the main actor.
import RunLoopKit
import RunLoopKitLinux

@MainActor func mainActor(_ paths: [String]) throws {
    do { _ = try RunLoop.Listener(.unix("/run/x"), on: .main) } catch RunLoop.Error.addressInUse { return }
    let saved = try RunLoop.Source(watching: "x", perform: RunLoop.onMainActor { _ in print("saved") })
    for path in paths where !path.isEmpty { try RunLoop.main.add(saved, forMode: .common) }
}
