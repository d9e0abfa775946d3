// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Hostile",
    dependencies: [.package(name: "RunLoopKit", path: "../../../..")],
    targets: [
        .executableTarget(
            name: "HostileServer",
            dependencies: [
                .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitLinux", package: "RunLoopKit"),
            ]
        )
    ]
)
