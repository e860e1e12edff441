import Service
import Testing

@testable import Session

@Suite struct ReplyStatusTests {
    @Test(
        arguments: [
            ([0, 0, 0, 0], 0), ([0, 0, 0, 2, 0x08, 0x05], 0),
            ([0, 0, 0, 4, 0x08, 0x05, 0x10, 0x09], 9), ([0, 0, 0, 2, 0x10, 0x0E], 14),
            ([0, 0, 0, 5, 0x08, 0xFF, 0x01, 0x10, 0x03], 3),
            ([0, 0, 0, 4, 0x08, 0x05, 0x52, 0x00], 0), ([0, 0, 0, 2, 0x08, 0xFF], 0),
        ] as [([UInt8], Int)])
    func `a frame says its status itself`(frame: [UInt8], code: Int) {
        #expect(ReplyStatus.code(of: frame) == code)
    }

    @Test(arguments: [1, 127, 128, UInt64.max])
    func `whom a call has forgotten is read from its answer`(number: UInt64) {
        let encoder = ReplyEncoder(limits: Limits())
        let tag = CallTag(requestID: 300, byteCount: 1, isHeavyRead: false)
        let frame = encoder.frame(for: .written(.forgotten(ForgetReply(number: number))), tag)
        #expect(ReplyStatus.forgottenNumber(of: frame) == number)
        let other = encoder.frame(for: .written(.link(changes: [], revision: 16)), tag)
        #expect(ReplyStatus.forgottenNumber(of: other) == 0)
        #expect(ReplyStatus.forgottenNumber(of: [0, 0, 0, 2, 0x9A, 0x02]) == 0)
    }

    @Test(arguments: [0, 1, 300, UInt64.max])
    func `what protobuf-c writes is read so`(id: UInt64) {
        let encoder = ReplyEncoder(limits: Limits())
        let tag = CallTag(requestID: id, byteCount: 1, isHeavyRead: false)
        let refused = encoder.frame(for: .refused(Refusal(.badSignature, "why")), tag)
        #expect(ReplyStatus.code(of: refused) == 3)
        let written = encoder.frame(for: .written(.link(changes: [], revision: 16)), tag)
        #expect(ReplyStatus.code(of: written) == 0)
    }
}
