// swift-tools-version: 6.3

import PackageDescription

// RunLoopKitSingleThread and RunLoopKitMainActor for programs that are built already, by LD_PRELOAD: `make preload`. A package of its own, because
// a dynamic library of these is nothing that another package can depend on.
let package = Package(
    name: "Preload",
    products: [
        .library(name: "runloop-single-thread", type: .dynamic, targets: ["SingleThread"]),
        .library(name: "runloop-main-actor", type: .dynamic, targets: ["MainActor"]),
    ],
    dependencies: [.package(name: "RunLoopKit", path: "../..")],
    targets: [
        .target(name: "SingleThread", dependencies: [.product(name: "RunLoopKitSingleThread", package: "RunLoopKit")]),
        .target(name: "MainActor", dependencies: [.product(name: "RunLoopKitMainActor", package: "RunLoopKit")]),
    ]
)
