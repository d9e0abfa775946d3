// swift-tools-version: 6.3

import PackageDescription

// Built by Tests/bin/async-algorithms, which knows where the sources are.
let sources = Context.environment["ASYNC_ALGORITHMS_SOURCES"] ?? "sources"

let package = Package(
    name: "AsyncAlgorithmsInSimulations",
    dependencies: [
        .package(name: "RunLoopKit", path: "../../.."),
        .package(path: "\(sources)/swift-async-algorithms"),
        .package(path: "\(sources)/swift-collections"),
    ],
    targets: [
        .executableTarget(
            name: "async-algorithms-in-simulations",
            dependencies: [
                .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitSimulation", package: "RunLoopKit"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            path: "Sources"
        )
    ]
)
