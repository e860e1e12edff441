import Testing

@testable import LoadGenerator

@Suite struct PeerPopulationTests {
    @Test func `names have 40 bytes and values 28`() {
        #expect(PeerPopulation.nameByteCount == 40)
        #expect(PeerPopulation.valueByteCount == 28)
    }

    @Test(arguments: [0, 7, 10, 19_999, 99_999_999] as [UInt64])
    func `a template carries the digits of a customer in all its places`(customer: UInt64) {
        var template = PeerTemplate()
        template.add("<")
        template.addName()
        template.add("|")
        template.addValue()
        template.add(">")
        template.fill(88_888_888)
        template.fill(customer)
        let text = String(decoding: template.bytes, as: UTF8.self)
        #expect(text == "<\(testName(customer))|\(testValue(customer))>")
    }

    @Test func `customers are drawn from all and from no others`() {
        var customers = testCustomers(10)
        var seen: Set<UInt64> = []
        for _ in 0..<1_000 { seen.insert(customers.next()) }
        #expect(seen == Set(0..<10))
    }

    @Test func `two connections draw different customers, and the same in the next run`() {
        func drawn(_ index: Int) -> [UInt64] {
            var customers = PeerCustomers(
                count: 1_000_000, place: ConnectionPlace(index: index, count: 2, seed: 1))
            return (0..<8).map { _ in customers.next() }
        }
        #expect(drawn(0) != drawn(1))
        #expect(drawn(0) == drawn(0))
    }

    @Test func `a line ends behind CR LF, and not at either alone`() {
        let text = Array("a\rb\nc\r\nd".utf8)
        #expect(PeerText.lineEnd(in: text.span, from: 0) == 7)
        let endless = Array("a\n\r".utf8)
        #expect(PeerText.lineEnd(in: endless.span, from: 0) == nil)
    }

    @Test func `a number is digits and nothing else`() {
        let text = Array("x123y1234567890".utf8)
        #expect(PeerText.number(in: text.span, from: 1, to: 4) == 123)
        #expect(PeerText.number(in: text.span, from: 0, to: 4) == nil)
        #expect(PeerText.number(in: text.span, from: 1, to: 1) == nil)
        #expect(PeerText.number(in: text.span, from: 5, to: 15) == nil)
    }

    @Test func `numbers of seven bits a byte are protobuf's`() {
        #expect(variableLength(0) == [0])
        #expect(variableLength(127) == [127])
        #expect(variableLength(128) == [0x80, 1])
        #expect(variableLength(4_102_444_800_000) == [0x80, 0xB0, 0x8F, 0xE6, 0xB2, 0x77])
    }
}
