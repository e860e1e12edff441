/// A JSON value to be written as a test wants it, the odd forms included: members keep their
/// order, and numbers are written digit for digit.
package indirect enum FixtureJSON: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case array([FixtureJSON])
    case object([Member])
    /// Written as it stands: a fraction, 30 digits, or what is no JSON at all.
    case verbatim(String)

    /// A name and its value.
    package struct Member: Sendable, Equatable {
        /// The name.
        package var name: String
        /// The value.
        package var value: FixtureJSON

        /// A name with its value.
        package init(_ name: String, _ value: FixtureJSON) {
            self.name = name
            self.value = value
        }
    }

    /// The member of this name; setting adds or replaces it, setting nil removes it.
    ///
    /// Only objects have members: reading anything else gives nil, setting makes an object of it.
    package subscript(name: String) -> FixtureJSON? {
        get { members.first { $0.name == name }?.value }
        set {
            var members = members
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// The same object with some members added, replaced or removed.
    ///
    /// - Parameter changes: By name; nil removes the member, `.null` writes null.
    /// - Returns: The changed object.
    package func changed(_ changes: FixtureChanges) -> FixtureJSON {
        var changed = self
        for (name, value) in changes { changed[name] = value }
        return changed
    }

    private var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }

    /// The JSON text.
    package var text: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .string(let value): Self.escaped(value)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { Self.escaped($0.name) + ":" + $0.value.text }
                .joined(separator: ",") + "}"
        case .verbatim(let text): text
        }
    }

    /// The UTF-8 of the JSON text.
    package var utf8: [UInt8] { Array(text.utf8) }

    private static func escaped(_ text: String) -> String {
        var escaped = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }
}

/// Changes to the members of an object, in order: nil removes one, `.null` writes null.
package typealias FixtureChanges = KeyValuePairs<String, FixtureJSON?>

extension FixtureJSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A boolean.
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// An integer.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// A string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    package init(arrayLiteral elements: FixtureJSON...) { self = .array(elements) }
    /// An object, members in the order written.
    package init(dictionaryLiteral elements: (String, FixtureJSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
