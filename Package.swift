// swift-tools-version: 6.3

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "RunLoopKit",
    products: [
        .library(name: "RunLoopKit", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitAsyncMain", targets: ["RunLoopKitAsyncMain"]),
        .library(name: "RunLoopKitTesting", targets: ["RunLoopKitTesting"]),
        // Experimental: they use an interface of the Swift runtime that is not public yet.
        .library(name: "RunLoopKitMainExecutor", targets: ["RunLoopKitMainExecutor"]),
        .library(
            name: "RunLoopKitMainExecutorAtLoad", targets: ["RunLoopKitMainExecutor", "CRunLoopMainExecutorAtLoad"]),
        .library(name: "RunLoopKitFoundationCompat", targets: ["RunLoopKitFoundationCompat"]),
        .library(name: "CRunLoopCore", targets: ["CRunLoopCore"]),
    ],
    targets: [
        .target(
            name: "CRunLoopCore",
            path: "Sources/CRunLoopCore",
            sources: ["src"],
            publicHeadersPath: "include",
            cSettings: [
                .define("_GNU_SOURCE"),
                .define("RUNLOOP_BUILDING_CORE"),
                .headerSearchPath("src"),
            ]
        ),
        .target(
            name: "RunLoopKit",
            dependencies: ["CRunLoopCore"],
            path: "Sources/RunLoopKit",
            swiftSettings: swiftSettings
        ),
        // Opt-in: the main loop serves the initial thread of a program whose main is async.
        .target(
            name: "CRunLoopAsyncMain",
            path: "Sources/CRunLoopAsyncMain",
            sources: ["src"],
            publicHeadersPath: "include"
        ),
        .target(
            name: "RunLoopKitAsyncMain",
            dependencies: ["RunLoopKit", "CRunLoopAsyncMain"],
            path: "Sources/RunLoopKitAsyncMain",
            swiftSettings: swiftSettings
        ),
        // Experimental: the main actor's jobs on the main loop itself. Nothing else depends on these two.
        .target(
            name: "RunLoopKitMainExecutor",
            dependencies: ["RunLoopKit"],
            path: "Sources/RunLoopKitMainExecutor",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CRunLoopMainExecutorAtLoad",
            dependencies: ["RunLoopKitMainExecutor"],
            path: "Sources/CRunLoopMainExecutorAtLoad",
            sources: ["src"],
            publicHeadersPath: "include"
        ),
        // For tests of code that uses run loops: under XCTest, Swift Testing, or neither.
        .target(
            name: "RunLoopKitTesting",
            dependencies: ["RunLoopKit"],
            path: "Sources/RunLoopKitTesting",
            swiftSettings: swiftSettings
        ),
        // Foundation's run loop by name and signature: programs are ported by changing the import.
        .target(
            name: "RunLoopKitFoundationCompat",
            dependencies: ["RunLoopKit"],
            path: "Sources/RunLoopKitFoundationCompat",
            swiftSettings: swiftSettings
        ),
        // The guided tour, `make run`. Clients of the package do not get it.
        .executableTarget(
            name: "tour",
            dependencies: ["RunLoopKit"],
            path: "Examples/Tour",
            swiftSettings: swiftSettings
        ),
        // Programs to learn from, and to copy. Tests/examples drives them. Clients of the package do not get them.
        .executableTarget(
            name: "chat",
            dependencies: ["RunLoopKit"],
            path: "Examples/Chat",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "follow",
            dependencies: ["RunLoopKit"],
            path: "Examples/Follow",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "sensors",
            dependencies: ["RunLoopKit"],
            path: "Examples/Sensors",
            swiftSettings: swiftSettings
        ),
        // Run by a test: an async main needs a process of its own.
        .executableTarget(
            name: "async-main-program",
            dependencies: ["RunLoopKit", "RunLoopKitAsyncMain"],
            path: "Tests/AsyncMainProgram",
            swiftSettings: swiftSettings
        ),
        // How the tests fork.
        .target(name: "ForkedChild", path: "Tests/ForkedChild", swiftSettings: swiftSettings),
        .testTarget(
            name: "RunLoopKitTests",
            dependencies: ["RunLoopKit", "RunLoopKitTesting", "CRunLoopCore", "ForkedChild", "async-main-program"],
            path: "Tests/RunLoopKitTests",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FoundationCompatTests",
            dependencies: ["RunLoopKitFoundationCompat", "RunLoopKit", "ForkedChild"],
            path: "Tests/FoundationCompatTests",
            swiftSettings: swiftSettings
        ),
        // What must run on the initial thread: Swift Testing cannot, synchronous XCTest methods do.
        .testTarget(
            name: "MainThreadTests",
            dependencies: ["RunLoopKit", "RunLoopKitTesting"],
            path: "Tests/MainThreadTests",
            swiftSettings: swiftSettings
        ),
    ],
    cLanguageStandard: .gnu11
)
