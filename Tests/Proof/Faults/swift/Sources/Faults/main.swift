import FaultDriver
import Glibc

/// The dispatch library makes a descriptor for its main queue, and ends the program if it can't. So that is done before anything fails.
@_silgen_name("_dispatch_get_main_queue_handle_4CF")
func makeDescriptorOfMainQueue() -> CInt
_ = makeDescriptorOfMainQueue()

typealias Scenario = (name: StaticString, run: @convention(c) () -> outcome)

let scenarios: [Scenario] = [
    ("a timer", aTimer),
    ("a descriptor", aDescriptor),
    ("a signalled source, an observer", aSignalledSourceAndAnObserver),
    ("closures and a nested run", performedClosuresAndANestedRun),
    ("a hosted run", aHostedRun),
    ("a thread", aThread),
    ("a signal", aSignal),
    ("changes of a file", changesOfAFile),
    ("an alarm", anAlarm),
    ("a counter", aCounter),
    ("a shutdown", aShutdown),
    ("a task that sleeps", aTaskThatSleeps),
    ("ticks in a task", ticksInATask),
    ("signals in a task", signalsInATask),
    ("a port", aPort),
    ("lines of a socket", linesOfASocket),
    ("a reader", aReader),
    ("a writer", aWriter),
    ("a connection", aConnection),
    ("a started child", aStartedChild),
    ("a child that is ended", aChildThatIsEnded),
    ("a channel", aChannel),
]

let group = UnsafeMutablePointer<scenario>.allocate(capacity: scenarios.count + 1)
for (place, each) in scenarios.enumerated() {
    let name = UnsafeRawPointer(each.name.utf8Start).assumingMemoryBound(to: CChar.self)
    (group + place).initialize(to: scenario(name: name, run: each.run, spares_allocations: false))
}
(group + scenarios.count).initialize(to: scenario())
let groups = UnsafeMutablePointer<UnsafePointer<scenario>?>.allocate(capacity: 1)
groups.initialize(to: UnsafePointer(group))

/// The pages of what does not throw announce these.
let announced: [StaticString] = [
    "This thread has no run loop: descriptors or memory ran out",
    "The main run loop cannot be made: descriptors or memory ran out",
    "Memory ran out while a run loop was changed.",
]
let ends = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: announced.count + 1)
for (place, text) in announced.enumerated() {
    (ends + place).initialize(to: UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self))
}
(ends + announced.count).initialize(to: nil)

var plan = fault_plan()
plan.size = MemoryLayout<fault_plan>.size
plan.groups = UnsafePointer(groups)
plan.group_count = 1
// Swift's own memory comes from these.
plan.spared_kinds = UnsafeRawPointer(("mmap madvise" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
plan.announced_ends = UnsafePointer(ends)
plan.executes = true
plan.works = { aTimer() == AS_EXPECTED }
let isGood = fault_plan_try(&plan, CommandLine.argc - 1, CommandLine.unsafeArgv + 1)
exit(isGood ? 0 : 1)
