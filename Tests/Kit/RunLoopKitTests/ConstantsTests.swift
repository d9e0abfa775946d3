import CRunLoopCore
import Glibc
import RunLoopKit
import Testing

/// Each constant that exists in C and in Swift is compared here.
@Suite struct ConstantsTests {
    @Test("The results of a run have the values of the C header")
    func runResults() {
        #expect(runloop_result.RUNLOOP_RESULT_FINISHED.rawValue == RunLoop.RunResult.finished.rawValue)
        #expect(runloop_result.RUNLOOP_RESULT_STOPPED.rawValue == RunLoop.RunResult.stopped.rawValue)
        #expect(runloop_result.RUNLOOP_RESULT_TIMED_OUT.rawValue == RunLoop.RunResult.timedOut.rawValue)
        #expect(runloop_result.RUNLOOP_RESULT_HANDLED_SOURCE.rawValue == RunLoop.RunResult.handledSource.rawValue)
    }

    @Test("The activities have the values of the C header")
    func activities() {
        let activities: [(RunLoop.Observer.Activities, runloop_activity)] = [
            (.entry, .RUNLOOP_ACTIVITY_ENTRY),
            (.beforeTimers, .RUNLOOP_ACTIVITY_BEFORE_TIMERS),
            (.beforeSources, .RUNLOOP_ACTIVITY_BEFORE_SOURCES),
            (.beforeWaiting, .RUNLOOP_ACTIVITY_BEFORE_WAITING),
            (.afterWaiting, .RUNLOOP_ACTIVITY_AFTER_WAITING),
            (.exit, .RUNLOOP_ACTIVITY_EXIT),
            (.all, .RUNLOOP_ACTIVITY_ALL),
        ]
        for (ours, core) in activities { #expect(ours.rawValue == core.rawValue) }
    }

    @Test("The conditions of a descriptor have the values of the C header")
    func readiness() {
        #expect(RunLoop.Source.Readiness.read.rawValue == runloop_readiness.RUNLOOP_READABLE.rawValue)
        #expect(RunLoop.Source.Readiness.priority.rawValue == runloop_readiness.RUNLOOP_PRIORITY.rawValue)
        #expect(RunLoop.Source.Readiness.write.rawValue == runloop_readiness.RUNLOOP_WRITABLE.rawValue)
        #expect(RunLoop.Source.Readiness.error.rawValue == runloop_readiness.RUNLOOP_ERROR.rawValue)
        #expect(RunLoop.Source.Readiness.hangUp.rawValue == runloop_readiness.RUNLOOP_HANG_UP.rawValue)
        #expect(RunLoop.Source.Readiness.signalled.rawValue == runloop_readiness.RUNLOOP_SIGNALLED.rawValue)
        #expect(RunLoop.Source.Readiness.due.rawValue == runloop_readiness.RUNLOOP_DUE.rawValue)
    }

    @Test("The modes have the names of the C header")
    func modeNames() {
        #expect(RunLoop.Mode.default.rawValue == RUNLOOP_DEFAULT_MODE)
        #expect(RunLoop.Mode.common.rawValue == RUNLOOP_COMMON_MODES)
        #expect(RunLoop.Mode.tracking.rawValue == RUNLOOP_TRACKING_MODE)
        #expect(RunLoop.Mode.initialization.rawValue == RUNLOOP_INITIALIZATION_MODE)
    }

    @Test("The errors have the numbers of the C library")
    func errorNumbers() {
        #expect(RunLoop.Error.permissionDenied.errorNumber == EPERM)
        #expect(RunLoop.Error.badDescriptor.errorNumber == EBADF)
        #expect(RunLoop.Error.outOfMemory.errorNumber == ENOMEM)
        #expect(RunLoop.Error.tooManyDescriptors.errorNumber == EMFILE)
        #expect(RunLoop.Error.tooManyWatches.errorNumber == ENOSPC)
        #expect(RunLoop.Error.inAnotherLoop.errorNumber == EBUSY)
        #expect(RunLoop.Error.invalid.errorNumber == EINVAL)
        #expect(RunLoop.Error.loopFinished.errorNumber == ESHUTDOWN)
        #expect(RunLoop.Error.inheritedAcrossFork.errorNumber == ECHILD)
    }

    @Test("The loop's clock is the suspending clock, to the nanosecond")
    func clock() {
        // Each pair brackets the other clock's reading: equal clocks never leave the bracket.
        for _ in 0..<1000 {
            let before = RunLoop.Instant.now
            let now = RunLoop.Instant(SuspendingClock.now)
            let after = RunLoop.Instant.now
            #expect(now >= before && now <= after)
            #expect(RunLoop.Instant(SuspendingClock.Instant(now)) == now)
        }
    }
}
