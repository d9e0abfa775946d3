// The type, then the rest.
import RunLoopKit
import RunLoopKitLinux

func asThenAll(_ sources: [RunLoop.Source]) -> [Int32] {
    var numbers: [Int32] = []
    for source in sources {
        do { try source.watch(for: .read) } catch let error as RunLoop.Error { numbers.append(error.errorNumber) } catch
        {}
    }
    return numbers
}
