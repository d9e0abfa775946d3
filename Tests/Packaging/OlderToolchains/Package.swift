// swift-tools-version: 5.9
import PackageDescription

// A toolkit whose oldest toolchain is 5.9, built by Tests/bin/older-toolchains: with the real GLib, as the toolkit has. Needs libglib2.0-dev.
let package = Package(
    name: "Toolkit",
    dependencies: [.package(name: "RunLoopKit", path: "../RunLoopKit")],
    targets: [
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .executableTarget(
            name: "Toolkit",
            dependencies: ["CGLib", .product(name: "CRunLoopMainQueue", package: "RunLoopKit")]
        ),
        .executableTarget(
            name: "SwiftModules", dependencies: [.product(name: "RunLoopKitLinux", package: "RunLoopKit")]),
        .executableTarget(
            name: "Libraries",
            dependencies: [
                .product(name: "CRunLoopCore", package: "RunLoopKit"),
                .product(name: "CRunLoopLinux", package: "RunLoopKit"),
                .product(name: "CRunLoopDiagnostics", package: "RunLoopKit"),
                .product(name: "RunLoopKitForeign", package: "RunLoopKit"),
            ]
        ),
    ]
)
