import Entitlements
import Testing

@testable import SnapshotTable

@Suite struct LongSnapshotTests {
    /// A snapshot of one product with one grant, in layout 2.
    private func snapshot(horizon: Int64, index: [UInt8]) -> [UInt8] {
        let arena = Array("p1".utf8)
        func build(_ trailer: [UInt8]) -> [UInt8] {
            SnapshotBuilder.build(
                newestSignedDate: 50,
                products: [
                    PlacedProduct(name: TextRange(start: 0, count: 1), grants: 0..<1)
                ],
                grants: [
                    PlacedGrant(
                        grant: Grant(type: .nonConsumable, ownership: .purchased, start: 7),
                        endOfRest: 30, transactionID: TextRange(start: 1, count: 1),
                        originalTransactionID: TextRange(start: 1, count: 1))
                ],
                arena: arena, layout: LongSnapshot.layout, trailer: trailer)
        }
        return build(
            LongSnapshot.trailer(horizons: [horizon], index: index, offset: build([]).count))
    }

    @Test func `a head answers from its horizon on, and carries the commit thread's part`() {
        let bytes = snapshot(horizon: 40, index: [1, 2, 3])
        let view = SnapshotView(bytes.span)
        let (isWellFormed, isLong, index) = (view.isWellFormed, view.isLong, view.longIndex)
        #expect(isWellFormed && isLong)
        #expect(index == [1, 2, 3])
        let horizon = view.horizon(ofProductAt: 0)
        #expect(horizon == 40)
        let reaches = [
            view.reaches(back: 39, ofProductAt: 0), view.reaches(back: 40, ofProductAt: 0),
        ]
        #expect(reaches == [false, true])
        let end = view.grants(ofProductAt: 0).endOfRest(after: 0)
        #expect(end == 30)
    }

    @Test func `a snapshot of layout 1 answers for every instant`() {
        let bytes = SnapshotBuilder.build(
            newestSignedDate: 50, products: [], grants: [], arena: [])
        let view = SnapshotView(bytes.span)
        let (isWellFormed, isLong, index) = (view.isWellFormed, view.isLong, view.longIndex)
        #expect(isWellFormed && !isLong)
        #expect(index == nil)
        let horizon = view.horizon(ofProductAt: 0)
        #expect(horizon == .min)
        let isReached = view.reaches(back: .min, ofProductAt: 0)
        #expect(isReached)
    }

    @Test func `an offset that leads out of the bytes is refused`() {
        let bytes = snapshot(horizon: 40, index: [])
        for offset in [UInt8(0), 15, UInt8(bytes.count - 11), 0xFF] {
            var damaged = bytes
            damaged[bytes.count - 4] = offset
            let isWellFormed = SnapshotView(damaged.span).isWellFormed
            #expect(!isWellFormed, "\(offset)")
        }
    }

    private static func grant(
        _ type: ProductType, _ ownership: Ownership = .purchased,
        _ change: (inout Grant) -> Void = { _ in }
    ) -> Grant {
        var grant = Grant(type: type, ownership: ownership, start: 10)
        change(&grant)
        return grant
    }

    private static let stops: [(grant: Grant, stop: Int64)] = [
        (grant(.consumable), .min), (grant(.unknown), .min),
        (grant(.nonRenewing, .familyShared), .min), (grant(.nonRenewing), .max),
        (grant(.nonConsumable), .max),
        (grant(.nonConsumable) { $0.flags.insert(.incomplete) }, .min),
        (grant(.autoRenewable) { $0.end = 90 }, 90),
        (
            grant(.autoRenewable) {
                $0.end = 90
                $0.graceEnd = 95
            }, 95
        ),
        (
            grant(.autoRenewable) {
                $0.end = 90
                $0.upgradedFrom = 60
            }, 60
        ),
        (grant(.nonConsumable, .familyShared) { $0.overriddenFrom = 50 }, 50),
        (grant(.nonConsumable) { $0.revokedFrom = 40 }, 40),
        // A catalog may let him keep it.
        (
            grant(.nonConsumable) {
                $0.revokedFrom = 40
                $0.flags.insert(.prorated)
            }, .max
        ),
        (
            grant(.autoRenewable) {
                $0.end = 90
                $0.revokedFrom = 40
                $0.flags.insert(.prorated)
            }, 40
        ),
    ]

    @Test func `from its latest stop on no catalog lets a grant give access`() {
        let policies = [
            ProductPolicy(), ProductPolicy(duration: 1_000, keepsProratedRefunds: true),
        ]
        for (grant, stop) in Self.stops {
            #expect(grant.latestStop == stop, "\(grant)")
            for policy in policies {
                #expect(grant.interval(under: policy).stop <= stop, "\(grant)")
            }
        }
    }
}
