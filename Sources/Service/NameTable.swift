import Entitlements

/// Numbers for names that stand in arenas of bytes: the first gets 0, the second 1.
///
/// A dictionary would make a text per look-up, which costs more than all the rest of a fold. Chains
/// and products are named by Apple and the developer, so nobody can choose names that collide.
struct NameTable {
    private var bytes: [UInt8] = []
    private var names: [TextRange] = []
    /// Numbers, -1 where free; a power of two, at most half full.
    private var slots: [Int32] = Array(repeating: -1, count: 16)
    /// What was asked for last: most of a history is of one product, one chain and one group, and
    /// hashing their names anew for each row was 14% of a fold of 50,000.
    private var last = -1

    /// How many names there are.
    var count: Int { names.count }

    /// The names in the order of their numbers.
    var texts: [String] { names.map { String(decoding: bytes[$0.range], as: UTF8.self) } }

    /// The number of a name, which gets one when it has none.
    mutating func number(of name: TextRange, in arena: Span<UInt8>) -> Int {
        if last >= 0, isName(last, name, in: arena) { return last }
        let slot = slot(of: name, in: arena)
        if slots[slot] >= 0 {
            last = Int(slots[slot])
            return last
        }
        let number = names.count
        last = number
        slots[slot] = Int32(number)
        names.append(TextRange(start: UInt32(bytes.count), count: name.count))
        for index in name.range { bytes.append(arena[index]) }
        if names.count * 2 > slots.count { grow() }
        return number
    }

    /// The number of a name; nil when it has none.
    func find(_ name: TextRange, in arena: Span<UInt8>) -> Int? {
        if last >= 0, isName(last, name, in: arena) { return last }
        let number = slots[slot(of: name, in: arena)]
        return number < 0 ? nil : Int(number)
    }

    /// The same, by somebody who asks for one name after the other.
    mutating func findNext(_ name: TextRange, in arena: Span<UInt8>) -> Int? {
        guard let number = find(name, in: arena) else { return nil }
        last = number
        return number
    }

    /// The number of a text, which gets one when it has none.
    mutating func number(of text: String) -> Int {
        let name = Array(text.utf8)
        return number(of: TextRange(start: 0, count: UInt16(name.count)), in: name.span)
    }

    /// The slot that holds the name, or where it would go.
    private func slot(of name: TextRange, in arena: Span<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in name.range { hash = (hash ^ UInt64(arena[index])) &* 0x100_0000_01B3 }
        hash ^= hash >> 32
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] >= 0, !isName(Int(slots[slot]), name, in: arena) {
            slot = (slot + 1) & mask
        }
        return slot
    }

    private func isName(_ number: Int, _ name: TextRange, in arena: Span<UInt8>) -> Bool {
        let known = names[number]
        guard known.count == name.count else { return false }
        // Apple's ids of one customer differ at their ends.
        var offset = Int(name.count)
        while offset > 0 {
            offset -= 1
            if bytes[Int(known.start) + offset] != arena[Int(name.start) + offset] { return false }
        }
        return true
    }

    private mutating func grow() {
        slots = Array(repeating: -1, count: slots.count * 2)
        let known = bytes
        let arena = known.span
        for (number, name) in names.enumerated() {
            slots[slot(of: name, in: arena)] = Int32(number)
        }
    }
}
