@testable import HTTP
import Testing

@Suite struct BodyFramingTests {
    private func framing(_ fields: (String, String)..., version: String = "HTTP/1.1") -> BodyFraming
    {
        BodyFraming(fields.map { HTTPField($0.0, $0.1) }, version: version)
    }

    @Test func `a length or chunks say where a body ends, and nothing says that there is none`() {
        #expect(framing() == .none)
        #expect(framing(("Content-Length", "0")) == .none)
        #expect(framing(("content-length", "12")) == .length(12))
        #expect(framing(("Content-Length", "0000000000000000012")) == .length(12))
        #expect(framing(("Transfer-Encoding", "Chunked")) == .chunked)
    }

    @Test func `two answers, or none that is one, are ambiguous`() {
        #expect(framing(("Content-Length", "1"), ("Content-Length", "1")) == .ambiguous)
        #expect(framing(("Content-Length", "1"), ("Transfer-Encoding", "chunked")) == .ambiguous)
        #expect(framing(("Transfer-Encoding", "chunked, chunked")) == .ambiguous)
        #expect(framing(("Transfer-Encoding", "identity")) == .ambiguous)
        #expect(framing(("Transfer-Encoding", "")) == .ambiguous)
        #expect(framing(("Transfer-Encoding", "chunked"), version: "HTTP/1.0") == .ambiguous)
        for text in ["", " 1", "+1", "-1", "1,1", "0x1", "1e3", "٣", "10000000000000000000"] {
            #expect(framing(("Content-Length", text)) == .ambiguous, "\(text)")
        }
    }
}
