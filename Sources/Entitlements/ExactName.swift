/// A text compared byte by byte, as identifiers are.
///
/// Swift's strings compare by canonical equivalence: "é" in one scalar equals "é" in two. Two
/// customers, products or households whose names differ only so must never be taken for one, so
/// every dictionary and set of names is keyed by this.
package struct ExactName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The text.
    package let text: String

    /// The name that `text` is.
    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (left: ExactName, right: ExactName) -> Bool {
        isSame(left.text, right.text)
    }

    package static func < (left: ExactName, right: ExactName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    // Texts of the same bytes have the same hash as strings; others may collide, and differ by ==.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Whether two texts have the same bytes.
///
/// The comparison of strings comes first: it is fast where they differ.
package func isSame(_ left: String, _ right: String) -> Bool {
    guard left == right else { return false }
    let (leftBytes, rightBytes) = (left.utf8.span, right.utf8.span)
    guard leftBytes.count == rightBytes.count else { return false }
    for index in leftBytes.indices where leftBytes[index] != rightBytes[index] { return false }
    return true
}

extension Dictionary where Key == ExactName {
    /// The value under a name.
    package subscript(name: String) -> Value? {
        get { self[ExactName(name)] }
        set { self[ExactName(name)] = newValue }
        _modify { yield &self[ExactName(name)] }
    }

    /// The value under a name, or `fallback`.
    package subscript(name: String, default fallback: @autoclosure () -> Value) -> Value {
        get { self[ExactName(name), default: fallback()] }
        _modify { yield &self[ExactName(name), default: fallback()] }
    }
}

extension Set where Element == ExactName {
    /// Whether the name is in it.
    package func contains(_ name: String) -> Bool { contains(ExactName(name)) }

    /// Puts a name in.
    package mutating func insert(_ name: String) { insert(ExactName(name)) }
}
