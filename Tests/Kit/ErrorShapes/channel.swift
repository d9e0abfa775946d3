// The errors of a channel, and those within them.
import RunLoopKit
import RunLoopKitLinux

func channel(_ channel: RunLoop.Channel, _ texts: [String]) async throws {
    for text in texts {
        do {
            try channel.send(text.utf8)
            print(try await channel.request(text.utf8).bytes.count)
        } catch RunLoop.ChannelError.full, RunLoop.ChannelError.failed(.noSpaceLeft) {
            continue
        } catch RunLoop.ChannelError.failed(let error) where error.errorNumber == 24 {
            return
        }
    }
}
