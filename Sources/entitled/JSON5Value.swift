/// A JSON5 document as a tree that keeps what settings need: exact numbers, the order of the keys
/// and the line on which each stands.
indirect enum JSON5Value: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// A number without fraction that fits 64 bits.
    case integer(Int64)
    /// Any other number, as it was written.
    case decimal(String)
    case text(String)
    case list([JSON5Value])
    case table([JSON5Member])

    /// What a person calls this kind of value.
    var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .decimal: "a number"
        case .text: "a string"
        case .list: "a list"
        case .table: "an object"
        }
    }
}

/// One `key: value` of an object.
struct JSON5Member: Equatable, Sendable {
    let key: String
    /// The line of the key, from 1.
    let line: Int
    let value: JSON5Value
}

/// Why a text is no JSON5 document, and where.
struct JSON5Error: Error, Equatable, Sendable {
    let message: String
    /// From 1.
    let line: Int
    /// From 1, in characters.
    let column: Int
}
