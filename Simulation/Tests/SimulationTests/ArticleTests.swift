import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

private let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
private let article = root + "/Sources/RunLoopKit/RunLoopKit.docc/Articles/Testing.md"

@Suite struct ArticleTests {
    @Test(
        "The programs of the article on tests are those that are tested",
        arguments: ["Client", "Slot", "Answers", "Gate", "Server", "Loader", "Library", "Settings"])
    func programs(name: String) throws {
        let program = try text(of: root + "/Simulation/Tests/SimulationTests/AppTests/\(name)Tests.swift")
        let sample = program.replacing("@Test(.fails, .simulated", with: "@Test(.simulated").replacing(
            "@Test(.fails)", with: "@Test")
        #expect(try text(of: article).contains("```swift\n\(sample)```\n"), "\(sample)")
    }
}

/// A test of the article, which fails as the article says.
struct FailingTrait: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let error = await #expect(throws: RunLoop.Simulation.Failure.self) { try await function() }
        let printed = try withoutSeed(comparable("\(#require(error))"))
        #if DEBUG
        let isDescribed = try comparable(text(of: article)).contains("```text\n\(printed)\n```\n")
        // The calls that lead to a trap have a sanitizer's among them, and a task's frames are others.
        #expect(isDescribed || isUnderThreadSanitizer || isUnderAddressSanitizer, "\(printed)")
        #endif
    }
}

extension Trait where Self == FailingTrait {
    static var fails: Self { FailingTrait() }
}

/// How long a run takes differs, and the article's tests have another module.
private func comparable(_ text: String) -> String {
    text.replacing(/\d+ µs each/, with: "4000 µs each").replacing("SimulationTests/", with: "AppTests/")
}

/// A thread outside may be so early that nobody waits yet, and the next seed finds it.
private func withoutSeed(_ printed: String) -> String {
    if !printed.contains("a thread outside has resumed a task") { return printed }
    return printed.replacing(/Seed \d+ fails/, with: "Seed 0 fails").replacing(/\d+ runs?,/, with: "1 run,")
}

private func text(of path: String) throws -> String {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
}
