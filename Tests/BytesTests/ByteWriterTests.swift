import Bytes
import Testing

@Suite struct ByteWriterTests {
    @Test func `integers are written most significant byte first`() {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt16(0x0203))
        writer.append(UInt32(0x0405_0607))
        writer.append(UInt64(0x0809_0A0B_0C0D_0E0F))
        #expect(writer.bytes == (1...15).map { UInt8($0) })
    }

    @Test func `byte order is the order of unsigned numbers`() {
        let numbers: [UInt64] = [0, 1, 255, 256, 65_535, 1 << 32, .max - 1, .max]
        let keys = numbers.map { number in
            var writer = ByteWriter()
            writer.append(number)
            return writer.bytes
        }
        for (left, right) in zip(keys, keys.dropFirst()) {
            #expect(left.lexicographicallyPrecedes(right))
        }
    }

    @Test func `frames keep two tuples apart that concatenation would mix`() {
        func framed(_ parts: String...) -> [UInt8] {
            var writer = ByteWriter()
            for part in parts { writer.append(framed: part) }
            return writer.bytes
        }
        #expect(framed("ab", "c") != framed("a", "bc"))
        #expect(framed("", "a") != framed("a", ""))
        #expect(framed("é") == [0, 2, 0xC3, 0xA9])
    }

    @Test func `a frame holds 65,535 bytes and not one more`() async throws {
        var writer = ByteWriter()
        writer.append(framed: [UInt8](repeating: 1, count: 65_535))
        #expect(writer.bytes.count == 65_537)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readFramed().count == 65_535)
        await #expect(processExitsWith: .failure) {
            var writer = ByteWriter()
            writer.append(framed: [UInt8](repeating: 1, count: 65_536))
        }
    }
}
