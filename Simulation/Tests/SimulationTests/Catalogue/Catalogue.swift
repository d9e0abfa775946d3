import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

/// A mistake that a public Swift package once had, known from its issue or from the words of its fix, and written anew as small as it gets: none of its code
/// is here. The same program is there without the mistake. The lines that a story should name end with a comment, an arrow and the name.
struct CatalogueBug: Sendable, CustomStringConvertible {
    /// "vapor/postgres-nio #443".
    let name: String
    let mistake: String
    let program: @Sendable (_ simulation: RunLoop.Simulation, _ isMended: Bool) async throws -> Void

    var description: String { name }

    init(
        _ name: String, _ mistake: String,
        _ program: @escaping @Sendable (_ simulation: RunLoop.Simulation, _ isMended: Bool) async throws -> Void
    ) {
        (self.name, self.mistake, self.program) = (name, mistake, program)
    }

    static let all = pools + clients + sequences + services

    /// The runs of 1,000 seeds until one fails.
    func find() async -> RunLoop.Simulation.Failure? {
        do {
            try await simulate(seeds: 1000) { simulation in
                simulation.awaitThreadsOutside(for: 20)
                try await program(simulation, false)
            }
            return nil
        } catch {
            return error as? RunLoop.Simulation.Failure
        }
    }

    /// Is one of its lines in the report?
    func isNamed(in failure: RunLoop.Simulation.Failure) throws -> Bool {
        let words = "\(failure)".split { " ,\n".contains($0) }.map { $0.hasSuffix(".") ? $0.dropLast() : $0 }
        return try Self.lines(of: name).contains { line in words.contains { $0.hasSuffix(line) } }
    }

    private static func lines(of name: String) throws -> [String] {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        return try ["Pools", "Clients", "Sequences", "Services"].flatMap { file -> [String] in
            let lines = try String(decoding: bytes(of: "/\(folder)/\(file).swift"), as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            return lines.enumerated().filter { $1.hasSuffix("// ← \(name)") }.map { "/\(file).swift:\($0.offset + 1)" }
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return bytes
    }
}

/// What a task waits for for ever is kept, so that a continuation that nobody resumes is no leak.
let keptByCatalogue = Guarded<[any Sendable]>([])

/// A value behind a mutex of libc's, as those of SwiftNIO are.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = Waits()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}

/// Under the thread sanitizer a seed takes a hundred times as long, and under the address sanitizer several times.
private let mendedSeeds =
    isUnderThreadSanitizer || isUnderAddressSanitizer ? 10 : getenv("RUNLOOP_TEST_ALL") == nil ? 1000 : 10_000
private let printsTable = getenv("RUNLOOP_TEST_CATALOGUE") != nil

@Suite struct CatalogueTests {
    @Test("There are twenty, each once") func count() {
        #expect(Set(CatalogueBug.all.map(\.name)).count >= 20)
        #expect(Set(CatalogueBug.all.map(\.name)).count == CatalogueBug.all.count)
    }

    @Test(
        "A mistake that a public package had is found within a thousand seeds, and its line is in the report",
        arguments: CatalogueBug.all)
    func found(bug: CatalogueBug) async throws {
        let begin = ContinuousClock.now
        let failure = try #require(await bug.find(), "\(bug)")
        let seconds = ((ContinuousClock.now - begin) / .milliseconds(100)).rounded() / 10
        let isNamed = try bug.isNamed(in: failure)
        if printsTable {
            let kind = "\(type(of: failure.error))"
            print(
                "| \(bug.name) | \(bug.mistake) | \(failure.seed ?? 0) | \(kind) | \(seconds) | \(isNamed ? "yes" : "no") |"
            )
        }
        #expect(failure.isRepeatable && isNamed, "\(failure)")
    }

    @Test("Without its mistake, the same program passes", arguments: CatalogueBug.all)
    func mended(bug: CatalogueBug) async throws {
        try await simulate(seeds: mendedSeeds) { simulation in try await bug.program(simulation, true) }
    }
}
