import Testing

@testable import ToolSupport

@Suite struct TableTests {
    @Test func `numbers stand to the right, words to the left`() {
        var table = Table([.text("name"), .number("count"), .text("end")])
        table.add(["a", "1", "x"])
        table.add(["longer", "1,000", ""])
        #expect(
            table.lines(indent: 1).map(\.text) == [
                " name    count  end", " a           1  x", " longer  1,000  -",
            ])
    }

    @Test func `pairs stand in two columns`() {
        let lines = Table.pairs([("a", "1"), ("long", Table.Cell("")), ("b", "2")], indent: 2)
        #expect(lines.map(\.text) == ["  a     1", "  long  -", "  b     2"])
    }

    @Test func `a cell is as wide as what is written of it`() {
        var table = Table([.text("x"), .text("y")])
        table.add(["\u{1B}", "z"])
        #expect(table.lines().map(\.text) == ["x       y", "\\u{1b}  z"])
    }
}
