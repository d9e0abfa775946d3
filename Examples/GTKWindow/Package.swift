// swift-tools-version: 6.0
import PackageDescription

// A package of its own, so that nobody else needs GTK: apt-get install libgtk-4-dev
let package = Package(
    name: "GTKWindow",
    dependencies: [
        .package(name: "RunLoopKit", path: "../..")
    ],
    targets: [
        .systemLibrary(name: "CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .executableTarget(
            name: "GTKWindow",
            dependencies: [
                "CGtk", .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitGLib", package: "RunLoopKit"),
            ]),
    ]
)
