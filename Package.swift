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
        // The guided tour, `make run`. Clients of the package do not get it.
        .executableTarget(
            name: "tour",
            dependencies: ["RunLoopKit"],
            path: "Examples/Tour",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RunLoopKitTests",
            dependencies: ["RunLoopKit", "CRunLoopCore"],
            path: "Tests/RunLoopKitTests",
            swiftSettings: swiftSettings
        ),
        // What must run on the initial thread: Swift Testing cannot, synchronous XCTest methods do.
        .testTarget(
            name: "MainThreadTests",
            dependencies: ["RunLoopKit"],
            path: "Tests/MainThreadTests",
            swiftSettings: swiftSettings
        ),
    ],
    cLanguageStandard: .gnu11
)
