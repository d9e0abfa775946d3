// Around the messages of a channel.
import RunLoopKit
import RunLoopKitLinux

func messages(_ channel: RunLoop.Channel) async throws -> Int {
    var count = 0
    do {
        for try await message in channel.messages { count += message.bytes.count }
    } catch RunLoop.ChannelError.protocolViolated {
        count = -1
    }
    return count
}
