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

        // 3: the store on disk, and what Apple signs.
        module("RocksDBStorage", ["Storage", "RocksDB"]),
        module("AppStore", ["Entitlements", "OpenSSL", "Bytes"]),

        // 4: what the service does, without a socket, and what Apple's servers can be asked.
        module("Service", ["Entitlements", "AppStore", "Storage", "SnapshotTable"]),
        module("AppStoreServerAPI", ["AppStore", "HTTP", "OpenSSL", "Entitlements", "Bytes"]),

        // 5: one connection, the HTTP door, the queue of fetches, the client, what tests share.
        module("Session", ["Wire", "Service", "SnapshotTable", "Storage", "Entitlements"]),
        module("Webhook", ["HTTP", "Service", "Storage", "Entitlements"]),
        module(
            "Reconciliation",
            [
                "Service", "AppStoreServerAPI", "AppStore", "EventLoop", "Storage",
                "Entitlements",
            ]),
        module("EntitledClient", ["Wire", "EventLoop"]),
        module("LoadGenerator", ["Wire", "EventLoop", "Bytes", "CLinux"]),
        module("ToolSupport", ["CLinux"]),
        module(
            "TestSupport",
            [
                "Entitlements", "OpenSSL", "AppStore", "Storage", "SnapshotTable", "Service",
                "HTTP", "Bytes",
            ]),

        // 6: sockets and threads.
        module("Transport", ["Session", "EventLoop", "Service", "Storage", "Wire"]),

        // 7: the programs.
        .executableTarget(
            name: "entitled",
            dependencies: [
                "Transport", "Session", "Service", "Webhook", "Reconciliation",
                "AppStoreServerAPI", "HTTP", "RocksDBStorage", "Storage", "AppStore",
                "Entitlements", "EventLoop",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "entitlectl", dependencies: ["EntitledClient", "TestSupport", "ToolSupport"],
            path: "Tools/entitlectl", swiftSettings: strict),
        .executableTarget(
            name: "entitlebench",
            dependencies: [
                "LoadGenerator", "EntitledClient", "TestSupport", "ToolSupport", "Wire",
                "EventLoop",
                "Service", "SnapshotTable", "RocksDBStorage", "RocksDB", "Storage", "AppStore",
                "OpenSSL", "Entitlements", "Bytes",
            ],
            path: "Tools/entitlebench", swiftSettings: strict),
        .executableTarget(name: "tidy", path: "Tools/tidy", swiftSettings: strict),

        tests("Bytes", ["Bytes"]),
        tests("Entitlements", ["Entitlements"]),
        tests("RocksDB", ["RocksDB"]),
        tests("OpenSSL", ["OpenSSL", "Bytes"]),
        tests("EventLoop", ["EventLoop"]),
        tests("Wire", ["Wire", "Bytes", "CMessages", "CProtobufC"]),
        tests("Storage", ["Storage", "Entitlements", "RocksDBStorage", "RocksDB", "Bytes"]),
        tests("SnapshotTable", ["SnapshotTable", "Entitlements"]),
        tests("HTTP", ["HTTP", "OpenSSL", "Bytes"]),
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
            "Session", ["Session", "Wire", "Service", "Storage", "Entitlements", "TestSupport"]),
        tests(
            "Transport",
            [
                "Transport", "Session", "EventLoop", "Service", "Storage", "Wire", "Entitlements",
                "TestSupport",
            ]),
        tests("EntitledClient", ["EntitledClient", "Wire", "EventLoop"]),
        tests(
            "entitled",
            [
                "entitled", "Transport", "Session", "Service", "Webhook", "Reconciliation",
                "AppStoreServerAPI", "HTTP", "RocksDBStorage", "Storage", "AppStore", "OpenSSL",
                "Entitlements", "EventLoop", "TestSupport",
            ]),
        .testTarget(
            name: "ScenarioTests",
            dependencies: [
                "Service", "AppStore", "Storage", "RocksDBStorage", "Entitlements", "TestSupport",
            ],
            exclude: ["README.md", "Scenarios"], swiftSettings: strict),
        tests("Server", ["EntitledClient", "TestSupport", "HTTP", "Wire"]),
        tests("entitlectl", ["entitlectl", "EntitledClient", "ToolSupport"]),
        tests("LoadGenerator", ["LoadGenerator", "Wire", "EventLoop", "Bytes"]),
        tests("ToolSupport", ["ToolSupport"]),
        tests(
            "entitlebench",
            [
                "entitlebench", "LoadGenerator", "EntitledClient", "TestSupport", "ToolSupport",
                "Transport", "Session", "Service", "SnapshotTable", "RocksDBStorage", "RocksDB",
                "Storage", "AppStore", "Entitlements", "EventLoop", "Wire", "Bytes",
            ]),
    ]
)
