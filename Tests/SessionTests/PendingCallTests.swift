import Entitlements
import Testing

@testable import Service
@testable import Session

@Suite struct PendingCallTests {
    private func call(_ scopes: [Scope]?) -> PendingCall {
        PendingCall(
            tag: CallTag(requestID: 1, byteCount: 1, isHeavyRead: false), deadlineMilliseconds: 0,
            call: .write(.notification(payload: [])), allowedScopes: scopes)
    }

    private func reason(_ scopes: [Scope]?, _ scope: Scope?) -> RefusalReason? {
        do throws(Refusal) {
            try call(scopes).checkScope(scope)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `counts of the whole server are not for whoever is limited`() {
        let view = ReconciliationView(
            isAppStoreConfigured: true, queuedCount: 3, refreshes: [], nextPageToken: "",
            notificationsCompleteUntil: 4, sweepFinishedAt: 5, succeededCount: 6, failedCount: 7,
            lastFailure: RefreshFailure(
                at: Timestamp(milliseconds: 8), refusal: Refusal(.appStoreIncomplete, "of b")))
        #expect(call(nil).limited(.reconciliation(view)) == .reconciliation(view))
        guard case .reconciliation(let limited) = call([]).limited(.reconciliation(view)) else {
            Issue.record("it is another answer")
            return
        }
        #expect(limited.succeededCount == 0 && limited.failedCount == 0)
        #expect(limited.lastFailure == nil && limited.queuedCount == 3)
    }

    @Test func `without limits verified data may be of any app`() {
        #expect(reason(nil, Scope(bundleID: "a", environment: .production)) == nil)
        #expect(reason(nil, nil) == nil)
    }

    @Test func `with limits they are of an app that is allowed, byte by byte`() {
        let allowed = [
            Scope(bundleID: "a", environment: .production),
            Scope(bundleID: "\u{E9}", environment: .sandbox),
        ]
        #expect(reason(allowed, allowed[0]) == nil)
        #expect(reason(allowed, allowed[1]) == nil)
        for scope in [
            Scope(bundleID: "a", environment: .sandbox), Scope(bundleID: "", environment: .sandbox),
            Scope(bundleID: "A", environment: .production),
            Scope(bundleID: "e\u{301}", environment: .sandbox), nil,
        ] as [Scope?] {
            #expect(reason(allowed, scope) == .appNotAllowed)
        }
        #expect(reason([], allowed[0]) == .appNotAllowed)
    }
}
