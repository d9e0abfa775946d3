import Dispatch
import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// Programs as people port them from libdispatch and Foundation, by what the article PortingFromFoundation says, and nothing else. Their output
// goes through the C library's buffers, as print's does: what is there when they end is to be all of it.

/// Which of them. Tests/Examples/ported.py has them end in all the ways in which programs are ended.
@main
struct Ported {
    @MainActor static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "supervisor": try Supervisor().run()
        case "server": try Server().run(at: arguments[1])
        case "launcher": try Launcher().run(Array(arguments.dropFirst()))
        case "owners": try Owners().run(oursFirst: arguments[1] == "ours-first", with: arguments[2])
        default: exit(2)
        }
    }
}
