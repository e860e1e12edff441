import SnapshotTable
import Testing

@Suite struct CustomerTableReadingTests {
    @Test func `names are told apart by every byte, whatever their length`() {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: 1)
        let reader = table.makeReader()
        var names: [String] = []
        for length in 0...40 {
            let name = String(repeating: "x", count: length)
            names.append(name)
            for position in stride(from: 0, to: length, by: 3) {
                var bytes = Array(name.utf8)
                bytes[position] = UInt8(ascii: "y")
                names.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        for (number, name) in names.enumerated() {
            table.put(scope: 9, name: Array(name.utf8), snapshot: Array("\(number)".utf8))
        }
        for (number, name) in names.enumerated() {
            #expect(table.read(9, name, reader) == Array("\(number)".utf8))
        }
        #expect(table.usage.customers == names.count)
    }

    @Test func `hints of what will be read change nothing`() {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: 1)
        let reader = table.makeReader()
        let known = Array("ann".utf8)
        table.put(scope: 1, name: known, snapshot: [1])
        for name in [known, Array("bob".utf8)] {
            let hash = table.hash(scope: 1, name: name.span)
            table.prefetchSlot(hash)
        }
        #expect(table.read(1, "ann", reader) == [1])
        #expect(table.read(1, "bob", reader) == nil)
    }

    /// A small table grows in small steps, each paid by a change: in between, every customer is in
    /// one of two arrays.
    @Test func `everybody is found at every moment of growth`() {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 24, readerCount: 1)
        let reader = table.makeReader()
        var wrong = 0
        for number in 0..<3_000 {
            table.put(
                scope: 1, name: Array("customer-\(number)".utf8), snapshot: [UInt8(number % 251)])
            table.beginReading(reader)
            for other in stride(from: number % 17, through: number, by: 17)
            where table.readInBatch(1, other, reader) != [UInt8(other % 251)] {
                wrong += 1
            }
            table.endReading(reader)
        }
        #expect(wrong == 0)
    }

    @Test func `a replacement during growth is the only one that is found`() {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 24, readerCount: 1)
        let reader = table.makeReader()
        for number in 0..<2_000 {
            table.put(scope: 1, name: Array("customer-\(number)".utf8), snapshot: [1])
            let older = "customer-\(number / 2)"
            table.put(scope: 1, name: Array(older.utf8), snapshot: [UInt8(number % 251)])
            #expect(table.read(1, older, reader) == [UInt8(number % 251)])
            table.reclaim()
        }
        #expect(table.usage.customers == 2_000)
    }
}
