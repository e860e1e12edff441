import Entitlements
import Storage
import Testing

@Suite struct RefreshRecordsTests {
    private static var fullJob: RefreshJob {
        var job = RefreshJob(
            trigger: .revoke, queuedAt: Timestamp(milliseconds: -1), revision: .max)
        job.notBefore = Timestamp(milliseconds: .max)
        job.attempts = .max
        job.lastReason = "APP_STORE_THROTTLED"
        job.lastMessage = "é\u{0}"
        return job
    }

    @Test(arguments: RefreshTrigger.allCases)
    func `a job comes back whole`(trigger: RefreshTrigger) throws {
        var full = Self.fullJob
        full.trigger = trigger
        let fresh = RefreshJob(
            trigger: trigger, queuedAt: Timestamp(milliseconds: 5), revision: 0)
        for job in [full, fresh] {
            #expect(try RecordCodec.decodeRefresh(RecordCodec.encode(job)) == job)
        }
        #expect(fresh.notBefore == fresh.queuedAt)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func `an instant comes back`(milliseconds: Int64) throws {
        let instant = Timestamp(milliseconds: milliseconds)
        #expect(
            try RecordCodec.decodeInstant(RecordCodec.encode(instant), in: .refreshes) == instant)
    }

    @Test func `every truncation, a byte too many and another layout are refused`() {
        let bytes = RecordCodec.encode(Self.fullJob)
        for count in bytes.indices {
            #expect(throws: StorageError.self, "cut at \(count)") {
                try RecordCodec.decodeRefresh(Array(bytes.prefix(count)))
            }
        }
        #expect(throws: StorageError.self) { try RecordCodec.decodeRefresh(bytes + [0]) }
        for layout: UInt8 in [0, 2, 255] {
            #expect(throws: StorageError.self) {
                try RecordCodec.decodeRefresh([layout] + bytes.dropFirst())
            }
        }
        for count in [0, 7, 9] {
            #expect(throws: StorageError.self) {
                try RecordCodec.decodeInstant([UInt8](repeating: 0, count: count), in: .meta)
            }
        }
    }

    @Test func `a trigger that this release does not know is refused, and the keyspace named`() {
        var bytes = RecordCodec.encode(Self.fullJob)
        bytes[3] = UInt8(ascii: "X")
        do {
            _ = try RecordCodec.decodeRefresh(bytes)
            Issue.record("an unknown trigger decodes")
        } catch StorageError.corruptRecord(let keyspace, _) {
            #expect(keyspace == .refreshes)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func `damaged bytes are refused or decoded, never a trap`() {
        let bytes = RecordCodec.encode(Self.fullJob)
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 127, 128, 255] {
                var damaged = bytes
                damaged[index] = value
                _ = try? RecordCodec.decodeRefresh(damaged)
            }
        }
    }

    @Test func `jobs sort by customer, apart from what was fetched and from other scopes`() {
        let scopes = [ScopeNumber(0), ScopeNumber(1), ScopeNumber(256)]
        let numbers: [UInt64] = [0, 1, 255, 256, .max]
        var all: [[UInt8]] = []
        for scope in scopes {
            let keys = numbers.map { Key.refresh(CustomerKey(scope: scope, number: $0)) }
            for (left, right) in zip(keys, keys.dropFirst()) {
                #expect(left.lexicographicallyPrecedes(right))
            }
            for (key, number) in zip(keys, numbers) {
                #expect(key.starts(with: Key.refreshes(of: scope)))
                #expect(Key.trailingNumber(of: key) == number)
                for other in scopes where other != scope {
                    #expect(!key.starts(with: Key.refreshes(of: other)))
                }
            }
            let fetched = numbers.map { Key.refreshed(CustomerKey(scope: scope, number: $0)) }
            for key in fetched { #expect(!key.starts(with: Key.refreshes(of: scope))) }
            all += keys + fetched
        }
        #expect(Set(all).count == all.count)
    }

    @Test func `marks have keys of their own, and hints are no links`() {
        var keys = [
            Key.format, Key.revision, Key.nextCustomer, Key.counts, Key.nextScope,
            Key.scope(Scope(bundleID: "", environment: .production)),
        ]
        for scope in [ScopeNumber(0), ScopeNumber(1), ScopeNumber(.max)] {
            keys += ReconciliationMark.allCases.map { Key.mark($0, of: scope) }
        }
        #expect(Set(keys).count == keys.count)
        let ann = CustomerKey(scope: ScopeNumber(1), number: 1)
        for kind in IdentityKind.allCases {
            #expect(kind.rawValue != Key.hintKind)
            #expect(Key.link(ann, Identity(kind, "1")) != Key.hint(ann, "1"))
        }
        #expect(Key.hint(ann, "1").starts(with: Key.customer(ann)))
        #expect(Key.hint(ann, "").count > Key.customerByteCount)
    }
}
