import Testing

@testable import RocksDB

@Suite struct LogChecksumTests {
    /// Vectors of RFC 3720, B.4, and the usual check value.
    static let vectors: [([UInt8], UInt32)] = [
        ([], 0), (Array("123456789".utf8), 0xE306_9283),
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), (Array(0..<32), 0x46DD_794E),
    ]

    @Test(arguments: vectors)
    func `it is Castagnoli's CRC`(bytes: [UInt8], expected: UInt32) {
        let checksum = unsafe bytes.withUnsafeBytes { unsafe LogChecksum.plain($0) }
        #expect(checksum == expected)
    }

    @Test func `the masked form is rotated and offset`() {
        let masked = unsafe [UInt8]().withUnsafeBytes { unsafe LogChecksum.masked($0) }
        #expect(masked == 0xA282_EAD8)
    }
}
