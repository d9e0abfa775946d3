// main.swift — W16 on Foundation: children.

import Foundation
import Work

let (_, count) = arguments()
for _ in 0..<rounds {
    let start = Times()
    for _ in 0..<count {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/echo")
        process.arguments = ["one"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        precondition(text == "one\n", "The child has written something else.")
    }
    printFigures(start.perOperation(count))
}
