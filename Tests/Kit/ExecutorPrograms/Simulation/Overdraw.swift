import RunLoopKit
import RunLoopKitSimulation

/// Two loops and three tasks, with dice and virtual time: a failure of which much depends on the order of events.
@Sendable func overdraw(_ simulation: RunLoop.Simulation) async throws {
    let account = Account()
    let teller = try simulation.makeLoop("teller")
    let receipts = Guarded(0)
    await withTaskGroup(of: Void.self) { group in
        // The elements of a set have an order of their own.
        for name in Set(["Ada", "Grace", "Barbara"]) {
            group.addTask {
                simulation.note("\(name) comes")
                try? await Task.sleep(for: .milliseconds(Int.random(in: 0..<4)))
                await account.withdraw(40)
                teller.perform { receipts.withLock { $0 += 1 } }
            }
        }
    }
    let balance = await account.balance
    simulation.note("\(balance) are left")
    try simulation.require(balance >= 0, "the account is not overdrawn")
}

private actor Account {
    private(set) var balance = 100

    func withdraw(_ amount: Int) async {
        guard balance >= amount else { return }
        // The check is stale after this.
        try? await Task.sleep(for: .milliseconds(1))
        balance -= amount
    }
}
