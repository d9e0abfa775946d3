// main.swift — W16 on SwiftNIO: one event loop, with handlers as its documentation has them, and its async channels.

import NIOCore
import NIOHTTP1
import NIOPosix
import Work

final class LineCodec: ByteToMessageDecoder, MessageToByteEncoder {
    typealias InboundOut = String
    typealias OutboundIn = String

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let feed = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return .needMoreData }
        let line = buffer.readString(length: feed - buffer.readerIndex)!
        buffer.moveReaderIndex(forwardBy: 1)
        context.fireChannelRead(wrapInboundOut(line))
        return .continue
    }

    func encode(data: String, out: inout ByteBuffer) throws {
        out.writeString(data)
        out.writeInteger(UInt8(ascii: "\n"))
    }
}

final class Echo: ChannelInboundHandler {
    typealias InboundIn = String
    typealias OutboundOut = String

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.write(data, promise: nil) }
    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

final class Hello: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let headers: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "\(page.utf8.count)"]
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: page)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// The members are those of the one event loop.
final class Member: ChannelInboundHandler {
    typealias InboundIn = String
    typealias OutboundOut = String
    nonisolated(unsafe) static var members: [ObjectIdentifier: any Channel] = [:]

    func channelActive(context: ChannelHandlerContext) {
        Self.members[ObjectIdentifier(context.channel)] = context.channel
    }

    func channelInactive(context: ChannelHandlerContext) {
        Self.members[ObjectIdentifier(context.channel)] = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let line = unwrapInboundIn(data)
        for member in Self.members.values { member.writeAndFlush(line, promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

func bootstrap() -> ServerBootstrap {
    ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
}

func serve(_ initialize: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void) throws {
    let server = bootstrap().childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try initialize(channel.pipeline.syncOperations) }
    }
    let channel = try server.bind(host: "127.0.0.1", port: 0).wait()
    printPort(channel.localAddress!.port!)
    try channel.closeFuture.wait()
}

func addLines(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
    try pipeline.addHandler(ByteToMessageHandler(LineCodec()))
    try pipeline.addHandler(MessageToByteHandler(LineCodec()))
}

func serveAsynchronously() async throws {
    let server = try await bootstrap().bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture {
            try addLines(channel.pipeline.syncOperations)
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(inboundType: String.self, outboundType: String.self))
        }
    }
    printPort(server.channel.localAddress!.port!)
    try await withThrowingDiscardingTaskGroup { group in
        try await server.executeThenClose { connections in
            for try await connection in connections {
                group.addTask {
                    try? await connection.executeThenClose { lines, output in
                        for try await line in lines { try await output.write(line) }
                    }
                }
            }
        }
    }
}

func timeouts(_ count: Int, on loop: any EventLoop) {
    var random = Random()
    for _ in 0..<rounds {
        var tasks: [Scheduled<Void>] = []
        tasks.reserveCapacity(count)
        let created = measured(count) {
            for _ in 0..<count { tasks.append(loop.scheduleTask(in: .milliseconds(random.far())) {}) }
        }
        // A scheduled task can't be moved: it is cancelled, and another one takes its place.
        let moved = measured(count) {
            for _ in 0..<count {
                let place = random.next(below: count)
                tasks[place].cancel()
                tasks[place] = loop.scheduleTask(in: .milliseconds(random.far())) {}
            }
        }
        let cancelled = measured(count) { for task in tasks { task.cancel() } }
        printFigures(["created": created, "moved": moved, "cancelled": cancelled])
    }
}

func posts(_ count: Int, on loop: any EventLoop) async {
    for _ in 0..<rounds {
        let start = Times()
        await withCheckedContinuation { continuation in
            inAThread {
                for _ in 1..<count { loop.execute {} }
                loop.execute { continuation.resume() }
            }
        }
        printFigures(start.perOperation(count))
    }
}

let (workload, count) = arguments()
let loop = group.next()
switch workload {
case "lines":
    try serve { pipeline in
        try addLines(pipeline)
        try pipeline.addHandler(Echo())
    }
case "lines-async": try await serveAsynchronously()
case "http":
    try serve { pipeline in
        try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
        try pipeline.addHandler(Hello())
    }
case "chat":
    try serve { pipeline in
        try addLines(pipeline)
        try pipeline.addHandler(Member())
    }
case "timeouts": try await loop.submit { timeouts(count, on: loop) }.get()
case "posts": await posts(count, on: loop)
default: fatalError("There is no workload \"\(workload)\".")
}
