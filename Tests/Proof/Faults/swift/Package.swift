// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Faults",
    dependencies: [.package(name: "RunLoopKit", path: "../../../..")],
    targets: [
        .systemLibrary(name: "FaultDriver"),
        .executableTarget(
            name: "Faults",
            dependencies: [
                "FaultDriver",
                .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitLinux", package: "RunLoopKit"),
                .product(name: "RunLoopKitSingleThread", package: "RunLoopKit"),
            ]
        ),
    ]
)
