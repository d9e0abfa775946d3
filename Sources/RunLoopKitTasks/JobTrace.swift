#if os(Linux)
/// The functions with which a job goes on, innermost first, noted before it runs and looked up later, if ever: when it has run, its task may be
/// elsewhere, or freed.
package struct JobTrace {
    package private(set) var number: UInt32
    /// Of a task that has not begun.
    private var closure: UInt
    private var functions = InlineArray<8, UInt>(repeating: 0)

    package init(_ job: TaskWords) {
        (number, closure) = (job.number, job.closure)
        functions[0] = job.function
        var context = job.isTask ? job.context : 0
        for place in 1..<functions.count {
            guard let caller = TaskWords.plain(context), caller.function != 0 else { break }
            functions[place] = caller.function
            context = caller.context
        }
    }

    /// `nil` if the runtime has no function for it.
    package var place: CodePlace? {
        CodePlace(functions: functions.indices.map { functions[$0] }.filter { $0 != 0 }, closure: closure)
    }

    /// As words, which another thread may read while the job runs.
    package static let wordCount = 10

    package func word(_ place: Int) -> UInt {
        switch place {
        case 0: UInt(number)
        case 1: closure
        default: functions[place - 2]
        }
    }

    package init(words: (Int) -> UInt) {
        (number, closure) = (UInt32(truncatingIfNeeded: words(0)), words(1))
        for place in functions.indices { functions[place] = words(place + 2) }
    }
}
#endif
