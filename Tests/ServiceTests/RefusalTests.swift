import Service
import Testing

struct RefusalTests {
    @Test(
        arguments: [
            (RefusalReason.malformedFrame, StatusCode.invalidArgument),
            (.unknownCall, .unimplemented),
            (.identityConflict, .failedPrecondition), (.unknownCustomer, .notFound),
            (.appStoreNotConfigured, .failedPrecondition), (.badSignature, .invalidArgument),
            (.v1Unauthenticated, .unauthenticated), (.draining, .unavailable),
            (.storeUnavailable, .unavailable), (.storeDamaged, .dataLoss),
            (.overloaded, .resourceExhausted), (.deadline, .deadlineExceeded),
            (.revisionNotReached, .deadlineExceeded),
        ])
    func `a reason has the status of the contract`(reason: RefusalReason, status: StatusCode) {
        #expect(Refusal(reason, "why").status == status)
    }

    @Test func `what is about who calls is said before anything that he asks`() {
        let about = RefusalReason.allCases.filter(\.isAboutCaller)
        #expect(about.count == 6)
        for reason in about {
            #expect([.unauthenticated, .permissionDenied].contains(reason.status))
        }
        #expect(!RefusalReason.v1Unauthenticated.isAboutCaller)
    }

    @Test func `reasons are upper snake case and each is one`() {
        let names = RefusalReason.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x5F || $0 == 0x31 })
        }
    }

    @Test func `status codes are gRPC's numbers`() {
        #expect(StatusCode.ok.rawValue == 0)
        #expect(StatusCode.internal.rawValue == 13)
        #expect(StatusCode.unauthenticated.rawValue == 16)
    }
}
