import EventLoop
import RocksDBStorage
import Session
import Testing
import Transport

@testable import entitled

@Suite struct DaemonLayoutTests {
    private let resources = MachineResources(
        processorCount: 4, physicalMemoryByteCount: 1_000 << 20, readFile: { _ in nil })

    private func layout(_ arguments: [String]) throws -> (DaemonLayout, Configuration) {
        let loader = ConfigurationLoader(inputs(leastArguments + arguments))
        let configuration = try loader.configuration()
        return (DaemonLayout(configuration, resources: resources), configuration)
    }

    @Test func `threads follow the processors unless they are said`() throws {
        let (standard, _) = try layout([])
        #expect(standard.loopCount == 4 && standard.workerCount == 4)
        let (said, _) = try layout(["--threads", "1", "--workers", "7"])
        #expect(said.loopCount == 1 && said.workerCount == 7)
        #expect(said.readerCount >= 8)
    }

    @Test(
        arguments: [
            (["--cache-size", "400MiB"], 400 << 20), (["--cache-size", "50%"], 500 << 20),
            ([], 250 << 20),
        ] as [([String], Int)])
    func `the memory is shared between verdicts and records`(
        arguments: [String], byteCount: Int
    ) throws {
        let (layout, _) = try layout(arguments)
        #expect(layout.tableByteCountMax + layout.storeCacheByteCount <= byteCount)
        #expect(layout.tableByteCountMax + layout.storeCacheByteCount > byteCount - 100)
        #expect(layout.tableByteCountMax == byteCount - byteCount / 4)
    }

    @Test func `a tiny cache still holds something`() throws {
        let (layout, _) = try layout(["--cache-size", "1MiB"])
        #expect(layout.tableByteCountMax >= 1 << 20 && layout.storeCacheByteCount >= 1 << 20)
    }

    @Test func `every limit reaches the transport`() throws {
        let (layout, configuration) = try layout([
            "--limits-max-frame", "128KiB", "--limits-max-connections", "11",
            "--limits-max-inflight", "12", "--limits-max-batch", "13",
            "--limits-default-deadline", "14ms", "--limits-max-deadline", "15ms",
            "--spin-us", "16", "--listen", "127.0.0.1:0", "--listen", "unix:/s",
        ])
        let options = layout.serverOptions(configuration)
        #expect(options.limits.frameByteCountMax == 128 << 10)
        #expect(options.connectionCountMax == 11)
        #expect(options.limits.inFlightCountMax == 12)
        #expect(options.limits.batchCountMax == 13)
        #expect(options.limits.timeoutMillisecondsDefault == 14)
        #expect(options.limits.timeoutMillisecondsMax == 15)
        #expect(options.spinMicroseconds == 16)
        #expect(options.addresses.map(\.description) == ["127.0.0.1:0", "unix:/s"])
        #expect(layout.descriptorCount > 11)
    }

    @Test func `connections of HTTP have descriptors of their own`() throws {
        let (without, plain) = try layout(["--limits-max-connections", "11"])
        #expect(without.httpDescriptorCount == 0)
        let (with, http) = try layout([
            "--limits-max-connections", "11", "--http", "127.0.0.1:0",
            "--limits-max-http-connections", "300",
        ])
        // Twice: those that were cut to make room are open for a moment still.
        #expect(with.descriptorCount == without.descriptorCount + 600)
        let reserved = without.serverOptions(plain).reservedDescriptorCount
        #expect(with.serverOptions(http).reservedDescriptorCount == reserved + 600)
    }

    @Test func `the defaults of the settings are those of the session`() throws {
        let (layout, configuration) = try layout([])
        let options = layout.serverOptions(configuration)
        #expect(options.limits == Limits())
        let defaults = ServerOptions(
            addresses: [], identity: ServerIdentity(version: "", commit: ""))
        #expect(options.connectionCountMax == defaults.connectionCountMax)
        #expect(options.identity.version == Version.number)
    }

    @Test func `metering and the threads that ask Apple reach the transport`() throws {
        let (layout, off) = try layout(["--metering=off"])
        #expect(!layout.serverOptions(off).metersUse)
        let (other, on) = try self.layout([
            "--metering-interval", "2s", "--apple-api-issuer-id", "i", "--apple-api-key-id", "k",
            "--apple-api-key-file", "/k", "--apple-api-threads", "5",
        ])
        let options = other.serverOptions(on)
        #expect(options.metersUse && options.usageFlushMilliseconds == 2_000)
        #expect(options.remoteThreadCount == 5)
    }

    @Test func `memory for changes reaches the store, and is the store's own unless it is said`()
        throws
    {
        let (layout, standard) = try layout([])
        #expect(
            layout.storageOptions(standard, onNotice: { _ in }).memtableByteCountMax
                == StorageOptions().memtableByteCountMax)
        let (_, said) = try self.layout(["--memtable-size", "3MiB"])
        #expect(
            layout.storageOptions(said, onNotice: { _ in }).memtableByteCountMax == 3 << 20)
    }

    @Test func `dataSync decides when the store syncs`() throws {
        let (layout, always) = try layout([])
        #expect(layout.storageOptions(always, onNotice: { _ in }).sync == .always)
        let (_, interval) = try self.layout(["--data-sync", "interval"])
        #expect(
            layout.storageOptions(interval, onNotice: { _ in }).sync
                == .interval(milliseconds: DaemonLayout.syncIntervalMilliseconds))
    }
}
