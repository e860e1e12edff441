/// What the configuration file says: a value for each setting at its place, and what is wrong.
struct ConfigurationFile: Sendable {
    /// A setting at its place in the file.
    struct Entry: Equatable, Sendable {
        let key: SettingKey
        /// The index in `apps` of an app's setting.
        let app: Int?
        /// The id of a product's setting.
        let product: String?
        let line: Int
        let value: JSON5Value
    }

    /// The largest file that is read: a catalog of ten thousand products takes 1 MiB.
    static let byteCountMax = 16 << 20

    let path: String
    private(set) var entries: [Entry] = []
    /// For each app of the file the ids of its products, in order.
    private(set) var products: [[String]] = []
    private(set) var problems: [ConfigurationProblem] = []

    /// Reads a file's bytes.
    init(path: String, bytes: [UInt8]) {
        self.path = path
        guard bytes.count <= Self.byteCountMax else {
            refuse("larger than \(Quantity.sizeText(Int64(Self.byteCountMax)))", line: nil)
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            refuse("not UTF-8 text", line: nil)
            return
        }
        do throws(JSON5Error) {
            let root = try JSON5Reader.read(text)
            walk(root, node: Self.schema, place: Place(name: "", line: 1))
        } catch {
            problems.append(
                ConfigurationProblem("\(path):\(error.line):\(error.column): \(error.message)"))
        }
    }

    // MARK: Walking the tree

    /// Where a value stands.
    private struct Place {
        /// As a person writes it: `apps[0].bundleId`; empty for the document.
        var name: String
        var line: Int
        var app: Int?
        var product: String?
    }

    /// What may stand at a place: a setting, or more places below it.
    private struct Node {
        var key: SettingKey?
        var children: [String: Node] = [:]

        mutating func insert(_ key: SettingKey, steps: ArraySlice<String>) {
            guard let step = steps.first else {
                self.key = key
                return
            }
            children[step, default: Node()].insert(key, steps: steps.dropFirst())
        }
    }

    private static let schema: Node = {
        var root = Node()
        for key in SettingKey.allCases where key != .config {
            let steps = key.rawValue.replacing("[]", with: ".[]").replacing("{}", with: ".{}")
            root.insert(key, steps: steps.split(separator: ".").map(String.init)[...])
        }
        return root
    }()

    private mutating func walk(_ value: JSON5Value, node: Node, place: Place) {
        if let key = node.key {
            entries.append(
                Entry(
                    key: key, app: place.app, product: place.product, line: place.line,
                    value: value))
        } else if value == .null {
            return
        } else if let element = node.children["[]"] {
            walkApps(value, element: element, place: place)
        } else if let named = node.children["{}"] {
            walkProducts(value, named: named, place: place)
        } else if case .table(let members) = value {
            for member in members { walk(member, in: node, place: place) }
        } else {
            refuse(
                "\(named(place.name)) must be an object, not \(value.kindName)", line: place.line)
        }
    }

    private mutating func walk(_ member: JSON5Member, in node: Node, place: Place) {
        let name = place.name.isEmpty ? member.key : "\(place.name).\(member.key)"
        if let child = node.children[member.key] {
            var inner = place
            inner.name = name
            inner.line = member.line
            walk(member.value, node: child, place: inner)
            return
        }
        let known = node.children.keys.sorted()
        if NearestName.find(for: member.key, among: known) == nil,
            let elsewhere = SettingKey.allCases.first(where: {
                $0 != .config && $0.rawValue.hasSuffix(".\(member.key)")
            })
        {
            refuse(
                "unknown key `\(name)`; it belongs at `\(elsewhere.rawValue)`", line: member.line)
            return
        }
        let prefix = place.name.isEmpty ? "" : "\(place.name)."
        problems.append(
            .unknown(
                "key", prefix: prefix, member.key, place: " (\(path):\(member.line))",
                among: known))
    }

    private mutating func walkApps(_ value: JSON5Value, element: Node, place: Place) {
        guard case .list(let elements) = value else {
            refuse("`apps` must be a list, not \(value.kindName)", line: place.line)
            return
        }
        for (index, app) in elements.enumerated() {
            products.append([])
            var inner = place
            inner.name += "[\(index)]"
            inner.app = index
            walk(app, node: element, place: inner)
        }
    }

    private mutating func walkProducts(_ value: JSON5Value, named: Node, place: Place) {
        guard case .table(let members) = value, let app = place.app else {
            refuse("`\(place.name)` must be an object, not \(value.kindName)", line: place.line)
            return
        }
        for member in members {
            guard (1...128).contains(member.key.utf8.count), !member.key.utf8.contains(0) else {
                refuse("a product id has 1 to 128 bytes", line: member.line)
                continue
            }
            products[app].append(member.key)
            var inner = place
            inner.name += ".\(member.key)"
            inner.line = member.line
            inner.product = member.key
            walk(member.value, node: named, place: inner)
        }
    }

    private func named(_ place: String) -> String {
        place.isEmpty ? "the document" : "`\(place)`"
    }

    private mutating func refuse(_ message: String, line: Int?) {
        let place = line.map { "\(path):\($0)" } ?? path
        problems.append(ConfigurationProblem("\(message) (\(place))"))
    }
}
