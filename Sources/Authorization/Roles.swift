/// What a caller may do. `admin` may do all that the others may, within its apps.
package struct Roles: OptionSet, Hashable, Sendable, BitwiseCopyable {
    package let rawValue: UInt8

    /// The roles whose bits are set.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ask whether somebody may use something.
    package static let check = Roles(rawValue: 1 << 0)
    /// Hand in what Apple signed.
    package static let ingest = Roles(rawValue: 1 << 1)
    /// See and change everything.
    package static let admin = Roles(rawValue: 1 << 2)
    /// Read the metrics, which are those of all apps.
    package static let metrics = Roles(rawValue: 1 << 3)

    /// Every role by its name in the keys file, in the order in which they are written.
    package static let names: [(name: String, role: Roles)] = [
        ("check", .check), ("ingest", .ingest), ("admin", .admin), ("metrics", .metrics),
    ]

    /// The role of a name; nil where there is none of exactly these bytes.
    package init?(name: String) {
        guard let known = Self.names.first(where: { $0.name.utf8.elementsEqual(name.utf8) })
        else { return nil }
        self = known.role
    }

    /// The names of these roles.
    package var names: [String] { Self.names.filter { contains($0.role) }.map(\.name) }

    /// Whether whoever has these roles may do what asks for `role`.
    @inline(__always)
    package func allow(_ role: Roles) -> Bool {
        contains(.admin) || !isDisjoint(with: role)
    }
}
