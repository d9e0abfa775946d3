// swift-tools-version: 6.3

import PackageDescription

// The Swift of the benchmarks, as archives that the driver links with a harness in C, and a program whose instructions are counted. Built by
// SwiftPM, as a client's program is.
let package = Package(
    name: "Benchmarks",
    products: [
        .library(name: "OursSwiftPeer", type: .static, targets: ["OursSwiftPeer"]),
        .library(name: "OursSwiftServer", type: .static, targets: ["OursSwiftServer"]),
    ],
    dependencies: [.package(name: "RunLoopKit", path: "..")],
    targets: [
        .systemLibrary(name: "BenchmarkPeer", path: "peers"),
        .systemLibrary(name: "ServerLoop", path: "servers"),
        .target(
            name: "OursSwiftPeer",
            dependencies: ["BenchmarkPeer", .product(name: "RunLoopKit", package: "RunLoopKit")],
            path: "peers",
            sources: ["ours.swift"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .target(
            name: "OursSwiftServer",
            dependencies: ["ServerLoop", .product(name: "RunLoopKit", package: "RunLoopKit")],
            path: "servers",
            sources: ["ours.swift"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .executableTarget(
            name: "counted",
            dependencies: [
                .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitLinux", package: "RunLoopKit"),
                .product(name: "RunLoopKitMainActor", package: "RunLoopKit"),
            ],
            path: "counted"
        ),
    ]
)
