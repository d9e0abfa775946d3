// swift-tools-version: 5.9

import PackageDescription

// What Swift 5.9 to 6.2 take in place of Package.swift: the C libraries. The products are the same, so that a client has one manifest, but the
// Swift modules need Swift 6.3: a client that uses one gets a sentence about it. Tools/scripts/check-manifests compares the two.

let package = Package(
    name: "RunLoopKit",
    products: [
        .library(name: "RunLoopKit", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitLinux", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitDiagnostics", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitTesting", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitSimulation", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitSimulationTesting", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitFoundationCompat", targets: ["RunLoopKit"]),
        // Its half in C.
        .library(name: "RunLoopKitForeign", targets: ["CRunLoopForeign"]),
        .library(name: "RunLoopKitMainActor", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitSingleThread", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitFoundation", targets: ["RunLoopKit"]),
        .library(name: "RunLoopKitGLib", targets: ["RunLoopKit"]),
        .library(name: "CRunLoopCore", targets: ["CRunLoopCore"]),
        .library(name: "CRunLoopLinux", targets: ["CRunLoopLinux"]),
        .library(name: "CRunLoopDiagnostics", targets: ["CRunLoopDiagnostics"]),
        .library(name: "CRunLoopMainQueue", targets: ["CRunLoopMainQueue"]),
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
            name: "CRunLoopLinux",
            dependencies: ["CRunLoopCore"],
            path: "Sources/CRunLoopLinux",
            sources: ["src"],
            publicHeadersPath: "include",
            cSettings: [
                .define("_GNU_SOURCE"),
                .define("RUNLOOP_DEBUG", .when(configuration: .debug)),
                .headerSearchPath("src"),
            ]
        ),
        .target(
            name: "CRunLoopDiagnostics",
            dependencies: ["CRunLoopCore"],
            path: "Sources/CRunLoopDiagnostics",
            sources: ["src"],
            publicHeadersPath: "include",
            cSettings: [.define("_GNU_SOURCE"), .define("RUNLOOP_DEBUG", .when(configuration: .debug))]
        ),
        .target(
            name: "CRunLoopForeign",
            dependencies: ["CRunLoopCore"],
            path: "Interop/Guests/CRunLoopForeign",
            sources: ["src"],
            publicHeadersPath: "include",
            cSettings: [.define("_GNU_SOURCE"), .define("RUNLOOP_DEBUG", .when(configuration: .debug))]
        ),
        .target(
            name: "CRunLoopMainQueue",
            dependencies: ["CRunLoopCore"],
            path: "Compat/GLib/CRunLoopMainQueue",
            sources: ["src"],
            publicHeadersPath: "include",
            cSettings: [.define("_GNU_SOURCE")]
        ),
        // A sentence.
        .target(name: "RunLoopKit", path: "Packaging/OlderToolchains"),
    ],
    cLanguageStandard: .gnu11
)
