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
        .library(name: "RunLoopKitTesting", targets: ["RunLoopKitTesting"]),
        .library(name: "RunLoopKitFoundationCompat", targets: ["RunLoopKitFoundationCompat"]),
        // The main actor on the main loop, by interfaces of the Swift runtime that are not public.
        .library(name: "RunLoopKitExperimental", targets: ["RunLoopKitExperimental"]),
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
                .define("RUNLOOP_DEBUG", .when(configuration: .debug)),
                .headerSearchPath("src"),
            ]
        ),
        .target(
            name: "RunLoopKit",
            dependencies: ["CRunLoopCore"],
            path: "Sources/RunLoopKit",
            swiftSettings: swiftSettings
        ),
        // Nothing else depends on these two.
        .target(
            name: "CRunLoopExperimental",
            path: "Sources/CRunLoopExperimental",
            sources: ["src"],
            publicHeadersPath: "include"
        ),
        .target(
            name: "RunLoopKitExperimental",
            dependencies: ["RunLoopKit", "CRunLoopExperimental"],
            path: "Sources/RunLoopKitExperimental",
            swiftSettings: swiftSettings
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
        // Programs to learn from, and to copy. Tests/bin/examples drives them. Clients of the package do not get them.
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
            dependencies: ["RunLoopKit", "RunLoopKitExperimental"],
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
