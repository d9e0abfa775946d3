import ForkedChild
import Glibc
import Testing

/// Executors belong to a process, so each of these tests runs a program.
@Suite struct ExecutorProgramTests {
    @Test("With RunLoopKitMainActor linked, an async main and the main actor stay on the initial thread, alone")
    func mainLoopServesInitialThread() async throws {
        #expect(
            try await runProgram("async-main-program").output == """
                main before await: true
                main after await: true
                main actor: true
                main queue: true
                timer of the main loop: true
                pool: false
                after a stop and a sequence: true

                """)
    }

    @Test(
        "With RunLoopKitSingleThread linked, everything runs on the main loop",
        arguments: [
            "threads", "order", "priorities", "sleeps", "cancellation", "fairness", "flood", "long", "nested", "others",
            "isolation", "blocking", "memory", "fork", "stop", "virtual", "virtual-end", "tasks", "tasks-races",
        ])
    func singleThread(name: String) async throws {
        if name == "fork" && isUnderThreadSanitizer { return }
        #expect(try await runProgram("single-thread-program", name) == Ending(status: 0, output: "\(name): done\n"))
    }

    @Test(
        "With a synchronous main, too: in a run, hosted, as a guest of the main queue, and when the thread ends",
        arguments: ["run", "hosted", "guest", "later", "quiet", "end", "end-cancel"])
    func synchronousMain(name: String) async throws {
        #expect(try await runProgram("synchronous-main-program", name) == Ending(status: 0, output: "\(name): done\n"))
    }

    @Test(
        "What a loop resumes goes on on its thread, and no other thread has anything to do with it",
        arguments: ["plain", "main-actor", "single-thread"], ["main-actor", "bound-actor", "task-executor"])
    func awaits(program: String, name: String) async throws {
        // The program counts its threads, of which the sanitizer begins one more with the first.
        if isUnderThreadSanitizer { return }
        #expect(try await runProgram("awaits-\(program)-program", name) == Ending(status: 0, output: "\(name): done\n"))
    }

    @Test(
        "Each line that the main actor echoes costs two reads, two writes and two waits, the peer's included, and no other call",
        arguments: ["plain", "main-actor", "single-thread"])
    func systemCalls(program: String) async throws {
        // Where there is no strace, the test before this one counts threads all the same.
        if access("/usr/bin/strace", X_OK) != 0 || isUnderThreadSanitizer || isUnderAddressSanitizer { return }
        let lines = 1000
        let file = "/tmp/runloopkit-awaits-\(getpid())-\(program)"
        let ending = try await runProgram(
            "awaits-\(program)-program", "lines", environment: "strace -f -c -o \(file) env")
        defer { unlink(file) }
        #expect(ending == Ending(status: 0, output: "lines: done\n"))
        let calls = try callCounts(in: file)
        // What begins and ends a program makes some dozens of each.
        let few = 100
        for (name, perLine) in [
            ("read", 2), ("write", 1), ("sendto", 1), ("epoll_wait", 2), ("epoll_ctl", 0), ("poll", 0), ("futex", 0),
            ("eventfd2", 0), ("clone3", 0),
        ] {
            let count = calls[name] ?? 0
            #expect(count <= perLine * lines + few, "\(name): \(count)")
        }
    }

    /// What `strace -c` has counted, by call.
    private func callCounts(in file: String) throws -> [String: Int] {
        let stream = try #require(fopen(file, "r"))
        defer { fclose(stream) }
        var counts: [String: Int] = [:]
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), stream) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
                whereSeparator: \.isWhitespace)
            if words.count >= 5, let count = Int(words[3]), let name = words.last { counts[String(name)] = count }
        }
        return counts
    }

    @Test("Another loop that looks for the main queue's work now and then gets no diagnostic")
    func polledMainQueue() async throws {
        let ending = try await runProgram("synchronous-main-program", "polled 2>&1")
        #expect(ending == Ending(status: 0, output: "polled: done\n"))
    }

    @Test(
        "A job that comes while a run ends is run by who serves the main queue next, without another job",
        arguments: ["exit", "exit-last", "exit-thread", "exit-sleep"])
    func jobAtEndOfRun(name: String) async throws {
        #expect(try await runProgram("foundation-main-program", name) == Ending(status: 0, output: "\(name): done\n"))
    }

    @Test("So is one that another thread adds at about that time")
    func jobsFromThreadsAtEndsOfRuns() async throws {
        for _ in 0..<8 {
            let ending = try await runProgram("foundation-main-program", "exit-races")
            #expect(ending == Ending(status: 0, output: "exit-races: done\n"))
        }
    }

    @Test(
        "Foundation's loop, waiting as XCTest does: costs nothing, is served in jobs, and is polled without a diagnostic",
        arguments: ["idle", "nested", "inside", "polled"])
    func waitsInFoundationsLoop(name: String) async throws {
        #expect(
            try await runProgram("foundation-main-program", "\(name) 2>&1")
                == Ending(status: 0, output: "\(name): done\n"))
    }

    @Test("A task that a run in a mode of its own has resumed goes on where another loop serves the main queue")
    func resumedBesideFoundation() async throws {
        #expect(
            try await runProgram("foundation-beside-program", "") == Ending(status: 0, output: "beside: done\n"))
    }

    @Test("A job that keeps the main loop is named once; one that runs the loop itself is not")
    func blockingJob() async throws {
        let loud = try await runProgram("single-thread-program", "blocks 2>&1").output
        #expect(loud.contains(/^runloop: Task \d+ kept the main loop for \d{3,} ms without an await, in .*keepTheLoop/))
        #expect(loud.split(separator: "\n").count == 2)
        let begun = try await runProgram("single-thread-program", "blocks begun 2>&1").output
        #expect(begun.contains("without an await, in a closure. "))
        // The program's function, and not the call of the library that resumes it; also if the process ends with the job, or before it does.
        for (way, function) in [
            ("resumed", "keepTheLoopAfterACall"), ("exits", "exitAfter"), ("endless", "keepTheLoopForEver"),
            // Where it is at that moment: its closure, and the program's function that counts allocations, belong to it.
            ("computes", "(closure #1 in )?computeForEver|malloc|free"),
        ] {
            // This sanitizer objects to what the copy of a process does, so none is made.
            if way == "computes" && isUnderThreadSanitizer { continue }
            let ending = try await runProgram("single-thread-program", "blocks \(way) 2>&1")
            #expect(ending.status == 0)
            let sentence = try Regex("without an await, in (\(function))")
            #expect(ending.output.contains(sentence), "\(way): \(ending.output)")
        }
        let nested = try await runProgram("single-thread-program", "blocks nested 2>&1")
        #expect(nested == Ending(status: 0, output: "blocks: done\n"))
    }

    @Test("If the main queue has left the initial thread, a diagnostic says that tasks never run")
    func mainQueueElsewhere() async throws {
        let ending = try await runProgram("synchronous-main-program", "elsewhere 2>&1")
        #expect(ending.status == 0)
        #expect(ending.output.hasPrefix("runloop: Tasks wait for RunLoop.main, and nobody runs it"))
    }

    @Test("If the runtime takes no executors, the main queue serves the main actor, and a diagnostic says so")
    func fallback() async throws {
        let loud = try await runProgram("fallback-program", "2>&1")
        #expect(loud.status == 0)
        #expect(loud.output.hasPrefix("runloop: This Swift runtime does not take the executors of "))
        let lines = loud.output.split(separator: "\n")
        #expect(lines.contains("tasks on the main loop: false"))
        #expect(lines.contains("main actor on the main loop: true"))
    }

    @Test("R109 A loop that is run in a job of the main queue runs no other job, and a diagnostic says so")
    func noteAboutNestedRun() async throws {
        let waits = "runloop: Work for the main dispatch queue or the main actor has been waiting for 250 ms"
        let loud = try await runProgram("fallback-program", "nested 2>&1")
        #expect(loud.output.contains(waits))
        #expect(loud.output.hasSuffix("the nested run has ended\nthe job that waited\n"))
        let foreign = try await runProgram("fallback-program", "foreign 2>&1").output
        #expect(
            foreign.contains("runloop: Work for the main dispatch queue or the main actor has kept the queue for 1"))
        #expect(foreign.hasSuffix("the other loop has ended\nthe job that waited\n"))
        let quiet = try await runProgram("fallback-program", "nested 2>&1", environment: "RUNLOOP_DIAGNOSTICS=0")
        #expect(quiet == Ending(status: 0, output: "the nested run has ended\nthe job that waited\n"))
    }

    @Test("The journal that a failing simulation prints gives the same story in another process, word by word")
    func replayedElsewhere() async throws {
        let found = try await runProgram("simulation-program", "search").output
        let replay = try #require(found.firstMatch(of: /It is repeated by (replay\(.*\))\.\n/)).1
        let story = try #require(found.firstRange(of: "What happens:\n")).upperBound
        #expect(found[story...].split(separator: "\n").count > 20)
        let replayed = try await runProgram("simulation-program", "'\(replay)'").output
        let again = try #require(replayed.firstRange(of: "What happens:\n")).upperBound
        #expect(found[story...] == replayed[again...])
        #expect(replayed.contains("It is repeated by \(replay).\n"))
    }

    @Test(
        "A process that can't go on says under which seed, and that seed alone prints its story as it happens",
        .disabled(
            if: isUnderThreadSanitizer || isUnderAddressSanitizer,
            "A sanitizer replaces free, which finds a double free."))
    func brokenHeap() async throws {
        let found = try await runProgram("simulation-program", "heap 2>&1")
        let seed = try #require(
            found.output.firstMatch(of: /the process ends by SIGABRT during seed (\d+) of the body at .*Ends.swift:/),
            "\(found)")
        let again = try await runProgram(
            "simulation-program", "heap 2>&1",
            environment: "RUNLOOP_SIMULATION_STORY=1 RUNLOOP_SIMULATION_SEED=\(seed.1)")
        #expect(again.output.hasPrefix("0.0 seconds task 1 runs "), "\(again)")
        #expect(again.output.contains("0.0 seconds task 1 notes: the heap is whole\n"), "\(again)")
    }

    @Test("A sleep that is cancelled in a simulation keeps neither memory nor time")
    func cancelledSleeps() async throws {
        #expect(try await runProgram("simulation-program", "sleeps") == Ending(status: 0, output: "sleeps: done\n"))
    }
}
