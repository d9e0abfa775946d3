import Glibc
import Testing

@Test("The program of the article on tests is the one that is tested") func programOfArticle() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let program = try text(of: root + "/Simulation/Tests/SimulationTests/ClientTests.swift")
    let sample = try #require(program.firstRange(of: "\n// All above")).lowerBound
    let article = try text(of: root + "/Sources/RunLoopKit/RunLoopKit.docc/Articles/Testing.md")
    #expect(article.contains(program[..<sample].replacing("@Test(.fails, .simulated", with: "@Test(.simulated")))
}

private func text(of path: String) throws -> String {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
}
