internal import Synchronization

/// One call that is written down: who did what to whom, and how it ended. Never with a key.
package struct AuditEntry: Hashable, Sendable {
    /// When the call came, in ms since 1970.
    package var at: Int64
    /// The record of the caller; empty: he is not known.
    package var keyID: String
    package var keyName: String
    /// The address that the connection came from; empty: a Unix socket.
    package var peer: String
    /// The call's name in the service's definition.
    package var method: String
    /// The app that it named, and its environment; empty: it named none.
    package var app = ""
    /// Whom it was about.
    package var target = ""
    /// gRPC's number; 0 = OK.
    package var code: Int32 = 0
    /// UPPER_SNAKE; empty where it was carried out.
    package var reason = ""
    package var requestID: UInt64
    /// W3C trace context as it came; empty: none.
    package var traceparent = ""

    /// A call that was carried out, about nobody.
    package init(
        at: Int64, keyID: String, keyName: String, peer: String, method: String,
        requestID: UInt64
    ) {
        self.at = at
        self.keyID = keyID
        self.keyName = keyName
        self.peer = peer
        self.method = method
        self.requestID = requestID
    }

    /// The longest text of a member that callers choose, in bytes.
    private static let textByteCountMax = 256

    /// The entry as one line of JSON, without its line feed. Members keep their names and meaning,
    /// new ones come at the end; empty ones are left out.
    package var line: String {
        var line = "{\"time\":\"\(KeyInstant.text(at))\",\"ms\":\(at)"
        for (name, text) in [
            ("key", keyID), ("name", keyName), ("peer", peer), ("method", method), ("app", app),
            ("target", target),
        ] where !text.isEmpty { line += ",\"\(name)\":\(KeyLine.quoted(Self.cut(text)))" }
        line += ",\"code\":\(code)"
        if !reason.isEmpty { line += ",\"reason\":\(KeyLine.quoted(reason))" }
        line += ",\"request\":\(requestID)"
        if !traceparent.isEmpty { line += ",\"trace\":\(KeyLine.quoted(Self.cut(traceparent)))" }
        return line + "}"
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textByteCountMax else { return text }
        return String(decoding: text.utf8.prefix(textByteCountMax), as: UTF8.self)
    }
}

/// Where calls are written down. Never waits: what cannot be taken is counted.
package final class AuditTrail: Sendable {
    private let take: @Sendable (AuditEntry) -> Bool
    private let dropped = Atomic<UInt64>(0)
    private let suppressed = Atomic<UInt64>(0)

    /// A trail.
    ///
    /// - Parameter take: Takes an entry at once, or says that it cannot. Any thread.
    package init(_ take: @escaping @Sendable (AuditEntry) -> Bool) { self.take = take }

    /// Writes an entry down, some time soon. Any thread.
    package func add(_ entry: AuditEntry) {
        if !take(entry) { countDropped() }
    }

    /// An entry is lost.
    package func countDropped(_ count: UInt64 = 1) { dropped.add(count, ordering: .relaxed) }

    /// A refusal was not written down, for there were too many.
    package func countSuppressed() { suppressed.add(1, ordering: .relaxed) }

    /// Entries that were lost.
    package var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }
    /// Refusals that were too many.
    package var suppressedCount: UInt64 { suppressed.load(ordering: .relaxed) }
}
