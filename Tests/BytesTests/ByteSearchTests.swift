import Testing

import Bytes

@Suite struct ByteSearchTests {
    private func first(_ byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
        bytes.span.firstOffset(of: byte, from: start)
    }

    private func special(in bytes: [UInt8], from start: Int) -> Int {
        bytes.span.firstSpecialInString(from: start)
    }

    @Test func `a byte is found at every place and from every start`() {
        for count in 0..<40 {
            for place in 0..<count {
                var bytes = [UInt8](repeating: UInt8(ascii: "A"), count: count)
                bytes[place] = UInt8(ascii: ".")
                for start in 0...count {
                    let expected = start <= place ? place : nil
                    #expect(first(UInt8(ascii: "."), in: bytes, from: start) == expected)
                }
            }
            let none = [UInt8](repeating: UInt8(ascii: "A"), count: count)
            #expect(first(UInt8(ascii: "."), in: none, from: 0) == nil)
        }
    }

    @Test func `each of the 256 bytes is found and not mistaken for its neighbours`() {
        for byte in UInt8.min...UInt8.max {
            var bytes = [UInt8](repeating: byte &+ 1, count: 20) + [byte] + [byte &- 1]
            #expect(first(byte, in: bytes, from: 0) == 20)
            bytes[20] = byte ^ 0x80
            #expect(first(byte, in: bytes, from: 0) == nil)
        }
    }

    @Test func `each of the 256 bytes ends a string or does not, at every place of a word`() {
        for byte in UInt8.min...UInt8.max {
            let isSpecial = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
            for place in 0..<17 {
                var bytes = [UInt8](repeating: 0xFF, count: 17)
                bytes[place] = byte
                #expect(special(in: bytes, from: 0) == (isSpecial ? place : 17))
                #expect(special(in: bytes, from: place + 1) == 17)
            }
        }
    }

    @Test func `bytes are found where they stand, and at no other place`() {
        let text = (0..<60).map { UInt8($0) }
        for start in 0...60 {
            for count in 0...(60 - start) {
                var part = Array(text[start..<start + count])
                #expect(holds(text, part, at: start))
                #expect(!holds(text, part + [0xFF], at: start))
                guard count > 0 else { continue }
                part[count - 1] ^= 0x80
                #expect(!holds(text, part, at: start))
                part[count - 1] ^= 0x80
                part[0] ^= 1
                #expect(!holds(text, part, at: start))
            }
        }
        #expect(!holds(text, [0], at: -1))
        #expect(!holds(text, [], at: 61))
    }

    private func holds(_ text: [UInt8], _ part: [UInt8], at start: Int) -> Bool {
        text.span.holds(part.span, at: start)
    }
}
