internal import TestSupport
internal import Wire

/// Changes what leaves a server, as a bug in it would: the canaries that do not concern the store.
final class AnswerTampering {
    private let canary: Canary
    private var generator: SeededGenerator
    private let arena = MessageArena(byteCountMax: 64 << 20)
    /// The last verdict about each customer and product, by the revision it was of.
    private var lastAnswers: [[UInt8]: Message.CheckAccessResponse] = [:]
    /// What was cut once, or is denied from then on.
    private var cutOnce: Set<[UInt8]> = []

    /// nil for canaries of the store.
    init?(_ canary: Canary?, seed: UInt64) {
        switch canary {
        case .staleAnswer?, .revokeAsSwitch?, .lateCut?, .answerTwice?, .exchangeAnswers?,
            .loseAnswer?, .claimNextRevision?, .dropParkedCheck?:
            self.canary = canary ?? .answerTwice
        case .acknowledgeBeforeSync?, .loseLastBatch?, .tearBatch?, .forgetNotifications?, nil:
            return nil
        }
        generator = SeededGenerator(seed: seed)
    }

    /// Whether loops are not told of revisions.
    var swallowsRevisions: Bool { canary == .dropParkedCheck }

    /// The bytes that leave instead of `bytes`, which are whole frames.
    func change(_ bytes: [UInt8]) -> [UInt8] {
        var answers: [Response] = []
        var decoder = FrameDecoder(frameByteCountMax: 1 << 30)
        var position = 0
        do throws(WireError) {
            while let body = try decoder.next(in: bytes.span, from: &position) {
                let response = try Response(
                    decoding: decoder.bytes(of: body, in: bytes.span), in: arena)
                answers += change(response)
            }
            if case .exchangeAnswers = canary { exchange(&answers) }
            var changed: [UInt8] = []
            for answer in answers { changed += try encoded(answer) }
            return changed
        } catch {
            preconditionFailure("a server sends whole frames: \(error)")
        }
    }

    private func encoded(_ response: Response) throws(WireError) -> [UInt8] {
        var output = OutputBuffer()
        try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 30)
        return Text(copying: output.bytes).bytes
    }

    private func change(_ response: Response) -> [Response] {
        guard response.status == .ok else { return [response] }
        switch canary {
        case .answerTwice: return generator.oneIn(100) ? [response, response] : [response]
        case .loseAnswer: return isWrite(response) && generator.oneIn(20) ? [] : [response]
        default: break
        }
        guard case .checkAccess(var answer)? = response.result else { return [response] }
        change(&answer)
        var response = response
        response.result = .checkAccess(answer)
        return [response]
    }

    private func isWrite(_ response: Response) -> Bool {
        switch response.result {
        case .ingestNotification, .ingestTransactions, .linkCustomer: true
        default: false
        }
    }

    /// The ids of two answers that leave together, now and then.
    private func exchange(_ answers: inout [Response]) {
        guard answers.count > 1, generator.oneIn(4) else { return }
        let first = answers[0].id
        answers[0].id = answers[1].id
        answers[1].id = first
    }

    private func change(_ answer: inout Message.CheckAccessResponse) {
        let key = answer.originalTransactionID.bytes + [0] + answer.productID.bytes
        switch canary {
        case .claimNextRevision: if generator.oneIn(50) { answer.revision += 1 }
        case .staleAnswer: makeStale(&answer, key)
        case .lateCut: if answer.reason == .familySuspended { delayCut(&answer, key) }
        case .revokeAsSwitch:
            // It named this chain before: the product is denied, whatever has come since.
            if answer.reason == .familyLeft || answer.reason == .familyRefunded {
                cutOnce.insert(answer.productID.bytes)
            } else if answer.granted, cutOnce.contains(answer.productID.bytes) {
                answer.granted = false
                answer.reason = .familyLeft
            }
        default: break
        }
    }

    private func makeStale(_ answer: inout Message.CheckAccessResponse, _ key: [UInt8]) {
        guard answer.transactionID.bytes.count > 0 else { return }
        if let last = lastAnswers[key], last.revision < answer.revision {
            let revision = answer.revision
            lastAnswers[key] = answer
            answer = last
            answer.revision = revision
        } else {
            lastAnswers[key] = answer
        }
    }

    private func delayCut(_ answer: inout Message.CheckAccessResponse, _ key: [UInt8]) {
        guard cutOnce.insert(key).inserted else { return }
        answer.granted = true
        answer.reason = .active
    }
}
