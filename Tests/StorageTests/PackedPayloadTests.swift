import Bytes
import Testing

@testable import Storage

@Suite struct PackedPayloadTests {
    /// What Apple sends, in small: a JSON body around a JWS around two more.
    struct Sample {
        var headers: [String] = ["{\"alg\":\"ES256\",\"x5c\":[\"" + digits(900) + "\"]}"]
        var signatureByteCount = 64

        private static func digits(_ count: Int) -> String {
            String(repeating: "MIIEMDCCA7agAwIBAgIQ", count: count / 20)
        }

        func jws(_ payload: String, header: Int = 0) -> String {
            let signature = (0..<signatureByteCount).map {
                UInt8(truncatingIfNeeded: $0 * 31 + payload.utf8.count)
            }
            return [Array(headers[header].utf8), Array(payload.utf8), signature]
                .map { String(decoding: Base64URL.encode($0.span), as: UTF8.self) }
                .joined(separator: ".")
        }

        func notification(_ number: Int) -> [UInt8] {
            let transaction = jws("{\"transactionId\":\"\(number)\",\"price\":9990}")
            let renewal = jws("{\"originalTransactionId\":\"\(number)\"}")
            let payload =
                "{\"notificationUUID\":\"\(number)\",\"data\":{\"signedTransactionInfo\":"
                + "\"\(transaction)\",\"signedRenewalInfo\":\"\(renewal)\",\"status\":1}}"
            return Array("{\"signedPayload\":\"\(jws(payload))\"}".utf8)
        }
    }

    private func packed(_ payload: [UInt8], _ headers: inout PayloadHeaders) throws -> [UInt8] {
        let value = PackedPayload.pack(payload, &headers)
        let back = try PackedPayload.unpack(value, headers)
        #expect(back == payload)
        return value
    }

    @Test func `a notification shrinks to what it says and comes back byte for byte`() throws {
        var headers = PayloadHeaders()
        for number in 1...20 {
            let payload = Sample().notification(number)
            let value = try packed(payload, &headers)
            #expect(payload.count > 5_000)
            #expect(value.count < 550)
        }
        #expect(headers.count == 1)
    }

    @Test func `a bare JWS of any payload length comes back`() throws {
        var headers = PayloadHeaders()
        for count in 0..<70 {
            let payload = Array(Sample().jws(String(repeating: "x", count: count)).utf8)
            #expect(try packed(payload, &headers).count < 80 + count + 20)
        }
    }

    @Test func `each header has its own number`() throws {
        var sample = Sample()
        for letter in "abc" {
            sample.headers.append(
                "{\"alg\":\"ES256\",\"kid\":\"" + String(repeating: letter, count: 70) + "\"}")
        }
        var headers = PayloadHeaders()
        for round in 0..<3 {
            for index in sample.headers.indices {
                let payload = Array(sample.jws("{\"round\":\(round)}", header: index).utf8)
                #expect(try packed(payload, &headers).count < 100)
            }
        }
        #expect(headers.count == 4)
    }

    static let odd: [String] = {
        let sample = Sample()
        let jws = sample.jws("{}")
        var short = sample
        short.signatureByteCount = 63
        var long = sample
        long.signatureByteCount = 65
        let segments = jws.split(separator: ".").map(String.init)
        return [
            "", "e", "eyJ", "\"", "\"\"", "\"eyJ", "{}", "\u{0}", "\u{1}", "\u{1}\u{0}abc", "\u{2}",
            "{\"a\":\"b\"}", " " + jws, jws + ".", jws + jws, jws + "\"" + jws, "\"" + jws,
            "\"" + jws + "\"", "\\\"" + jws, jws.replacing("e", with: "="), short.jws("{}"),
            long.jws("{}"), segments[0] + "." + segments[1], segments[0] + ".." + segments[2],
            segments[0] + ".A." + segments[2], segments[0] + ".AB." + segments[2],
            segments[0] + ".AAA=." + segments[2], segments[0] + ".{}." + segments[2],
            segments[0] + "." + segments[1] + "." + String(repeating: "_", count: 86),
            "eyJ." + segments[1] + "." + segments[2], String(repeating: "\"eyJ", count: 40),
        ]
    }()

    @Test(arguments: odd)
    func `what is no payload of Apple's comes back all the same`(text: String) throws {
        var headers = PayloadHeaders()
        let payload = Array(text.utf8)
        let value = try packed(payload, &headers)
        #expect(value.count <= payload.count + 1)
    }

    @Test func `a JWS in a JWS in a JWS comes back, however deep`() throws {
        var headers = PayloadHeaders()
        var text = "{}"
        for _ in 0..<6 {
            text = Sample().jws("{\"inner\":\"\(text)\"}")
            _ = try packed(Array(text.utf8), &headers)
        }
    }

    @Test func `any changed byte comes back changed`() throws {
        let payload = Sample().notification(7)
        for position in stride(from: 0, to: payload.count, by: 23) {
            for change: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var headers = PayloadHeaders()
                var changed = payload
                changed[position] ^= change
                _ = try packed(changed, &headers)
            }
        }
    }

    @Test func `a payload stored before there was packing is read as it is`() throws {
        let headers = PayloadHeaders()
        for payload in [Sample().notification(1), Array(Sample().jws("{}").utf8)] {
            let read = try PackedPayload.unpack(payload, headers)
            #expect(read == payload)
        }
    }

    @Test func `a damaged value is an error or another payload, never a crash`() throws {
        var headers = PayloadHeaders()
        let value = PackedPayload.pack(Sample().notification(1), &headers)
        for count in 1..<value.count {
            // A cut between two pieces leaves a whole value.
            let cut = try? PackedPayload.unpack(Array(value.prefix(count)), headers)
            #expect((cut?.count ?? 0) < Sample().notification(1).count)
        }
        for position in value.indices {
            for change: UInt8 in [0x01, 0x7F, 0x80] {
                var changed = value
                changed[position] ^= change
                _ = try? PackedPayload.unpack(changed, headers)
            }
        }
        let none = PayloadHeaders()
        #expect(throws: ByteError.self) { try PackedPayload.unpack(value, none) }
    }

    @Test func `no more headers are learnt than have room`() throws {
        var headers = PayloadHeaders()
        for number in 0...PayloadHeaders.countMax {
            var sample = Sample()
            sample.headers = ["{\"kid\":\"\(number)" + String(repeating: "k", count: 80) + "\"}"]
            _ = try packed(Array(sample.jws("{}").utf8), &headers)
        }
        #expect(headers.count == PayloadHeaders.countMax)
        var sample = Sample()
        let length = PayloadHeaders.byteCountMax
        sample.headers = ["{\"kid\":\"" + String(repeating: "k", count: length) + "\"}"]
        var few = PayloadHeaders()
        _ = try packed(Array(sample.jws("{}").utf8), &few)
        #expect(few.count == 0)
    }
}
