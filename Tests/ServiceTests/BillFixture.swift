import Entitlements
import Service
import Storage
import TestSupport

/// A day's milliseconds.
let day: Int64 = 86_400_000

/// A service with a meter, on a clock that is counted in days since 2026-01-01.
struct BillFixture {
    let fixture: ServiceFixture
    let meter: UsageMeter
    let spare: MeteredUse
    private let door: CommitDoor

    init(
        store: MemoryStore = MemoryStore(), catalog: Catalog = Catalog(), slotCount: Int = 1 << 10
    ) throws {
        let fixture = try ServiceFixture(store: store, catalog: catalog)
        self.fixture = fixture
        meter = UsageMeter(slotCount: slotCount)
        spare = MeteredUse(slotCount: slotCount)
        let service = fixture.service
        door = CommitDoor { service.commit([$0])[0] }
    }

    /// Sets the clock, in ms since 2026-01-01.
    func setClock(_ offset: Int64) {
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(offset))
    }

    /// Checks as a loop does: at `offset` by the server's clock, metered where it is granted.
    @discardableResult
    func check(
        _ customer: String, _ product: String, at offset: Int64, units: UInt64 = 0
    ) throws -> Bool {
        setClock(offset)
        let verdict = try fixture.desk.check(.customer(customer), product, in: fixture.scope)
        guard verdict.isGranted else { return false }
        meter.setTime(ServiceFixture.date(offset))
        meter.count(Array(verdict.transactionID.utf8).span, in: fixture.scope, units: units)
        return true
    }

    /// Writes what was metered; how many checks were lost.
    @discardableResult
    func flush() -> UInt64 {
        meter.flush(into: spare)
        return fixture.service.write(spare, through: door)
    }

    /// The whole bill, as one page.
    func bill(
        from: Int64? = nil, to: Int64? = nil, product: String = "", countMax: Int = 1_000
    ) throws -> [RefundView] {
        let query = RefundQuery(
            page: PageQuery(scope: fixture.scope, countMax: countMax),
            from: from.map { Timestamp(milliseconds: ServiceFixture.date($0)) } ?? .distantPast,
            to: to.map { Timestamp(milliseconds: ServiceFixture.date($0)) } ?? .distantFuture,
            productID: product)
        return try page(query).refunds
    }

    func page(_ query: RefundQuery) throws -> RefundPage {
        guard case .refunds(let page) = try fixture.service.read(.refunds(query)) else {
            throw UnexpectedReply()
        }
        return page
    }

    /// What is stored for a transaction, by days since 2026-01-01.
    func usage(of transactionID: String) throws -> [Int: UsageRecord] {
        let prefix = Key.usage(Array(transactionID.utf8), in: ScopeNumber(1))
        var records: [Int: UsageRecord] = [:]
        var values: [(UInt32, [UInt8])] = []
        try fixture.store.scan(.usage, prefix: prefix, from: nil, reversed: false) {
            values.append((Key.day(ofUsage: $0), $1))
            return true
        }
        for (day, value) in values {
            records[Int(day) - 20_454] = try RecordCodec.decodeUsage(value)
        }
        return records
    }

    /// The records of ends, in order.
    func endings() throws -> [(position: RefundPosition, record: RefundRecord)] {
        var pairs: [([UInt8], [UInt8])] = []
        try fixture.store.scan(.refunds, prefix: [], from: nil, reversed: false) {
            pairs.append(($0, $1))
            return true
        }
        return try pairs.map { key, value in
            (try Key.position(ofRefund: key), try RecordCodec.decodeRefund(value))
        }
    }

    /// The records of ends as text: day of the end, transaction, cause and when it was learnt.
    func endingTexts() throws -> [String] {
        try endings().map { position, record in
            let causes = record.endings.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { cause, ending in
                    "\(cause) \(Self.days(ending.instant)) learnt \(Self.days(ending.learnedAt))"
                }
            return "\(position.transactionID) \(Self.days(position.instant)): "
                + causes.joined(separator: ", ")
        }
    }

    private static func days(_ instant: Timestamp) -> String {
        let offset = instant.milliseconds - ServiceFixture.epoch
        return offset.isMultiple(of: day)
            ? "\(offset / day)" : "\(offset / day)+\(offset % day / 3_600_000)h"
    }
}

extension PersonUse {
    /// Its figures in one line.
    var text: String {
        "\(customerID) \(transactionID): \(days)d \(checks)c \(units)u \(costMicros) leaked "
            + "\(leakedDays)d \(leakedChecks)c \(leakedUnits)u \(leakedCostMicros) "
            + "\(leakedPeriods)p"
    }

    /// When access ended, in days since 2026-01-01; nil while it goes on.
    var endDay: Double? {
        accessEndedAt == 0 ? nil : Double(accessEndedAt - ServiceFixture.epoch) / Double(day)
    }
}
