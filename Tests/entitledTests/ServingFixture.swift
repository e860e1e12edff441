import Entitlements
import EventLoop
import RocksDBStorage
import Service
import Session
import Storage
import TestSupport
import Transport

@testable import entitled

/// Everything that serves, in this process, on a store in a directory of its own.
final class ServingFixture {
    let parts: ServingParts
    let fixtures: SignedFixtures
    private let isWarm: Bool

    init(directory: String, isWarm: Bool = true) throws {
        let authority = try TestCertificateAuthority()
        let fixtures = SignedFixtures(authority: authority)
        self.fixtures = fixtures
        self.isWarm = isWarm
        let store = try RocksDBStore(directory: directory + "/data", options: StorageOptions())
        let service = try EntitlementService(
            store: try PackingStore(store),
            configuration: ServiceConfiguration(
                apps: [
                    AppConfiguration(
                        bundleID: fixtures.bundleID, appAppleID: fixtures.appAppleID,
                        environments: [.production])
                ],
                roots: [authority.trustedRoot], v1SharedSecret: Array("secret".utf8),
                clock: { Timestamp(milliseconds: WallClock.nowMilliseconds) }))
        if isWarm { try service.warm() }
        let server = try Server(
            options: ServerOptions(
                addresses: [.ipv4(host: "127.0.0.1", port: 0)],
                identity: ServerIdentity(version: "1", commit: "")), service: service)
        parts = ServingParts(
            state: DaemonState(), store: store, service: service, server: server, apple: nil,
            tls: nil, backups: nil, dataDirectory: directory + "/data")
        if isWarm { parts.state.endWarming() }
    }

    func end() {
        parts.server.stop()
        parts.server.join()
        parts.store.close()
    }

    /// A body as Apple POSTs it, about a purchase of a non-consumable.
    func body(_ type: String, _ id: String, uuid: String) throws -> [UInt8] {
        let jws = try fixtures.transaction(
            id, product: "meadow.lifetime", purchased: 1_700_000_000_000)
        return SignedFixtures.body(
            try fixtures.notification(
                type, uuid: uuid, signed: 1_700_000_003_000,
                data: fixtures.notificationData(transaction: jws)))
    }
}

extension ServingFixture {
    /// What a stranger signed, for the app of `fixture`.
    static func strangers(_ fixture: ServingFixture) throws -> [UInt8] {
        let stranger = SignedFixtures(authority: try TestCertificateAuthority())
        return SignedFixtures.body(
            try stranger.notification("TEST", uuid: "u", signed: 1_700_000_003_000, data: nil))
    }
}
