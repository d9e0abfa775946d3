// swift-tools-version: 6.3

import PackageDescription

// W16: one program on RunLoopKit, one on Foundation, and those that come from other packages, if PEER_SOURCES names a folder with checkouts
// of swift-nio, swift-subprocess, swift-atomics, swift-collections and swift-system. See Benchmarks/swift/measure.
let package = Package(
    name: "SwiftBenchmarks",
    dependencies: [.package(name: "RunLoopKit", path: "../..")],
    targets: [
        .target(name: "Work"),
        .executableTarget(
            name: "ours",
            dependencies: [
                "Work", .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitLinux", package: "RunLoopKit"),
                .product(name: "RunLoopKitMainActor", package: "RunLoopKit"),
            ]),
        .executableTarget(name: "foundation", dependencies: ["Work"]),
    ]
)

if let folder = Context.environment["PEER_SOURCES"] {
    // Those of a root package take the place of the ones that a dependency names by address.
    for name in ["swift-nio", "swift-subprocess", "swift-atomics", "swift-collections", "swift-system"] {
        package.dependencies.append(.package(path: "\(folder)/\(name)"))
    }
    package.targets.append(
        .executableTarget(
            name: "nio",
            dependencies: [
                "Work", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ]))
    package.targets.append(
        .executableTarget(
            name: "subprocess",
            dependencies: ["Work", .product(name: "Subprocess", package: "swift-subprocess")]))
}
