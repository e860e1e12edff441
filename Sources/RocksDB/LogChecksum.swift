/// The checksum of RocksDB's log records: CRC-32C (Castagnoli), rotated and offset ("masked").
enum LogChecksum {
    /// The masked checksum of `bytes` (RocksDB `util/crc32c.h`).
    static func masked(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let plain = unsafe plain(bytes)
        return ((plain >> 15) | (plain << 17)) &+ 0xA282_EAD8
    }

    /// CRC-32C, eight bytes a step ("slicing by eight").
    static func plain(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = ~UInt32(0)
        unsafe tables.withUnsafeBufferPointer { tables in
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = unsafe UInt64(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let mixed = word ^ UInt64(checksum)
                checksum = 0
                for index in 0..<8 {
                    let byte = Int(truncatingIfNeeded: mixed >> (8 * UInt64(index))) & 0xFF
                    checksum ^= unsafe tables[(7 - index) << 8 | byte]
                }
                offset += 8
            }
            while offset < bytes.count {
                let byte = unsafe Int((checksum ^ UInt32(bytes[offset])) & 0xFF)
                checksum = unsafe tables[byte] ^ (checksum >> 8)
                offset += 1
            }
        }
        return ~checksum
    }

    /// Table k at k * 256: what a byte does that stands k bytes before the end of a step.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()
}
