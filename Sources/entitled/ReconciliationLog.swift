internal import Entitlements
internal import Reconciliation
internal import Service

extension LogRecord {
    /// The line of what an operator must see of reconciliation; never a payload or a token.
    init(_ notice: ReconciliationNotice) {
        let (level, fields) = Self.parts(of: notice)
        self.init(level: level, message: notice.message, fields: fields)
    }

    private static func parts(of notice: ReconciliationNotice) -> (LogLevel, [Field]) {
        switch notice {
        case .unauthorized(let scope, let message):
            (.error, fields(of: scope) + [.init("error", message)])
        case .recovered(let scope): (.info, fields(of: scope))
        case .paused(let scope, let until, let message):
            (
                .warn,
                fields(of: scope) + [
                    .init("until", UTCTime.text(until.milliseconds)), .init("error", message),
                ]
            )
        case .gapClosed(let scope, let dates, let count):
            (.warn, fields(of: scope) + fields(of: dates) + [.init("recovered", count)])
        case .gapTooOld(let scope, let dates): (.error, fields(of: scope) + fields(of: dates))
        case .markAheadOfClock(let scope, let mark):
            (.warn, fields(of: scope) + [.init("mark", UTCTime.text(mark.milliseconds))])
        case .damagedItem(let scope, let refusal):
            (.warn, fields(of: scope) + fields(of: refusal))
        case .sweepFoundChange(let scope, let changes):
            (.warn, fields(of: scope) + [.init("changes", changes.count)])
        case .fetchFailed(let scope, _, let refusal):
            (.warn, fields(of: scope) + fields(of: refusal))
        case .storeFailed(let refusal): (.error, fields(of: refusal))
        }
    }

    private static func fields(of scope: Scope) -> [Field] {
        [.init("app", scope.bundleID), .init("environment", scope.environment.name)]
    }

    private static func fields(of dates: Range<Timestamp>) -> [Field] {
        [
            .init("from", UTCTime.text(dates.lowerBound.milliseconds)),
            .init("to", UTCTime.text(dates.upperBound.milliseconds)),
        ]
    }

    private static func fields(of refusal: Refusal) -> [Field] {
        [.init("reason", refusal.reason.rawValue), .init("detail", refusal.message)]
    }
}
