// swift-tools-version: 6.3
import PackageDescription

// The same window, in GTK, Qt and SDL, with everything that runs on its thread: tried by the program check. A package of its own, so
// that nobody else needs the toolkits: make host-deps.
let ours = ["RunLoopKit", "RunLoopKitFoundation", "RunLoopKitMainActor"].map {
    Target.Dependency.product(name: $0, package: "RunLoopKit")
}
let package = Package(
    name: "Toolkits",
    dependencies: [.package(name: "RunLoopKit", path: "../../../..")],
    targets: [
        .systemLibrary(name: "CGtk", pkgConfig: "gtk4"),
        .systemLibrary(name: "CQt", pkgConfig: "Qt6Widgets"),
        .systemLibrary(name: "CSDL", pkgConfig: "sdl2"),
        .target(name: "Toolkit"),
        .target(name: "GTKToolkit", dependencies: ["CGtk", "Toolkit"]),
        .target(name: "QtToolkit", dependencies: ["CQt", "Toolkit"]),
        .target(name: "SDLToolkit", dependencies: ["CSDL", "Toolkit"]),
        .target(name: "Measures", dependencies: ["Toolkit"] + ours),
        .executableTarget(name: "gtk", dependencies: ["GTKToolkit", "Measures"] + ours),
        .executableTarget(name: "qt", dependencies: ["QtToolkit", "Measures"] + ours),
        .executableTarget(name: "sdl", dependencies: ["SDLToolkit", "Measures", "Toolkit"] + ours),
    ],
    cxxLanguageStandard: .cxx17
)
