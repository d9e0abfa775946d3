// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that nobody else needs GLib: apt-get install libglib2.0-dev
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "RunLoopKitGLib",
    products: [.library(name: "RunLoopKitGLib", targets: ["RunLoopKitGLib"])],
    dependencies: [.package(name: "RunLoopKit", path: "../..")],
    targets: [
        .systemLibrary(name: "CRunLoopGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .target(
            name: "RunLoopKitGLib",
            dependencies: ["CRunLoopGLib", .product(name: "RunLoopKit", package: "RunLoopKit")],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RunLoopKitGLibTests",
            dependencies: [
                "CRunLoopGLib", "RunLoopKitGLib",
                .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitTesting", package: "RunLoopKit"),
            ],
            swiftSettings: swiftSettings
        ),
    ]
)
