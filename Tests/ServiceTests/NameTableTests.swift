import Entitlements
import Testing

@testable import Service

@Suite struct NameTableTests {
    @Test func `each name gets the next number and keeps it`() {
        var table = NameTable()
        let names = (0..<1_000).map { "name \($0 * 7 % 1_000)" }
        for _ in 0..<2 { #expect(names.map { table.number(of: $0) } == Array(names.indices)) }
        #expect(table.count == names.count)
    }

    @Test func `a name is found in whatever arena it stands`() {
        var table = NameTable()
        let arena = Array("xabcabcab".utf8)
        let missing = table.find(TextRange(start: 1, count: 3), in: arena.span)
        #expect(missing == nil)
        let first = table.number(of: TextRange(start: 1, count: 3), in: arena.span)
        let again = table.number(of: TextRange(start: 4, count: 3), in: arena.span)
        #expect([first, again, table.number(of: "abc")] == [0, 0, 0])
        let shorter = table.find(TextRange(start: 7, count: 2), in: arena.span)
        #expect(shorter == nil)
        #expect(table.number(of: "") == 1)
        let empty = table.find(TextRange(start: 3, count: 0), in: arena.span)
        #expect(empty == 1)
    }
}
