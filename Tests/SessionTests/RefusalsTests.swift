import Service
import Testing
import Wire

@testable import Session

@Suite struct RefusalsTests {
    @Test(
        arguments: [
            (WireError.emptyFrame, RefusalReason.malformedFrame),
            (.malformedMessage(offset: 3), .malformedFrame),
            (.frameTooLarge(byteCount: 9, limit: 8), .frameTooLarge),
            (.messageTooComplex(requestID: 1, limit: 8), .invalidField),
        ])
    func `what is wrong with bytes has a reason and a text`(error: WireError, reason: RefusalReason)
    {
        let refusal = Refusal(error)
        #expect(refusal.reason == reason)
        #expect(refusal.status == .invalidArgument)
        #expect(!refusal.message.isEmpty)
    }

    @Test func `what may go better later says when`() {
        #expect(Refusal.draining.retryAfterMilliseconds > 0)
        #expect(Refusal.tooManyInFlight.retryAfterMilliseconds > 0)
        #expect(Refusal.unknownCall.retryAfterMilliseconds == 0)
    }

    @Test func `reasons have the status of the contract`() {
        #expect(Refusal.draining.status == .unavailable)
        #expect(Refusal.unknownCall.status == .unimplemented)
        #expect(Refusal.tooManyInFlight.status == .resourceExhausted)
        #expect(Refusal.deadline.status == .deadlineExceeded)
        #expect(Refusal.revisionNotReached(4).status == .deadlineExceeded)
        #expect(Refusal.unknownScope.status == .invalidArgument)
        #expect(Refusal.revisionNotReached(4).message.contains("4"))
    }
}
