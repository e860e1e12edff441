import Entitlements
import Storage

/// Takes a customer's names out of the words of the audit.
///
/// A name is replaced where it stands alone: behind a space or a colon, and before a comma, a
/// semicolon, a space or the end, which is how the ledger writes names.
struct NameEraser {
    /// What stands for him.
    let replacement: String
    /// What stands where words are taken out whole.
    static let gap = "forgotten"

    /// The app's own name of him: others may be called so in other worlds.
    private let own: [UInt8]
    /// Names that are nobody else's in any world.
    private let unique: [[UInt8]]

    /// For a customer of this number, name, and these tokens and accounts.
    init(number: UInt64, name: String, names: Set<Identity>) {
        replacement = "#\(number)"
        own = Array(name.utf8)
        unique = names.map { Array($0.value.utf8) }.filter { !$0.isEmpty }
    }

    /// Whether a name may stand in these bytes: a quick look.
    func mayConcern(_ bytes: [UInt8]) -> Bool {
        let names = own.isEmpty ? unique : unique + [own]
        return names.contains { Self.offset(of: $0, in: bytes, 0) != nil }
    }

    /// The entry without the names.
    ///
    /// - Parameters:
    ///   - entry: As it was written.
    ///   - isOfHis: Whether it is of a revision in his history; else his own name in it is somebody
    ///     else's.
    /// - Returns: The same, where no name is in it.
    func erased(_ entry: AuditRecord, isOfHis: Bool) -> AuditRecord {
        var names = unique
        if isOfHis, !own.isEmpty { names.append(own) }
        var result = entry
        let isHis = names.contains(Array(entry.customer.utf8))
        if isHis { result.customer = replacement }
        for name in names { result.detail = replaced(name, in: result.detail) }
        let isChanged = isHis || !isSame(result.detail, entry.detail)
        let isHousehold = entry.action.hasPrefix("HOUSEHOLD_")
        // A name may be cut off at the end of words that were too long.
        let isCut = entry.detail.hasSuffix("…")
        if isHis && isHousehold || isChanged && isCut { result.detail = Self.gap }
        return result
    }

    private func replaced(_ name: [UInt8], in text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var copied = 0
        var position = 0
        while let start = Self.offset(of: name, in: bytes, position) {
            let end = start + name.count
            let isAlone =
                (start == 0 || " :".utf8.contains(bytes[start - 1]))
                && (end == bytes.count || " ,;".utf8.contains(bytes[end]))
            guard isAlone else {
                position = start + 1
                continue
            }
            result += bytes[copied..<start] + Array(replacement.utf8)
            copied = end
            position = end
        }
        guard copied > 0 else { return text }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// Where a name begins at or after `start`; nil where it does not.
    private static func offset(of name: [UInt8], in bytes: [UInt8], _ start: Int) -> Int? {
        guard let first = name.first, start + name.count <= bytes.count else { return nil }
        for position in start...bytes.count - name.count where bytes[position] == first {
            if bytes[position..<position + name.count].elementsEqual(name) { return position }
        }
        return nil
    }
}
