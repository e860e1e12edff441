import Testing

@testable import Authorization

@Suite struct KeysFileTests {
    private static func record(_ id: String) -> KeyRecord {
        KeyRecord(id: id, name: id, credential: .key(KeyText.digest(of: id)), roles: [.check])
    }

    private func failure(_ text: String) -> String? {
        do throws(KeysFileError) {
            _ = try KeysFile(Array(text.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `comments and empty lines stay where they are`() throws {
        let text = "# who\n\n  # indented\n\(Self.record("a").line)\r\n\(Self.record("b").line)"
        var file = try KeysFile(Array(text.utf8))
        #expect(file.records.map(\.id) == ["a", "b"])
        #expect(file.text == text + "\n")
        file.append(Self.record("c"))
        #expect(file.revoke(id: "a")?.isRevoked == true)
        #expect(file.revoke(id: "x") == nil)
        let again = try KeysFile(Array(file.text.utf8))
        #expect(again.records.map(\.id) == ["a", "b", "c"])
        #expect(again.records.map(\.isRevoked) == [true, false, false])
        #expect(again == file)
        #expect(file.text.hasPrefix("# who\n\n  # indented\n"))
    }

    @Test func `an empty file knows nobody`() throws {
        #expect(try KeysFile([]).records.isEmpty)
        #expect(try KeysFile(Array("\n# nobody\n".utf8)).records.isEmpty)
        #expect(KeysFile().text.isEmpty)
    }

    @Test func `what is wrong is said with its line`() {
        let good = Self.record("a").line
        #expect(failure("\(good)\n#\n{\"x\":1}")?.hasPrefix("line 3: `x` is not known") == true)
        #expect(failure("\(good)\n\(good)") == "line 2: the id `a` stands in line 1 too")
        #expect(failure("junk")?.hasPrefix("line 1: ") == true)
        #expect(failure("// a comment of another kind")?.hasPrefix("line 1: ") == true)
    }

    @Test func `what is no text is refused whole`() {
        #expect(throws: KeysFileError.self) { try KeysFile([0xFF, 0xFE]) }
        #expect(throws: KeysFileError.self) {
            try KeysFile([UInt8](repeating: 0x0A, count: KeysFile.byteCountMax + 1))
        }
    }

    @Test func `no error shows a digest`() {
        let line = Self.record("a").line
        let digest = "\(KeyText.digest(of: "a"))"
        let pieces = stride(from: 0, to: 57, by: 8).map { String(digest.dropFirst($0).prefix(8)) }
        var broken = [
            String(line.dropLast()) + ",\"x\":1}", line + line, line + " " + digest,
            line.replacing("\"\(digest)\"", with: "[\"\(digest)\"]"),
            line.replacing("false", with: digest), line.replacing("false", with: "\"\(digest)\""),
            line.replacing("\"created\":0", with: "\"created\":\"\(digest)\""),
        ]
        for (offset, index) in line.indices.enumerated() {
            broken.append(String(line[..<index]))
            var changed = line
            changed.replaceSubrange(index...index, with: offset.isMultiple(of: 2) ? "" : "!")
            broken.append(changed)
        }
        let told = broken.compactMap { failure($0) }
        #expect(told.count > line.count)
        for text in told { #expect(pieces.allSatisfy { !text.contains($0) }, "\(text)") }
    }
}
