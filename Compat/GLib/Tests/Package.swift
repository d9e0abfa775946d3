// swift-tools-version: 6.3
import PackageDescription

// The tests of RunLoopKitGLib, under the real GLib. A package of its own, so that no other test needs it: apt-get install libglib2.0-dev
let package = Package(
    name: "GLibHost",
    dependencies: [.package(name: "RunLoopKit", path: "../../..")],
    targets: [
        .systemLibrary(name: "CGLib", path: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .testTarget(
            name: "GLibHostTests",
            dependencies: [
                "CGLib",
                .product(name: "RunLoopKit", package: "RunLoopKit"),
                .product(name: "RunLoopKitFoundation", package: "RunLoopKit"),
                .product(name: "RunLoopKitGLib", package: "RunLoopKit"),
                .product(name: "RunLoopKitTesting", package: "RunLoopKit"),
            ],
            path: "GLibHostTests",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
    ]
)
