/// Milliseconds since 1970-01-01T00:00:00Z, the unit of every Apple date field.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// The count of milliseconds; negative before 1970.
    package let milliseconds: Int64

    /// The instant `milliseconds` after 1970-01-01T00:00:00Z.
    @inlinable
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Before every instant that a payload can name.
    @inlinable
    package static var distantPast: Timestamp { Timestamp(milliseconds: .min) }

    /// After every instant that a payload can name; as an end it means "never".
    @inlinable
    package static var distantFuture: Timestamp { Timestamp(milliseconds: .max) }

    @inlinable
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant `duration` milliseconds later; stays at the far ends instead of overflowing.
    @inlinable
    package func adding(milliseconds duration: Int64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration)
        guard overflow else { return Timestamp(milliseconds: sum) }
        return duration > 0 ? .distantFuture : .distantPast
    }
}
