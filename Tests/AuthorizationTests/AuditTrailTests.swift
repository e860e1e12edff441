import Testing

@testable import Authorization

@Suite struct AuditTrailTests {
    private func entry() -> AuditEntry {
        AuditEntry(
            at: 1_796_126_400_123, keyID: "k1", keyName: "ops \"x\"", peer: "10.0.0.1",
            method: "LinkCustomer", requestID: 7)
    }

    @Test func `an entry is one line of JSON without what is empty`() {
        #expect(
            entry().line
                == #"{"time":"2026-12-01T12:00:00Z","ms":1796126400123,"key":"k1","#
                + #""name":"ops \"x\"","peer":"10.0.0.1","method":"LinkCustomer","code":0,"#
                + #""request":7}"#)
        var refused = entry()
        refused.app = "com.a:Sandbox"
        refused.target = "customer:u\n{\"a\":1}"
        refused.code = 7
        refused.reason = "ROLE_MISSING"
        refused.traceparent = "00-ab-cd-01"
        #expect(refused.line.contains(#""app":"com.a:Sandbox","target":"customer:u\n{\"a\":1}""#))
        #expect(
            refused.line.hasSuffix(#""reason":"ROLE_MISSING","request":7,"trace":"00-ab-cd-01"}"#))
        #expect(!refused.line.contains("\n"))
    }

    @Test func `what callers choose is cut`() {
        var long = entry()
        long.traceparent = String(repeating: "x", count: 100_000)
        #expect(long.line.utf8.count < 600)
    }

    @Test func `what is not taken is counted`() {
        let trail = AuditTrail { $0.requestID == 7 }
        trail.add(entry())
        #expect(trail.droppedCount == 0)
        var other = entry()
        other.requestID = 8
        trail.add(other)
        trail.countDropped(3)
        trail.countSuppressed()
        #expect(trail.droppedCount == 4 && trail.suppressedCount == 1)
    }
}
