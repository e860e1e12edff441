import Testing

@testable import LoadGenerator

@Suite struct PeerHeaderTableTests {
    private func literal(_ first: UInt8, _ texts: String...) -> [UInt8] {
        [first] + texts.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    /// What blocks say one after the other, or why they cannot be read.
    private func meanings(
        _ blocks: [UInt8]...
    ) -> Result<[PeerHeaderTable.Meaning], PeerHeaderTable.Failure> {
        var table = PeerHeaderTable()
        var meanings: [PeerHeaderTable.Meaning] = []
        do throws(PeerHeaderTable.Failure) {
            for block in blocks { try table.read(block.span) { meanings.append($0) } }
            return .success(meanings)
        } catch {
            return .failure(error)
        }
    }

    @Test func `status 200 has a number of its own, and other statuses are others`() {
        #expect(
            meanings([0x88, 0x89, 0x8E, 0x82])
                == .success([
                    .statusOK, .statusOther, .statusOther, .other,
                ]))
    }

    @Test func `a status may be spelt out, its name as a number or in full`() {
        #expect(
            meanings(literal(0x08, "200"), literal(0x08, "503"))
                == .success([
                    .statusOK, .statusOther,
                ]))
    }

    @Test func `what was sent whole and to be kept is known by its number, the newest first`() {
        let kept = literal(0x40, "grpc-status", "0") + literal(0x5F, "application/grpc")
        #expect(meanings(kept, [0xBE, 0xBF]) == .success([.callOK, .other, .other, .callOK]))
    }

    @Test func `a kept name with another value means that value`() {
        let kept = literal(0x40, "grpc-status", "0")
        // Name 62, not to be kept: 15 in four bits and 47 more.
        let other = [0x0F] + literal(47, "13")
        #expect(meanings(kept, other, [0xBE]) == .success([.callOK, .callOther, .callOK]))
    }

    @Test func `what was not to be kept is not`() {
        #expect(meanings(literal(0x00, "grpc-status", "0"), [0xBE]) == .failure(.unknownIndex))
        #expect(meanings(literal(0x10, "grpc-status", "0"), [0xBE]) == .failure(.unknownIndex))
    }

    @Test func `a change of the table's size is no header`() {
        #expect(meanings([0x3F, 0xE1, 0x1F, 0x88]) == .success([.statusOK]))
    }

    @Test func `a block that is cut anywhere inside a header is refused`() {
        let block = literal(0x40, "grpc-status", "0")
        for end in 1..<block.count {
            #expect(meanings(Array(block[..<end])) == .failure(.truncated))
        }
    }

    @Test func `Huffman code, number 0 and what would overflow are refused`() {
        #expect(meanings([0x08, 0x82, 0x10, 0x01]) == .failure(.huffmanCode))
        #expect(meanings([0x80]) == .failure(.unknownIndex))
        #expect(meanings([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == .failure(.unknownIndex))
    }

    @Test func `a table that could lose an entry is refused`() {
        let entry = literal(0x40, "a", "b")
        let full = Array(repeating: entry, count: 32).flatMap { $0 }
        #expect(meanings(full) == .success(Array(repeating: .other, count: 32)))
        #expect(meanings(full + entry) == .failure(.tableTooLarge))
        let long = String(repeating: "x", count: 80)
        #expect(meanings(literal(0x40, "a", long)) == .failure(.tableTooLarge))
        #expect(meanings(literal(0x00, "a", long)) == .success([.other]))
    }
}
