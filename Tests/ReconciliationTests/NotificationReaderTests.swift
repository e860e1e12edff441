import AppStoreServerAPI
import Entitlements
import Service
import Storage
import Testing

@testable import Reconciliation

@Suite struct NotificationReaderTests {
    let bench = Bench()
    var reader: NotificationReader { NotificationReader(desk: bench.desk, door: bench.door) }

    @Test func `what is stored is left alone, the rest is stored and told`() throws {
        bench.set {
            $0.storedUUIDs = ["u1"]
            $0.changes = [Bench.change("p", to: false)]
        }
        let outcome = try reader.take(Bench.page(["u1", "u2", "u3"]).get(), isDryRun: false)
        #expect(bench.committed == ["notification u2", "notification u3"])
        #expect(outcome.notificationCount == 3)
        #expect(outcome.recovered.map(\.notificationUUID) == ["u2", "u3"])
        #expect(outcome.recovered.allSatisfy { $0.disposition == .applied && $0.revision == 5 })
        #expect(outcome.changes.count == 2 && outcome.revision == 5)
        #expect(bench.desk.counts.recoveredNotifications == 2)
    }

    @Test func `a damaged item does not touch the others`() throws {
        bench.set { $0.refused = ["u2": Refusal(.storeDamaged, "his record")] }
        let page = AppStoreServerClient.NotificationPage(
            signedPayloads: ["bad", "u2", "u3"].map { Array($0.utf8) }, unreadableCount: 2,
            nextPageToken: "")
        let outcome = try reader.take(page, isDryRun: false)
        #expect(outcome.recovered.map(\.notificationUUID) == ["u3"])
        #expect(
            outcome.problems.map(\.reason) == [.malformedPayload, .badSignature, .storeDamaged])
        #expect(outcome.notificationCount == 5)
    }

    @Test func `a dry run stores nothing and says the same`() throws {
        bench.set { $0.storedUUIDs = ["u1"] }
        let outcome = try reader.take(Bench.page(["u1", "u2", "u2"]).get(), isDryRun: true)
        #expect(bench.committed.isEmpty)
        #expect(outcome.recovered.map(\.notificationUUID) == ["u2"])
        #expect(outcome.revision == 3)
        #expect(bench.desk.counts.recoveredNotifications == 0)
    }

    @Test func `a store that takes nothing now breaks the page off, to be read again`() throws {
        let refusal = Refusal(.storeUnavailable, "disk full")
        bench.set { $0.refused = ["u2": refusal] }
        let page = try Bench.page(["u1", "u2", "u3"]).get()
        #expect(throws: refusal) { try reader.take(page, isDryRun: false) }
        bench.set { $0.refused = [:] }
        let outcome = try reader.take(page, isDryRun: false)
        #expect(outcome.recovered.map(\.notificationUUID) == ["u2", "u3"])
    }
}
