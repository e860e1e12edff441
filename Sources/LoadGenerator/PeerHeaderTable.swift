/// Reads the header blocks of one HTTP/2 connection, as far as a unary call needs it: is the status
/// 200, and is `grpc-status` 0?
///
/// The server sends a header whole once and by its number in a table from then on, so the table has
/// to be kept. Not read: strings in Huffman code, which gRPC's own servers do not send, and tables
/// from which something was evicted. Both are refused, never misread.
///
/// See: RFC 7541, sections 2.3 and 6.
struct PeerHeaderTable {
    /// What a header says to us.
    enum Meaning: Equatable {
        case statusOK
        case statusOther
        case callOK
        case callOther
        case other
    }

    /// A block that cannot be read.
    enum Failure: Error, Equatable {
        case truncated
        case huffmanCode
        case unknownIndex
        case tableTooLarge
    }

    private enum Name: Equatable {
        case status
        case callStatus
        case other
    }

    private struct Entry: Equatable {
        var name: Name
        var meaning: Meaning
    }

    /// Names of 1 to 61; `:status` is 8 to 14, and 8 is 200.
    private static let staticCount = 61
    private static let statusIndices = 8...14
    private static let statusOKIndex = 8
    private static let callStatusName = Array("grpc-status".utf8)
    private static let statusOKValue = Array("200".utf8)
    private static let callOKValue = Array("0".utf8)
    /// With at most so many entries of at most so many bytes of name and value, and 32 for the
    /// entry itself, the table stays within the 4,096 bytes that are the default: nothing is
    /// evicted.
    private static let entryCountMax = 32
    private static let entryByteCountMax = 96
    /// No name that has a number of its own is longer.
    private static let staticNameByteCountMax = 32

    /// The newest last.
    private var entries: [Entry] = []

    /// Reads a whole block, and tells `found` of every header that means something to us.
    ///
    /// - Throws: `Failure`; the connection has no meaning after that.
    mutating func read(
        _ block: Span<UInt8>, _ found: (Meaning) -> Void
    ) throws(Failure) {
        var position = 0
        while position < block.count {
            let byte = block[position]
            if byte & 0x80 != 0 {
                let index = try Self.integer(in: block, at: &position, prefix: 7)
                found(try entry(index).meaning)
            } else if byte & 0xC0 == 0x40 {
                let start = position
                let entry = try literal(in: block, at: &position, prefix: 6)
                guard entries.count < Self.entryCountMax,
                    position - start <= Self.entryByteCountMax - Self.staticNameByteCountMax
                else { throw .tableTooLarge }
                entries.append(entry)
                found(entry.meaning)
            } else if byte & 0xE0 == 0x20 {
                _ = try Self.integer(in: block, at: &position, prefix: 5)
            } else {
                found(try literal(in: block, at: &position, prefix: 4).meaning)
            }
        }
    }

    private func entry(_ index: Int) throws(Failure) -> Entry {
        if Self.statusIndices.contains(index) {
            let isOK = index == Self.statusOKIndex
            return Entry(name: .status, meaning: isOK ? .statusOK : .statusOther)
        }
        if (1...Self.staticCount).contains(index) { return Entry(name: .other, meaning: .other) }
        let place = entries.count - (index - Self.staticCount)
        guard index > 0, place >= 0 else { throw .unknownIndex }
        return entries[place]
    }

    /// A name, by its number or in full, and a value.
    private func literal(
        in block: Span<UInt8>, at position: inout Int, prefix: Int
    ) throws(Failure) -> Entry {
        let index = try Self.integer(in: block, at: &position, prefix: prefix)
        var name = Name.other
        if index > 0 {
            name = try entry(index).name
        } else if Self.isEqual(
            block, try Self.string(in: block, at: &position), Self.callStatusName)
        {
            name = .callStatus
        }
        let value = try Self.string(in: block, at: &position)
        let meaning: Meaning =
            switch name {
            case .status: Self.isEqual(block, value, Self.statusOKValue) ? .statusOK : .statusOther
            case .callStatus: Self.isEqual(block, value, Self.callOKValue) ? .callOK : .callOther
            case .other: .other
            }
        return Entry(name: name, meaning: meaning)
    }

    private static func isEqual(
        _ block: Span<UInt8>, _ range: Range<Int>, _ text: [UInt8]
    ) -> Bool {
        ByteComparison.isEqual(block.extracting(range), text.span)
    }

    private static func string(
        in block: Span<UInt8>, at position: inout Int
    ) throws(Failure) -> Range<Int> {
        guard position < block.count else { throw .truncated }
        guard block[position] & 0x80 == 0 else { throw .huffmanCode }
        let count = try integer(in: block, at: &position, prefix: 7)
        guard count <= block.count - position else { throw .truncated }
        defer { position += count }
        return position..<position + count
    }

    /// An integer whose first bits share a byte with something else; section 5.1.
    private static func integer(
        in block: Span<UInt8>, at position: inout Int, prefix: Int
    ) throws(Failure) -> Int {
        guard position < block.count else { throw .truncated }
        let mask = (1 << prefix) - 1
        var value = Int(block[position]) & mask
        position += 1
        guard value == mask else { return value }
        for shift in stride(from: 0, through: 21, by: 7) {
            guard position < block.count else { throw .truncated }
            let byte = block[position]
            position += 1
            value += Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw .unknownIndex
    }
}
