// A scenario file as text: lines, blocks and words, without a meaning yet. The language is
// described in Tests/ScenarioTests/README.md.

/// Why a scenario file cannot be played.
package struct ScenarioError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    /// What is wrong with it.
    package let message: String

    /// A fault in `line`.
    package init(line: Int, _ message: String) {
        self.line = line
        self.message = message
    }

    /// `line 7: …`
    package var description: String { "line \(line): \(message)" }
}

/// One line, cut into words: parts are separated by `|`, what is expected stands after `->`.
struct ScenarioStatement: Sendable, Hashable {
    let line: Int
    /// At least one part; only the first is never empty.
    let parts: [[String]]
    /// The words after `->`.
    let expected: [String]

    init(line: Int, words: [String]) {
        self.line = line
        let arrow = words.firstIndex(of: "->") ?? words.endIndex
        expected = Array(words[arrow...].dropFirst())
        parts = words[..<arrow].split(separator: "|", omittingEmptySubsequences: false)
            .map(Array.init)
    }

    /// The first word.
    var verb: String { parts[0].first ?? "" }
    /// The words after the first.
    var arguments: [String] { Array(parts[0].dropFirst()) }

    func fault(_ message: String) -> ScenarioError { ScenarioError(line: line, message) }
}

/// A statement or a block of them.
indirect enum ScenarioNode: Sendable, Hashable {
    case statement(ScenarioStatement)
    /// To be delivered in every order.
    case anyOrder([ScenarioStatement])
    /// To be played once with each alternative.
    case oneOf([[ScenarioNode]])
}

extension ScenarioNode {
    /// The nodes of a file.
    ///
    /// - Throws: `ScenarioError` for a block that is not closed, or closed twice.
    static func parse(_ text: String) throws(ScenarioError) -> [ScenarioNode] {
        var lines: [ScenarioStatement] = []
        let texts = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in texts.enumerated() {
            let words = line.split(whereSeparator: { " \t\r".contains($0) }).map(String.init)
            let kept = Array(words.prefix { !$0.hasPrefix("#") })
            if kept.isEmpty { continue }
            lines.append(ScenarioStatement(line: index + 1, words: kept))
        }
        var rest = lines[...]
        let nodes = try block(&rest, until: [])
        if let extra = rest.first { throw extra.fault("\(extra.verb) closes nothing") }
        return nodes
    }

    private static func block(
        _ rest: inout ArraySlice<ScenarioStatement>, until ends: Set<String>
    ) throws(ScenarioError) -> [ScenarioNode] {
        var nodes: [ScenarioNode] = []
        while let statement = rest.first {
            if ["or", "end"].contains(statement.verb) {
                guard ends.contains(statement.verb) else { break }
                return nodes
            }
            rest = rest.dropFirst()
            switch statement.verb {
            case "any-order": nodes.append(try anyOrder(statement, &rest))
            case "one-of": nodes.append(try oneOf(statement, &rest))
            default: nodes.append(.statement(statement))
            }
        }
        return nodes
    }

    private static func anyOrder(
        _ opening: ScenarioStatement, _ rest: inout ArraySlice<ScenarioStatement>
    ) throws(ScenarioError) -> ScenarioNode {
        var statements: [ScenarioStatement] = []
        for node in try block(&rest, until: ["end"]) {
            guard case .statement(let statement) = node else {
                throw opening.fault("any-order holds statements only")
            }
            statements.append(statement)
        }
        guard rest.popFirst()?.verb == "end" else { throw opening.fault("any-order has no end") }
        return .anyOrder(statements)
    }

    private static func oneOf(
        _ opening: ScenarioStatement, _ rest: inout ArraySlice<ScenarioStatement>
    ) throws(ScenarioError) -> ScenarioNode {
        var alternatives: [[ScenarioNode]] = []
        while true {
            alternatives.append(try block(&rest, until: ["or", "end"]))
            guard let closing = rest.popFirst() else { throw opening.fault("one-of has no end") }
            if closing.verb == "end" { return .oneOf(alternatives) }
        }
    }

    /// Every way through the alternatives, none of which is left.
    static func ways(_ nodes: [ScenarioNode]) -> [[ScenarioNode]] {
        var ways: [[ScenarioNode]] = [[]]
        for node in nodes {
            guard case .oneOf(let alternatives) = node else {
                ways = ways.map { $0 + [node] }
                continue
            }
            let endings = alternatives.flatMap { Self.ways($0) }
            ways = ways.flatMap { way in endings.map { way + $0 } }
        }
        return ways
    }
}
