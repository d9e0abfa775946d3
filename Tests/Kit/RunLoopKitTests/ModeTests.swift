import RunLoopKit
import Testing

@Suite struct ModeTests {
    @Test("Modes of equal names are equal")
    func modeIsItsName() {
        let mode: RunLoop.Mode = "a mode of mine"
        #expect(mode == RunLoop.Mode(rawValue: "a mode of mine"))
        #expect(mode != "another mode of mine")
        #expect(mode.rawValue == "a mode of mine")
        #expect("\(mode)" == "a mode of mine")
        #expect(Set([mode, RunLoop.Mode(rawValue: "a mode" + " of mine")]).count == 1)
        #expect(RunLoop.Mode(rawValue: "kCFRunLoopDefaultMode") == .default)
    }

    @Test("Names are compared by their bytes")
    func namesAreBytes() {
        #expect(RunLoop.Mode(rawValue: "caf\u{E9}") != RunLoop.Mode(rawValue: "cafe\u{301}"))
        #expect(RunLoop.Mode(rawValue: "").rawValue == "")
    }

    @Test("R4 A new loop has the default mode only, and it is common")
    func newLoop() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(loop.allModes == [.default])
            #expect(loop.isCommon(.default))
            #expect(!loop.isCommon(.tracking))
            #expect(!loop.isCommon(.common))
            #expect(loop.currentMode == nil)
            #expect(!loop.isWaiting)
        }
    }

    @Test("R14 R15 A mode exists from the first addition, and there may be many")
    func manyModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            var expected: Set<RunLoop.Mode> = [.default]
            let source = RunLoop.Source {}
            for number in 0..<20 {
                let mode = RunLoop.Mode(rawValue: "mode \(number)")
                try loop.add(source, forMode: mode)
                loop.remove(source, forMode: mode)
                expected.insert(mode)
            }
            #expect(loop.allModes == expected)
        }
    }

    @Test("R17 R18 A mode declared common later gets the common items")
    func commonLater() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let timer = RunLoop.Timer(after: .seconds(1000)) { _ in }
            let source = RunLoop.Source {}
            let observer = RunLoop.Observer(.all) { _, _ in }
            try loop.add(timer, forMode: .common)
            try loop.add(source, forMode: .common)
            try loop.add(observer, forMode: .common)
            #expect(!loop.contains(timer, inMode: "later"))
            loop.addCommonMode("later")
            loop.addCommonMode("later")
            loop.addCommonMode(.common)
            #expect(loop.isCommon("later"))
            for mode: RunLoop.Mode in ["later", .default, .common] {
                #expect(loop.contains(timer, inMode: mode))
                #expect(loop.contains(source, inMode: mode))
                #expect(loop.contains(observer, inMode: mode))
            }
        }
    }

    @Test("R19 R20 Removal from the common modes, and from one of them")
    func removalFromCommon() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            loop.addCommonMode(.tracking)
            let timer = RunLoop.Timer(after: .seconds(1000)) { _ in }
            try loop.add(timer, forMode: .common)
            loop.remove(timer, forMode: .tracking)
            #expect(!loop.contains(timer, inMode: .tracking))
            #expect(loop.contains(timer, inMode: .common))
            #expect(loop.contains(timer, inMode: .default))
            loop.remove(timer, forMode: .common)
            #expect(!loop.contains(timer, inMode: .default))
            #expect(!loop.contains(timer, inMode: .common))
            #expect(timer.isValid)
        }
    }

    @Test("R23 A mode is empty unless something can happen in it")
    func emptyModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(loop.isEmpty(inMode: .default))
            #expect(loop.isEmpty(inMode: .common))
            #expect(loop.isEmpty(inMode: "unknown to the loop"))
            loop.perform(inModes: ["one function"]) {}
            #expect(!loop.isEmpty(inMode: "one function"))
            loop.run(mode: "one function")
            #expect(loop.isEmpty(inMode: "one function"))
            let source = RunLoop.Source {}
            try loop.add(source, forMode: .common)
            #expect(!loop.isEmpty(inMode: .default))
            source.invalidate()
            #expect(loop.isEmpty(inMode: .default))
        }
    }
}
