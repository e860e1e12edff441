import Testing
import Wire

@Suite struct WireErrorTests {
    @Test(
        arguments: [
            (WireError.emptyFrame, "0 bytes"),
            (
                .frameTooLarge(byteCount: 1_048_577, limit: 1_048_576),
                "1048577 bytes; at most 1048576"
            ),
            (.malformedMessage(offset: 12), "byte 12"),
            (.messageTooComplex(requestID: 1, limit: 64), "more than 64 bytes"),
        ])
    func `an error says what was found against what is allowed`(error: WireError, words: String) {
        #expect(error.description.contains(words))
    }
}
