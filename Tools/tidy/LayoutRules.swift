/// What belongs to what: a test file to each source file, a title to each article.
enum LayoutRules {
    /// Sources without a test file of their own, and where they are tested. A name that ends in
    /// `/` is a folder.
    static let untested: [String: String] = [
        "Sources/AppStore/AppleHistory.swift": "HistoryFetchTests of AppStoreServerAPITests",
        "Sources/AppStore/AppStoreError.swift": "SignedDataVerifierTests name every refusal",
        "Sources/AppStore/JSONScanner.swift": "JSONObjectTests",
        "Sources/AppStore/NotificationEvent.swift": "SignedDataVerifierTests",
        "Sources/Backup/BackupError.swift": "every refusal of BackupMakerTests is one",
        "Sources/Backup/FileDigest.swift": "BackupMakerTests and BackupCheckTests",
        "Sources/EntitledClient/AccessQuestion.swift": "ClientCallsTests",
        "Sources/EntitledClient/MessageMapping.swift": "ClientCallsTests",
        "Sources/EntitledClient/OpenValues.swift": "ClientCallsTests",
        "Sources/EntitledClient/ServerConnection.swift": "DispatcherTests",
        "Sources/EntitledClient/Writes.swift": "ClientCallsTests",
        "Sources/Entitlements/RenewalInfo.swift": "CustomerHistoryTests",
        "Sources/Entitlements/Timestamp.swift": "every test of an instant",
        "Sources/TestSupport/": "what tests are made of; a mistake in it fails them",
        "Sources/Transport/": "threads and sockets: ServerTests run them as a whole",
        "Sources/entitled/Main.swift": "hands the process over to Program; DaemonTests run it",
        "Sources/HTTP/ConnectionWatch.swift": "HTTPListenerTests and ListenerAttackTests",
        "Sources/HTTP/DaemonHandle.swift": "HTTPListenerTests",
        "Sources/HTTP/ListenerCore.swift": "HTTPListenerTests and ListenerAttackTests",
        "Sources/HTTP/PendingWork.swift": "HTTPListenerTests: stops with requests under way",
        "Sources/LoadGenerator/PeerScript.swift":
            "one case for each dialogue; Tools/compare-peers --quick drives them all",
        "Sources/LoadGenerator/ByteComparison.swift": "CheckTemplatesTests and EchoDialogueTests",
        "Sources/LoadGenerator/CheckPopulation.swift": "values only: CheckTemplatesTests",
        "Sources/LoadGenerator/CheckScript.swift": "values only: CheckDialogueTests",
        "Sources/LoadGenerator/LoadDialogue.swift": "LoadDriverTests",
        "Sources/LoadGenerator/LoadScript.swift": "LoadRunTests",
        "Sources/LoadGenerator/LoadTally.swift": "AnswerLedgerTests",
        "Sources/LoadGenerator/SystemError.swift": "LoadPlanTests",
        "Sources/OpenSSL/OpenSSLError.swift": "every refusal of CertificateTests is one",
        "Sources/Reconciliation/Histories.swift": "CustomerFetcherTests and RemoteAnswersTests",
        "Sources/Reconciliation/Operations.swift": "EndToEndTests",
        "Sources/Reconciliation/ReconciliationConfiguration.swift":
            "NotificationWindowTests and SweeperTests",
        "Sources/RocksDB/ColumnFamily.swift": "DatabaseTests",
        "Sources/RocksDB/Options.swift": "DatabaseTests",
        "Sources/RocksDB/WriteBatch.swift": "DatabaseTests",
        "Sources/RocksDBStorage/StorageErrors.swift": "RocksDBStoreTests",
        "Sources/RocksDBStorage/StorageOptions.swift": "RocksDBStoreTests",
        "Sources/RocksDBStorage/StoreDirectory.swift": "RocksDBStoreTests",
        "Sources/RocksDBStorage/StoreOpening.swift": "RocksDBStoreTests",
        "Sources/RocksDBStorage/StoreSnapshot.swift": "StoreAcceptanceTests",
        "Sources/LoadGenerator/CountedOutcome.swift": "the smoke run of every workload",
        "Sources/LoadGenerator/ForeignDialogue.swift": "the smoke run of every workload",
        "Sources/Service/AccessQuery.swift": "AccessReaderTests",
        "Sources/Service/Calls.swift": "values of calls: PrepareTests and LedgerTests",
        "Sources/Service/CustomerState.swift": "PlacementTests",
        "Sources/Service/Division.swift": "PlacementTests and LedgerLinksTests",
        "Sources/Service/Event.swift": "PrepareTests and LedgerTests",
        "Sources/Service/Reads.swift": "values of reads: CustomerViewTests and CustomerListsTests",
        "Sources/Service/RemoteCalls.swift": "values of calls: RemoteAnswersTests",
        "Sources/Service/ServiceConfiguration.swift": "EntitlementServiceTests",
        "Sources/Service/StoreReads.swift": "CustomerViewTests and CustomerListsTests",
        "Sources/Service/StoredSnapshots.swift": "AccessReaderTests, without warming",
        "Sources/Service/Workspace.swift": "LedgerTests and CommitTests",
        "Sources/Service/WorkspaceChanges.swift": "LedgerTests and CommitTests",
        "Sources/Session/CheckAsking.swift": "CheckAnsweringTests and CheckRunAnsweringTests",
        "Sources/Simulation/SimulatedCall.swift": "values only: SimulatorTests",
        "Sources/Simulation/SimulatedClient.swift": "SimulatorTests run it, canaries and all",
        "Sources/Simulation/SimulatedDesk.swift": "SimulatorTests run it, canaries and all",
        "Sources/Simulation/SimulatedFacts.swift": "values only: FamilyModelTests",
        "Sources/Simulation/SimulatedLoop.swift": "values only: SimulatorTests",
        "Sources/Simulation/SimulatedServer.swift": "SimulatorTests run it, canaries and all",
        "Sources/Simulation/Workload.swift": "SimulatorTests run it, canaries and all",
        "Sources/Simulation/WorkloadLinks.swift": "SimulatorTests run it, canaries and all",
        "Sources/Simulation/WorkloadPurchases.swift": "SimulatorTests run it, canaries and all",
        "Sources/SnapshotTable/SnapshotView.swift": "SnapshotCodecTests",
        "Sources/Storage/EntitlementStore.swift": "StoreAcceptanceTests",
        "Sources/Storage/Records.swift": "RecordCodecTests",
        "Sources/ToolSupport/ChildProcess.swift": "ServerProcessTests",
        "Sources/Webhook/MetricsSnapshot.swift": "values only: MetricsFamiliesTests",
    ]

    /// Modules whose tests stand in another target than their own.
    static let testTargets = ["RocksDBStorage": "StorageTests"]

    static func check(_ repository: Repository) -> [Finding] {
        testFiles(repository) + articles(repository)
    }

    private static func testFiles(_ repository: Repository) -> [Finding] {
        var tested: [String: Set<String>] = [:]
        for file in repository.files where file.isTest && file.isSwift {
            if let target = file.target { tested[target, default: []].insert(file.name) }
        }
        var findings: [Finding] = []
        func report(_ path: String, _ message: String) {
            findings.append(
                Finding(weight: .error, path: path, line: 0, rule: "test", message: message))
        }
        for file in repository.files where file.isSwift && file.path.hasPrefix("Sources/") {
            guard let module = file.target, hasFunctions(file) else { continue }
            let target = testTargets[module] ?? "\(module)Tests"
            let stem = file.name.dropLast(".swift".count)
            let isTested = tested[target, default: []].contains { isTest($0, of: stem) }
            let isListed = untested.keys.contains {
                $0.hasSuffix("/") ? file.path.hasPrefix($0) : file.path == $0
            }
            if !isTested, !isListed {
                report(file.path, "there is no Tests/\(target)/\(stem)Tests.swift")
            } else if isTested, untested[file.path] != nil {
                report(file.path, "has a test file and is listed in tidy as having none")
            }
        }
        for path in untested.keys.sorted()
        where repository.isCheckout
            && !repository.files.contains(where: { $0.path.hasPrefix(path) })
        {
            report(path, "is listed in tidy and does not exist")
        }
        return findings
    }

    /// `LedgerTests.swift` tests `Ledger.swift`, and what its name begins: `LedgerLinks.swift`.
    private static func isTest(_ name: String, of stem: Substring) -> Bool {
        name.hasSuffix("Tests.swift") && stem.hasPrefix(name.dropLast("Tests.swift".count))
    }

    /// A file that only declares data has nothing of its own to test.
    private static func hasFunctions(_ file: SourceFile) -> Bool {
        !FunctionFinder.functions(in: file.code).isEmpty
    }

    private static func articles(_ repository: Repository) -> [Finding] {
        repository.files.filter { $0.path.hasSuffix(".md") }.compactMap { file in
            var isInFence = false
            var titleLines: [Int] = []
            for (index, line) in file.lines.enumerated() {
                if line.hasPrefix("```") { isInFence.toggle() }
                if !isInFence, line.hasPrefix("# ") { titleLines.append(index + 1) }
            }
            if titleLines == [1] { return nil }
            return Finding(
                weight: .error, path: file.path, line: titleLines.dropFirst().first ?? 1,
                rule: "title", message: "an article has one title, on its first line")
        }
    }
}
