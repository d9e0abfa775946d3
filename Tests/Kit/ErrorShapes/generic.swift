// In a generic function.
import RunLoopKit
import RunLoopKitLinux

func generic<Items: Sequence>(_ items: Items, to loop: RunLoop) throws where Items.Element: RunLoop.Item {
    for item in items {
        do { try loop.add(item, forMode: .common) } catch RunLoop.Error.inAnotherLoop { item.invalidate() }
    }
}
