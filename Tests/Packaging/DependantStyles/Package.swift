// swift-tools-version: 6.3
import PackageDescription

// Programs of somebody else's package, whose settings are not ours: Tests/bin/dependants builds them. The checkout is in a folder of another name,
// so the dependency says which package that is.
let ours: Target.Dependency = .product(name: "RunLoopKit", package: "RunLoopKit")
let package = Package(
    name: "Styles",
    products: [.library(name: "Evolution", targets: ["Evolution"])],
    dependencies: [.package(name: "RunLoopKit", path: "../elsewhere")],
    targets: [
        // On one platform of several.
        .executableTarget(
            name: "Conditional",
            dependencies: [.product(name: "RunLoopKit", package: "RunLoopKit", condition: .when(platforms: [.linux]))]
        ),
        .executableTarget(name: "SwiftFive", dependencies: [ours], swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(name: "StrictMemory", dependencies: [ours], swiftSettings: [.strictMemorySafety()]),
        // A stable binary interface that names our types. The second flag is in the article Troubleshooting.
        .target(
            name: "Evolution",
            dependencies: [ours],
            swiftSettings: [.unsafeFlags(["-enable-library-evolution", "-no-verify-emitted-module-interface"])]
        ),
        .executableTarget(name: "EvolutionProgram", dependencies: ["Evolution", ours]),
    ]
)
