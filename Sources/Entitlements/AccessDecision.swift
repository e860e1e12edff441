/// The answer about one product at one instant.
@usableFromInline package struct AccessDecision: Hashable, Sendable, BitwiseCopyable {
    /// Granted or why not.
    @usableFromInline package var reason: AccessReason
    /// Which grant the answer rests on; -1 when there is none.
    @usableFromInline package var grantIndex: Int
    /// The next instant at which `isGranted` flips by itself; 0 when it never does.
    @usableFromInline package var validUntil: Int64

    /// An answer.
    @inlinable
    package init(reason: AccessReason, grantIndex: Int = -1, validUntil: Int64 = 0) {
        self.reason = reason
        self.grantIndex = grantIndex
        self.validUntil = validUntil
    }

    /// Whether access is granted.
    @inlinable
    package var isGranted: Bool { reason.isGranted }
}

/// The grants of one product, as a caller keeps them: an array, or bytes that nobody decodes.
///
/// The order is: newest start first, then newest signedDate, then greatest transactionId.
package protocol GrantList: ~Copyable, ~Escapable {
    /// How many there are.
    var count: Int { get }
    /// The grant at `index`.
    func grant(at index: Int) -> Grant
    /// No grant after `index` can grant at or after this instant.
    func endOfRest(after index: Int) -> Int64
}

extension GrantList where Self: ~Copyable, Self: ~Escapable {
    /// The answer of these grants at `instant`, without `validUntil`.
    ///
    /// Granted when any transaction grants; the one with the latest end is reported. Otherwise the
    /// reason is that of the newest purchase that has started. Time: the grants that may still
    /// matter at `instant`, usually one, however long the history.
    @inlinable
    package func decision(at instant: Int64, under policy: ProductPolicy) -> AccessDecision {
        var best: (grant: Grant, decision: AccessDecision)?
        var denial: AccessDecision?
        for index in 0..<count {
            let grant = grant(at: index)
            if grant.start <= instant {
                let reason = grant.reason(at: instant, under: policy)
                let found = AccessDecision(reason: reason, grantIndex: index)
                if !reason.isGranted {
                    denial = denial ?? found
                } else if best.map({ grant.endsLater(than: $0.grant, under: policy) }) ?? true {
                    best = (grant, found)
                }
            }
            let isSettled = best != nil || denial != nil
            if isSettled && endOfRest(after: index) <= instant { break }
        }
        return best?.decision ?? denial
            ?? AccessDecision(reason: count == 0 ? .noPurchase : .notStarted)
    }

    /// Until when access that holds at `instant` goes on without a gap; `instant` itself when these
    /// grants do not hold at it.
    @inlinable
    package func coverageEnd(from instant: Int64, under policy: ProductPolicy) -> Int64 {
        var end = instant
        for index in stride(from: relevantCount(at: instant) - 1, through: 0, by: -1) {
            let interval = grant(at: index).interval(under: policy)
            if interval.start > end { break }
            end = max(end, interval.stop)
        }
        return end
    }

    /// When these grants next begin to hold after `instant`; never is `Int64.max`.
    @inlinable
    package func nextStart(after instant: Int64, under policy: ProductPolicy) -> Int64 {
        for index in stride(from: relevantCount(at: instant) - 1, through: 0, by: -1) {
            let interval = grant(at: index).interval(under: policy)
            if interval.start > instant && interval.stop > interval.start { return interval.start }
        }
        return .max
    }

    /// The answer at `instant` with `validUntil`.
    @inlinable
    package func fullDecision(at instant: Int64, under policy: ProductPolicy) -> AccessDecision {
        var decision = decision(at: instant, under: policy)
        let flip =
            decision.isGranted
            ? coverageEnd(from: instant, under: policy) : nextStart(after: instant, under: policy)
        decision.validUntil = flip == .max ? 0 : flip
        return decision
    }

    /// How many of the newest grants can matter at or after `instant`.
    @inlinable
    func relevantCount(at instant: Int64) -> Int {
        for index in 0..<count where endOfRest(after: index) <= instant { return index + 1 }
        return count
    }
}

/// Grants in an array, in the order that `GrantList` asks for.
package struct GrantArray: GrantList, Hashable, Sendable {
    private let grants: [Grant]
    private let ends: [Int64]

    /// Takes grants that are sorted already.
    package init(sorted grants: [Grant]) {
        self.grants = grants
        ends = Self.endsOfRest(grants)
    }

    package var count: Int { grants.count }
    package func grant(at index: Int) -> Grant { grants[index] }
    package func endOfRest(after index: Int) -> Int64 { ends[index] }

    /// For each index the latest end of all later grants.
    ///
    /// The end of a non-renewing purchase depends on the catalog, so it counts as never.
    package static func endsOfRest(_ grants: [Grant]) -> [Int64] {
        var ends = [Int64](repeating: .min, count: grants.count)
        var latest = Int64.min
        for index in grants.indices.reversed() {
            ends[index] = latest
            let grant = grants[index]
            let end = grant.type == .nonRenewing ? .max : max(grant.end, grant.graceEnd)
            latest = max(latest, end)
        }
        return ends
    }
}
