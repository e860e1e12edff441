import RocksDBStorage
import Service
import Storage
import TestSupport
import Testing

/// Every scenario file, played against the service on both stores.
@Suite struct ScenarioFileTests {
    static let authority = Result { try TestCertificateAuthority(name: "Scenario") }

    @Test(arguments: ScenarioFiles.names)
    func `the service on a store in memory answers as the file says`(name: String) throws {
        for (order, steps) in try orders(of: name, total: 720) {
            let driver = try ScenarioServiceDriver(
                settings: order.settings, authority: try Self.authority.get(),
                store: MemoryStore())
            var runner = ScenarioRunner(driver: driver)
            runner.run(steps)
            #expect(runner.failures == [], "\(name), order \(order.number)")
        }
    }

    @Test(arguments: ScenarioFiles.names)
    func `the service on a store on disk answers as the file says`(name: String) throws {
        for (order, steps) in try orders(of: name, total: 16) {
            let directory = try TemporaryDirectory()
            let store = try RocksDBStore(directory: directory.path + "/data", options: .small)
            // Without warming every answer is read from the store.
            let driver = try ScenarioServiceDriver(
                settings: order.settings, authority: try Self.authority.get(), store: store,
                isWarm: order.number.isMultiple(of: 2))
            var runner = ScenarioRunner(driver: driver)
            runner.run(steps)
            #expect(runner.failures == [], "\(name), order \(order.number)")
        }
    }

    @Test func `the files are found`() {
        #expect(ScenarioFiles.names.count > 50)
    }

    private struct Order {
        let settings: ScenarioSettings
        let number: Int
    }

    private func orders(of name: String, total: Int) throws -> [(Order, [ScenarioStep])] {
        let scenario = try Scenario(try ScenarioFiles.text(name))
        var orders: [(Order, [ScenarioStep])] = []
        let plays = try scenario.plays(signedBy: try Self.authority.get())
        for play in plays {
            for steps in play.orders(limit: max(1, total / plays.count), seed: 20_260_301) {
                orders.append((Order(settings: play.settings, number: orders.count), steps))
            }
        }
        return orders
    }
}

extension StorageOptions {
    /// Little memory: many stores are open at once in tests.
    static var small: StorageOptions {
        var options = StorageOptions()
        options.cacheByteCount = 1 << 20
        options.memtableByteCountMax = 1 << 20
        return options
    }
}
