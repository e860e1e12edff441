import Bytes
import Testing

@Suite struct ByteReaderTests {
    @Test func `every width is read most significant byte first`() throws {
        var reader = ByteReader([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
        #expect(try reader.readUInt8() == 0x01)
        #expect(try reader.readUInt16() == 0x0203)
        #expect(try reader.readUInt32() == 0x0405_0607)
        #expect(try reader.readUInt64() == 0x0809_0A0B_0C0D_0E0F)
        #expect(reader.remaining == 0)
        try reader.finish()
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func `signed integers keep their sign`(value: Int64) throws {
        var writer = ByteWriter()
        writer.append(value)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readInt64() == value)
    }

    @Test(arguments: 0..<8)
    func `a value that is cut short is refused and nothing is taken`(count: Int) {
        var reader = ByteReader([UInt8](repeating: 7, count: count))
        #expect(throws: ByteError.truncated(offset: 0, needed: 8, available: count)) {
            try reader.readUInt64()
        }
        #expect(reader.offset == 0)
        #expect(reader.remaining == count)
    }

    @Test func `a frame that announces more than there is is refused`() {
        var reader = ByteReader([0, 3, 1, 2])
        #expect(throws: ByteError.truncated(offset: 2, needed: 3, available: 2)) {
            try reader.readFramed()
        }
        var huge = ByteReader([0xFF, 0xFF])
        #expect(throws: ByteError.truncated(offset: 2, needed: 65_535, available: 0)) {
            try huge.readFramed()
        }
    }

    @Test func `a frame may be empty, and may hold any byte`() throws {
        var reader = ByteReader([0, 0, 0, 2, 0, 255])
        #expect(try reader.readFramed() == [])
        #expect(try reader.readFramed() == [0, 255])
    }

    @Test(arguments: [[0xC3, 0x28], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func `a text that is no UTF-8 is refused`(text: [UInt8]) {
        var reader = ByteReader([9, 0, UInt8(text.count)] + text, from: 1)
        #expect(throws: ByteError.notUTF8(offset: 1)) { try reader.readString() }
    }

    @Test func `what is left can be read whole, and finishing insists on nothing left`() throws {
        var reader = ByteReader([1, 2, 3])
        _ = try reader.readUInt8()
        #expect(throws: ByteError.trailing(byteCount: 2)) { try reader.finish() }
        #expect(reader.readRest() == [2, 3])
        #expect(reader.readRest() == [])
        try reader.finish()
    }
}
