@testable import Webhook
import Entitlements
import Service
import Testing

@Suite struct MetricsLabelsTests {
    @Test func `the types of both versions are known, whatever else is other`() {
        for type in ["REVOKE", "SUBSCRIBED", "CANCEL", "INTERACTIVE_RENEWAL", "other"] {
            #expect(MetricsLabels.notificationType(type) == type)
        }
        for type in ["", "revoke", "REVOKE ", "NEW"] {
            #expect(MetricsLabels.notificationType(type) == "other")
        }
    }

    @Test(arguments: [(200, "2xx"), (404, "4xx"), (599, "5xx"), (0, "error"), (600, "error")])
    func `a status has its class`(status: Int, name: String) {
        #expect(MetricsLabels.statusClass(status) == name)
    }

    @Test func `a refusal is rejected or deferred as its answer is 4xx or 5xx`() {
        #expect(MetricsLabels.outcome(of: Refusal(.badSignature, "")) == .rejected)
        #expect(MetricsLabels.outcome(of: Refusal(.storeUnavailable, "")) == .deferred)
    }

    @Test func `signatures are told from chains and from the rest`() {
        #expect(MetricsLabels.verification(of: .badSignature) == "bad_signature")
        #expect(MetricsLabels.verification(of: .untrustedChain) == "bad_chain")
        #expect(MetricsLabels.verification(of: .certificateExpired) == "expired")
        #expect(MetricsLabels.verification(of: .wrongApp) == nil)
        for reason in RefusalReason.allCases {
            guard let name = MetricsLabels.verification(of: reason) else { continue }
            #expect(MetricsLabels.verifications.contains(name))
        }
    }

    @Test func `every reason for a no has a name of its own`() {
        let names = MetricsLabels.denials.map(MetricsLabels.name)
        #expect(Set(names).count == names.count)
        #expect(!names.contains("active") && names.contains("family_left"))
    }
}
