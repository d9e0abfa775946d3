// In a property and a subscript.
import RunLoopKit
import RunLoopKitLinux

struct Threads {
    let names: [String]

    var all: [RunLoop.Thread] {
        get throws {
            var threads: [RunLoop.Thread] = []
            for name in names {
                do { threads.append(try RunLoop.Thread(name: name)) } catch RunLoop.Error.tooManyThreads { break }
            }
            return threads
        }
    }

    subscript(position: Int) -> RunLoop.Thread? {
        get throws {
            do { return try RunLoop.Thread(name: names[position]) } catch let e as RunLoop.Error where e.subject == nil
            { return nil }
        }
    }
}
