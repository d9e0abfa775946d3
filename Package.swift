// swift-tools-version: 6.3

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Of what is shipped. Each use of memory that the compiler can't check is marked. That a mark which lacks is an error is the gates' business:
// SwiftPM's new build system, which suppresses the warnings of dependencies, refuses to build one that makes a warning an error.
let librarySettings: [SwiftSetting] = swiftSettings + [.strictMemorySafety()]

let package = Package(
    name: "RunLoopKit",
    products: [
        // Loops, modes, items, tasks, threads, executors, and ports between threads.
        .library(name: "RunLoopKit", targets: ["RunLoopKit"]),
        // What Linux has to report: signals, children, files, clocks that jump, streams, connections, messages of other processes.
        .library(name: "RunLoopKitLinux", targets: ["RunLoopKitLinux"]),
        // What a loop does: reports, statistics, recordings, a watchdog.
        .library(name: "RunLoopKitDiagnostics", targets: ["RunLoopKitDiagnostics"]),
        .library(name: "RunLoopKitTesting", targets: ["RunLoopKitTesting"]),
        .library(name: "RunLoopKitSimulation", targets: ["RunLoopKitSimulation"]),
        // The above as a trait of Swift Testing and a base class of XCTest, on which no other product depends.
        .library(name: "RunLoopKitSimulationTesting", targets: ["RunLoopKitSimulationTesting"]),
        .library(name: "RunLoopKitFoundationCompat", targets: ["RunLoopKitFoundationCompat"]),
        // Other event libraries as sources of a loop, in Swift and in C.
        .library(name: "RunLoopKitForeign", targets: ["RunLoopKitForeign", "CRunLoopForeign"]),
        // To be linked, not called: the main actor on the main loop, and all tasks there. By interfaces of the Swift runtime that are not public.
        .library(name: "RunLoopKitMainActor", targets: ["RunLoopKitMainActor"]),
        .library(name: "RunLoopKitSingleThread", targets: ["RunLoopKitSingleThread"]),
        // Foundation's loop and ours on one thread. The only product that needs Foundation.
        .library(name: "RunLoopKitFoundation", targets: ["RunLoopKitFoundation"]),
        // Our loop under GLib's. The program has GLib; to build this takes nothing of it.
        .library(name: "RunLoopKitGLib", targets: ["RunLoopKitGLib"]),
        .library(name: "CRunLoopCore", targets: ["CRunLoopCore"]),
        .library(name: "CRunLoopLinux", targets: ["CRunLoopLinux"]),
        .library(name: "CRunLoopDiagnostics", targets: ["CRunLoopDiagnostics"]),
        // The main dispatch queue and the main actor alone, under GLib's loop, with older toolchains as well: Package@swift-5.9.swift.
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
        // Signals, children, changes of files, dates, connections and output as sources; uses only what is public of the core.
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
        // Statistics, reports, traces and watchdogs; uses only what is public of the core.
        .target(
            name: "CRunLoopDiagnostics",
            dependencies: ["CRunLoopCore"],
            path: "Sources/CRunLoopDiagnostics",
            sources: ["src"],
            publicHeadersPath: "include",
            cSettings: [.define("_GNU_SOURCE"), .define("RUNLOOP_DEBUG", .when(configuration: .debug))]
        ),
        .target(name: "RunLoopKitCLibrary", path: "Sources/RunLoopKitCLibrary", swiftSettings: librarySettings),
        .target(
            name: "RunLoopKit",
            dependencies: ["RunLoopKitCLibrary", "CRunLoopCore"],
            path: "Sources/RunLoopKit",
            swiftSettings: librarySettings
        ),
        // The two C libraries above, in Swift.
        .target(
            name: "RunLoopKitLinux",
            dependencies: ["RunLoopKit", "RunLoopKitCLibrary", "CRunLoopCore", "CRunLoopLinux"],
            path: "Sources/RunLoopKitLinux",
            swiftSettings: librarySettings
        ),
        .target(
            name: "RunLoopKitDiagnostics",
            dependencies: ["RunLoopKit", "RunLoopKitCLibrary", "CRunLoopCore", "CRunLoopDiagnostics"],
            path: "Sources/RunLoopKitDiagnostics",
            swiftSettings: librarySettings
        ),
        // Nothing else depends on these.
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
        .target(
            name: "RunLoopKitForeign",
            dependencies: ["RunLoopKit", "RunLoopKitCLibrary", "CRunLoopForeign"],
            path: "Interop/Guests/RunLoopKitForeign",
            swiftSettings: librarySettings
        ),
        .target(
            name: "CRunLoopExecutors",
            path: "Sources/CRunLoopExecutors",
            sources: ["src"],
            publicHeadersPath: "include"
        ),
        // What the runtime has of a task: where it goes on, and what it waits for.
        .target(
            name: "RunLoopKitTasks",
            dependencies: ["RunLoopKit", "CRunLoopCore", "CRunLoopDiagnostics", "CRunLoopExecutors"],
            path: "Sources/RunLoopKitTasks",
            swiftSettings: librarySettings
        ),
        .target(
            name: "RunLoopKitMainActor",
            dependencies: [
                "RunLoopKit", "RunLoopKitTasks", "CRunLoopCore", "CRunLoopDiagnostics", "CRunLoopExecutors",
            ],
            path: "Sources/RunLoopKitMainActor",
            swiftSettings: librarySettings
        ),
        .target(
            name: "RunLoopKitSingleThread",
            dependencies: ["RunLoopKitMainActor"],
            path: "Sources/RunLoopKitSingleThread",
            swiftSettings: librarySettings
        ),
        // The clocks, dice and locks of a thread whose time is a test's.
        .target(
            name: "CRunLoopSimulation",
            path: "Simulation/CRunLoopSimulation",
            sources: ["src"],
            publicHeadersPath: "include"
        ),
        // For tests of code that uses run loops: under XCTest, Swift Testing, or neither.
        .target(
            name: "RunLoopKitTesting",
            dependencies: ["RunLoopKit", "CRunLoopCore", "CRunLoopSimulation"],
            path: "Sources/RunLoopKitTesting",
            swiftSettings: librarySettings
        ),
        // Whole programs under seeds, in virtual time.
        .target(
            name: "RunLoopKitSimulation",
            dependencies: [
                "RunLoopKit", "RunLoopKitCLibrary", "RunLoopKitLinux", "RunLoopKitTasks", "RunLoopKitTesting",
                "CRunLoopCore", "CRunLoopExecutors", "CRunLoopSimulation",
            ],
            path: "Simulation/RunLoopKitSimulation",
            swiftSettings: librarySettings
        ),
        .target(
            name: "RunLoopKitSimulationTesting",
            dependencies: ["RunLoopKit", "RunLoopKitSimulation", "CRunLoopSimulation"],
            path: "Simulation/RunLoopKitSimulationTesting",
            swiftSettings: librarySettings
        ),
        // Foundation's run loop by name and signature: programs are ported by changing the import.
        .target(
            name: "RunLoopKitFoundationCompat",
            dependencies: ["RunLoopKit"],
            path: "Compat/Foundation/RunLoopKitFoundationCompat",
            swiftSettings: librarySettings
        ),
        // Not the above: for programs that have Foundation, and keep it.
        .target(
            name: "RunLoopKitFoundation",
            dependencies: ["RunLoopKit", "RunLoopKitHosts", "RunLoopKitGLib", "CRunLoopForeign"],
            path: "Compat/Foundation/RunLoopKitFoundation",
            swiftSettings: librarySettings
        ),
        // What the hosts of a thread share.
        .target(
            name: "RunLoopKitHosts",
            dependencies: ["RunLoopKit", "RunLoopKitCLibrary"],
            path: "Compat/Hosts/RunLoopKitHosts",
            swiftSettings: librarySettings
        ),
        .target(
            name: "RunLoopKitGLib",
            dependencies: ["RunLoopKit", "RunLoopKitHosts", "RunLoopKitCLibrary"],
            path: "Compat/GLib/RunLoopKitGLib",
            swiftSettings: librarySettings
        ),
        // The guided tour, `make run`. Clients of the package do not get it.
        .executableTarget(
            name: "tour",
            dependencies: ["RunLoopKit", "RunLoopKitLinux", "RunLoopKitDiagnostics"],
            path: "Examples/Tour",
            swiftSettings: swiftSettings
        ),
        // Programs to learn from, and to copy. Tests/bin/examples drives them. Clients of the package do not get them.
        .executableTarget(
            name: "chat",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Chat",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "fetch",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Fetch",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "follow",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Follow",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "get",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Get",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "panel",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Panel",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "rebuild",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Rebuild",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "scale-out",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/ScaleOut",
            exclude: ["README.md", "measure"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "sensors",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Sensors",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "supervise",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Examples/Supervise",
            swiftSettings: swiftSettings
        ),
        // Run by tests, in processes of their own, as executors belong to a process. The tests do not depend on them: they would be
        // linked, and so install executors, in the process of the tests.
        .executableTarget(
            name: "async-main-program",
            dependencies: ["RunLoopKit", "RunLoopKitMainActor"],
            path: "Tests/Kit/ExecutorPrograms/AsyncMain",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "single-thread-program",
            dependencies: [
                "RunLoopKit", "RunLoopKitDiagnostics", "RunLoopKitLinux", "RunLoopKitSingleThread", "RunLoopKitTesting",
                "ForkedChild", "AllocationCount",
            ],
            path: "Tests/Kit/ExecutorPrograms/SingleThread",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "synchronous-main-program",
            dependencies: ["RunLoopKit", "RunLoopKitLinux", "RunLoopKitSingleThread"],
            path: "Tests/Kit/ExecutorPrograms/SynchronousMain",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "ill-program",
            dependencies: ["RunLoopKit", "RunLoopKitLinux", "RunLoopKitDiagnostics"],
            path: "Tests/Kit/ExecutorPrograms/Ill",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "foundation-main-program",
            dependencies: ["RunLoopKit", "RunLoopKitSingleThread"],
            path: "Tests/Kit/ExecutorPrograms/FoundationMain",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "foundation-beside-program",
            dependencies: ["RunLoopKit"],
            path: "Tests/Kit/ExecutorPrograms/FoundationBeside",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "simulation-program",
            dependencies: ["RunLoopKit", "RunLoopKitLinux", "RunLoopKitSimulation", "AllocationCount"],
            path: "Tests/Kit/ExecutorPrograms/Simulation",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "ported",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Tests/Kit/PortedPrograms",
            swiftSettings: swiftSettings
        ),
        // The same in a program without a product for the main actor, and with each.
        .target(
            name: "AwaitsOnLoop",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Tests/Kit/ExecutorPrograms/Awaits/Shared",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "awaits-plain-program",
            dependencies: ["AwaitsOnLoop"],
            path: "Tests/Kit/ExecutorPrograms/Awaits/Plain",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "awaits-main-actor-program",
            dependencies: ["AwaitsOnLoop", "RunLoopKitMainActor"],
            path: "Tests/Kit/ExecutorPrograms/Awaits/MainActor",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "awaits-single-thread-program",
            dependencies: ["AwaitsOnLoop", "RunLoopKitSingleThread"],
            path: "Tests/Kit/ExecutorPrograms/Awaits/SingleThread",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "AllocationCount", path: "Tests/Kit/ExecutorPrograms/AllocationCount", publicHeadersPath: "include"),
        .target(name: "DeafRuntime", path: "Tests/Kit/ExecutorPrograms/DeafRuntime", publicHeadersPath: "include"),
        .executableTarget(
            name: "fallback-program",
            dependencies: ["RunLoopKit", "RunLoopKitSingleThread", "DeafRuntime"],
            path: "Tests/Kit/ExecutorPrograms/Fallback",
            swiftSettings: swiftSettings
        ),
        // How the tests fork.
        .target(name: "ForkedChild", path: "Tests/Kit/ForkedChild", swiftSettings: swiftSettings),
        .target(name: "TestLimits", path: "Tests/Kit/Limits", publicHeadersPath: "include"),
        .testTarget(
            name: "RunLoopKitTests",
            dependencies: [
                "RunLoopKit", "RunLoopKitLinux", "RunLoopKitDiagnostics", "RunLoopKitTesting", "CRunLoopCore",
                "ForkedChild", "TestLimits",
            ],
            path: "Tests/Kit/RunLoopKitTests",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "ForkedChild", "TestLimits", "RunLoopKit", "RunLoopKitLinux", "RunLoopKitSimulation",
                "RunLoopKitSimulationTesting", "chat", "PlantedChat", "scale-out", "PlantedScaleOut", "tour",
                "PlantedTour",
            ],
            path: "Simulation/Tests/SimulationTests",
            swiftSettings: swiftSettings
        ),
        // The servers of Examples, each with one file that has a bug.
        .target(
            name: "PlantedChat",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Simulation/Tests/PlantedServers/Chat",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PlantedScaleOut",
            dependencies: ["RunLoopKit", "RunLoopKitLinux"],
            path: "Simulation/Tests/PlantedServers/ScaleOut",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PlantedTour",
            dependencies: ["RunLoopKit"],
            path: "Simulation/Tests/PlantedServers/Tour",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FoundationCompatTests",
            dependencies: ["RunLoopKitFoundationCompat", "RunLoopKit", "RunLoopKitTesting", "ForkedChild"],
            path: "Compat/Foundation/Tests/FoundationCompatTests",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RunLoopKitForeignTests",
            dependencies: ["RunLoopKitForeign", "RunLoopKit", "RunLoopKitTesting"],
            path: "Interop/Tests/RunLoopKitForeignTests",
            swiftSettings: swiftSettings
        ),
        // What must run on the initial thread: Swift Testing cannot, synchronous XCTest methods do.
        .testTarget(
            name: "MainThreadTests",
            dependencies: [
                "RunLoopKit", "RunLoopKitLinux", "RunLoopKitDiagnostics", "RunLoopKitFoundation", "RunLoopKitTesting",
            ],
            path: "Tests/Kit/MainThreadTests",
            swiftSettings: swiftSettings
        ),
    ],
    cLanguageStandard: .gnu11
)

#if !os(Linux)
// What is built elsewhere: libraries that are empty there, for packages that depend on this one. The programs and tests use the system.
package.targets.removeAll {
    $0.path?.hasPrefix("Examples/") == true || $0.path?.split(separator: "/").contains("Tests") == true
}
#endif
