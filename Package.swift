// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target: language mode 6, memory-safety and all warnings as errors.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
]

/// A library target; `dependencies` is the whole list of what it may import.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of one module, with the shared doubles.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "entitled",
    products: [
        .library(name: "EntitledClient", targets: ["EntitledClient"]),
        .executable(name: "entitled", targets: ["entitled"]),
        .executable(name: "entitlectl", targets: ["entitlectl"]),
        .executable(name: "entitlebench", targets: ["entitlebench"]),
        .library(name: "CCallCounter", type: .dynamic, targets: ["CCallCounter"]),
    ],
    targets: [
        // 0: C libraries from the system.
        .systemLibrary(
            name: "CRocksDB", pkgConfig: "rocksdb", providers: [.apt(["librocksdb-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev", "protobuf-c-compiler"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CMicrohttpd", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),

        // 0: C of our own: words to the processor, a counter of calls that is preloaded into a
        // server under measurement, and what the tools ask of Linux itself.
        .target(name: "CProcessor"),
        .target(name: "CCallCounter"),
        .target(name: "CLinux"),

        // 1: generated messages, bytes, and the rules.
        .target(name: "CMessages", dependencies: ["CProtobufC"]),
        module("Bytes"),
        module("Entitlements"),

        // 2: one wrapper per library, the wire format, and what a store must do.
        module("RocksDB", ["CRocksDB"]),
        module("OpenSSL", ["COpenSSL", "Bytes"]),
        module("EventLoop", ["CLibuv"]),
        module("Wire", ["CMessages", "CProtobufC"]),
        module("Storage", ["Entitlements", "Bytes"]),
        module("SnapshotTable", ["Entitlements", "CProcessor"]),
        module("HTTP", ["CCurl", "CMicrohttpd"]),

        // 3: the store on disk, what Apple signs, and who may call.
        module("RocksDBStorage", ["Storage", "RocksDB"]),
        module("AppStore", ["Entitlements", "OpenSSL", "Bytes"]),
        module("Authorization", ["OpenSSL", "Bytes"]),

        // 4: what the service does, without a socket, and what Apple's servers can be asked.
        module("Service", ["Entitlements", "AppStore", "Storage", "SnapshotTable"]),
        module("AppStoreServerAPI", ["AppStore", "HTTP", "OpenSSL", "Entitlements", "Bytes"]),

        // 5: one connection, the HTTP door, the queue of fetches, the client, what tests share.
        module(
            "Session",
            ["Wire", "Service", "SnapshotTable", "Storage", "Authorization", "Entitlements"]),
        module("Webhook", ["HTTP", "Service", "Storage", "Entitlements"]),
        module(
            "Reconciliation",
            [
                "Service", "AppStoreServerAPI", "AppStore", "EventLoop", "Storage",
                "Entitlements",
            ]),
        module(
            "Backup",
            [
                "Service", "RocksDBStorage", "Storage", "RocksDB", "OpenSSL", "AppStore",
                "EventLoop", "Entitlements",
            ]),
        module("EntitledClient", ["Wire", "EventLoop", "OpenSSL"]),
        module("LoadGenerator", ["Wire", "EventLoop", "OpenSSL", "Bytes", "CLinux"]),
        module("ToolSupport", ["CLinux"]),
        module(
            "TestSupport",
            [
                "Entitlements", "OpenSSL", "AppStore", "Storage", "SnapshotTable", "Service",
                "HTTP", "Bytes",
            ]),

        // 6: sockets and threads; the same without either, from one seed.
        module(
            "Transport",
            [
                "Session", "EventLoop", "Service", "Storage", "Wire", "OpenSSL", "Authorization",
                "Entitlements",
            ]),

        module(
            "Simulation",
            [
                "TestSupport", "Session", "Service", "Storage", "Wire", "AppStore", "OpenSSL",
                "Entitlements",
            ]),

        // 7: the programs.
        .executableTarget(
            name: "entitled",
            dependencies: [
                "Transport", "Session", "Service", "Webhook", "Reconciliation", "Backup",
                "AppStoreServerAPI", "HTTP", "RocksDBStorage", "Storage", "AppStore",
                "OpenSSL", "Authorization", "Entitlements", "EventLoop",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "entitlectl",
            dependencies: [
                "EntitledClient", "TestSupport", "ToolSupport", "Authorization", "Backup",
                "Service", "AppStore", "RocksDBStorage", "Storage", "Entitlements",
            ],
            path: "Tools/entitlectl", swiftSettings: strict),
        .executableTarget(
            name: "entitlebench",
            dependencies: [
                "LoadGenerator", "EntitledClient", "TestSupport", "ToolSupport", "Wire",
                "EventLoop", "HTTP",
                "Service", "SnapshotTable", "RocksDBStorage", "RocksDB", "Storage", "AppStore",
                "OpenSSL", "Authorization", "Entitlements", "Bytes",
            ],
            path: "Tools/entitlebench", swiftSettings: strict),
        .executableTarget(
            name: "sim", dependencies: ["Simulation", "ToolSupport"], path: "Tools/sim",
            swiftSettings: strict),
        .executableTarget(name: "tidy", path: "Tools/tidy", swiftSettings: strict),

        // 8: what the fuzzers try; see Tools/Fuzz/README.md.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "entitled", "Session", "Service", "SnapshotTable", "Storage", "AppStore",
                "OpenSSL", "Entitlements", "Wire", "Bytes", "TestSupport",
            ],
            path: "Tools/Fuzz/Targets", swiftSettings: strict),

        tests("Bytes", ["Bytes"]),
        tests("Entitlements", ["Entitlements"]),
        tests("RocksDB", ["RocksDB"]),
        tests("OpenSSL", ["OpenSSL", "Bytes", "TestSupport"]),
        tests("EventLoop", ["EventLoop"]),
        tests("Wire", ["Wire", "Bytes", "CMessages", "CProtobufC"]),
        tests("Storage", ["Storage", "Entitlements", "RocksDBStorage", "RocksDB", "Bytes"]),
        tests("SnapshotTable", ["SnapshotTable", "Entitlements"]),
        tests("HTTP", ["HTTP", "OpenSSL", "Bytes"]),
        tests("Authorization", ["Authorization", "OpenSSL"]),
        tests("AppStore", ["AppStore", "OpenSSL", "Entitlements", "TestSupport", "Bytes"]),
        tests(
            "AppStoreServerAPI",
            [
                "AppStoreServerAPI", "AppStore", "HTTP", "OpenSSL", "Entitlements",
                "TestSupport", "Bytes",
            ]),
        tests(
            "Webhook",
            ["Webhook", "HTTP", "Service", "AppStore", "Storage", "Entitlements", "TestSupport"]),
        tests(
            "Reconciliation",
            [
                "Reconciliation", "AppStoreServerAPI", "Service", "AppStore", "HTTP", "Storage",
                "Entitlements", "EventLoop", "TestSupport",
            ]),
        tests(
            "Service",
            ["Service", "SnapshotTable", "AppStore", "Storage", "Entitlements", "TestSupport"]),
        tests(
            "Session",
            [
                "Session", "Wire", "Service", "Storage", "Authorization", "OpenSSL",
                "Entitlements", "TestSupport",
            ]),
        tests(
            "Transport",
            [
                "Transport", "Session", "EventLoop", "Service", "Storage", "Wire", "OpenSSL",
                "Entitlements", "TestSupport",
            ]),
        tests(
            "Backup",
            [
                "Backup", "Service", "RocksDBStorage", "Storage", "RocksDB", "AppStore",
                "Entitlements", "TestSupport",
            ]),
        tests(
            "EntitledClient", ["EntitledClient", "Wire", "EventLoop", "OpenSSL", "TestSupport"]),
        tests(
            "Simulation",
            ["Simulation", "TestSupport", "Storage", "Wire", "Entitlements", "Session"]),
        tests(
            "entitled",
            [
                "entitled", "Transport", "Session", "Service", "Webhook", "Reconciliation",
                "Backup", "AppStoreServerAPI", "HTTP", "RocksDBStorage", "Storage", "AppStore",
                "OpenSSL", "Authorization", "Entitlements", "EventLoop", "TestSupport",
            ]),
        .testTarget(
            name: "ScenarioTests",
            dependencies: [
                "Service", "AppStore", "Storage", "RocksDBStorage", "Entitlements", "TestSupport",
            ],
            exclude: ["README.md", "Scenarios"], swiftSettings: strict),
        tests(
            "Server",
            ["EntitledClient", "TestSupport", "Authorization", "HTTP", "OpenSSL", "Wire"]),
        tests("entitlectl", ["entitlectl", "EntitledClient", "ToolSupport", "Authorization"]),
        tests(
            "LoadGenerator",
            ["LoadGenerator", "Wire", "EventLoop", "OpenSSL", "TestSupport", "Bytes"]),
        tests("ToolSupport", ["ToolSupport"]),
        tests(
            "entitlebench",
            [
                "entitlebench", "LoadGenerator", "EntitledClient", "TestSupport", "ToolSupport",
                "Transport", "Session", "Service", "SnapshotTable", "RocksDBStorage", "RocksDB",
                "Storage", "AppStore", "Entitlements", "EventLoop", "Wire", "Bytes",
            ]),
        // The server by name: a program is linked into tests that name it.
        tests("Fuzz", ["FuzzTargets", "entitled", "TestSupport"]),
    ]
)

// The fuzzers' program needs libFuzzer, which Tools/Fuzz/run links: it is no part of a usual build.
// The server is a library for it, because only tests may link a program; see Tools/Fuzz/README.md.
if Context.environment["ENTITLED_FUZZ"] == "1" {
    package.products = []
    package.targets = package.targets.filter { !$0.isTest }.map { target in
        guard target.name == "entitled" else { return target }
        return .target(
            name: target.name, dependencies: target.dependencies,
            exclude: ["Main.swift", "Documentation.docc"], swiftSettings: strict)
    }
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets"], path: "Tools/Fuzz/Runner",
            swiftSettings: strict + [.enableExperimentalFeature("Extern")]))
}
