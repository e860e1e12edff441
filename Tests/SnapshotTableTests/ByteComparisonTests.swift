import SnapshotTable
import Testing

@Suite struct ByteComparisonTests {
    private func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        areEqual(left.span, right.span)
    }

    private func isSame(_ left: [UInt8], at range: Range<Int>, _ right: [UInt8]) -> Bool {
        areEqual(left, at: range, right.span)
    }

    /// Texts of every length up to 40 that differ in one byte, or not at all.
    @Test func `texts are equal when their bytes are, whatever their length`() {
        for length in 0...40 {
            let text = (0..<length).map { UInt8($0) }
            #expect(isSame(text, text))
            #expect(!isSame(text, text + [0]))
            for index in 0..<length {
                var other = text
                other[index] ^= 0x80
                #expect(!isSame(text, other), "\(length) \(index)")
            }
        }
    }

    @Test func `a part of an array is compared as its bytes are`() {
        let bytes = Array("com.example.meadowcom.example.tide".utf8)
        let (meadow, tide) = (Array("com.example.meadow".utf8), Array("com.example.tide".utf8))
        #expect(isSame(bytes, at: 0..<18, meadow))
        #expect(isSame(bytes, at: 18..<34, tide))
        #expect(!isSame(bytes, at: 0..<16, tide))
        #expect(isSame(bytes, at: 4..<4, []))
    }

    /// The order of names decides where a binary search looks.
    @Test func `products are found in the order of their bytes, close neighbours among them`() {
        var generator = SeededGenerator(seed: 11)
        let stems = ["", "a", "meadow.", "meadow.plus.mo", "meadow.plus.month", "\u{e9}"]
        let names = stems.flatMap { stem in
            ["", "\u{0}", "0", "9", "z", "zz", "\u{7f}", "\u{ff}"].map { stem + $0 }
        }
        let snapshot = SnapshotCodec.encode(generator.products(names), newestSignedDate: nil)
        let sorted = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for (position, name) in sorted.enumerated() {
            let bytes = Array(name.utf8)
            let view = SnapshotView(snapshot.span)
            let index = view.index(ofProduct: bytes.span)
            #expect(index == position, "\(name)")
            let missing = bytes + [1]
            let other = view.index(ofProduct: missing.span)
            #expect(other == nil, "\(name)")
        }
    }
}
