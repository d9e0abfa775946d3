import RunLoopKit
import Testing

@Suite struct NoteTests {
    @Test("R109 Notes are on, and can be switched off")
    func switchedOff() async {
        await #expect(processExitsWith: .success) {
            precondition(RunLoop.writesNotes)
            RunLoop.writesNotes = false
            precondition(!RunLoop.writesNotes)
        }
    }
}
