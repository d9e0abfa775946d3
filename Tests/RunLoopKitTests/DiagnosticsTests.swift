import RunLoopKit
import Testing

@Suite struct DiagnosticsTests {
    @Test("R109 Diagnostics are on, and can be disabled")
    func switchedOff() async {
        await #expect(processExitsWith: .success) {
            precondition(RunLoop.writesDiagnostics)
            RunLoop.writesDiagnostics = false
            precondition(!RunLoop.writesDiagnostics)
        }
    }
}
