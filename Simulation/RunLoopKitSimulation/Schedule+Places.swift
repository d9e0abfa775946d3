#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit

/// The places at which a turn may change though nothing was sent: where a lock is taken or given back, and before a continuation is awaited. A choice
/// is one among many of them, or none.
struct Places {
    /// The number of the one that was chosen; 0: none.
    var chosen = 0
    /// Of the last that was reached. After the last of all, there is a new choice.
    var number = Choices.placesAtATime
    /// How many more C was told to count.
    var step = 1
}

extension Schedule {
    func followPlaces() {
        unsafe world.pointee.places_left = 1
        unsafe world.pointee.pass_place = { unsafe RunLoop.Simulation.at($0)?.schedule.passPlace() }
    }

    /// The calling thread is at the place up to which it was to count.
    private func passPlace() {
        guard runloop_simulation_enter() else { return }
        defer { runloop_simulation_exit() }
        if isOver {
            unsafe world.pointee.places_left = .max
            return
        }
        let isHere = reachPlace()
        unsafe world.pointee.places_left = Int64(places.step)
        if !isHere && !choices.isSearch { return }
        let me = Int(runloop_simulation_member())
        let others = candidates(current: me).filter { $0.member != me || $0.job != nil }
        if others.isEmpty { return }
        if choices.isSearch { choices.notePlace(isHere ? places.chosen : places.number) }
        if !isHere { return }
        if story != nil { tell(.did("stops"), by: currentName) }
        handOver(from: me, to: choose(others, .turn))
    }

    /// Is it the chosen one?
    private func reachPlace() -> Bool {
        places.number += places.step
        if places.number > (places.chosen == 0 ? Choices.placesAtATime : places.chosen) {
            (places.chosen, places.number) = (choices.choosePlace(), 1)
        }
        let isHere = places.number == places.chosen
        let next = places.chosen == 0 ? Choices.placesAtATime + 1 : places.chosen + (isHere ? 1 : 0)
        places.step = choices.isSearch ? 1 : next - places.number
        return isHere
    }
}
#endif
