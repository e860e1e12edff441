import FoundationEssentials
import Testing

/// The table of promises in the threat model names tests that exist.
@Suite struct PromisesTests {
    private static let package: String =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    /// The rows of the tables, without their heads.
    private static func rows() throws -> [Substring] {
        let path = package + "/Sources/entitled/Documentation.docc/ThreatModel.md"
        let article = try String(contentsOfFile: path, encoding: .utf8)
        let start = try #require(article.firstRange(of: "## Promises")).lowerBound
        return article[start...].split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| ---") && !$0.hasSuffix("| tests |")
        }
    }

    /// All that stands in the files of this name below `Tests`.
    private static func text(ofSuite name: String) -> String {
        let root = package + "/Tests"
        let targets = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return targets.compactMap {
            try? String(contentsOfFile: "\(root)/\($0)/\(name).swift", encoding: .utf8)
        }.joined()
    }

    @Test func `every promise names tests, and each of them is there`() throws {
        let rows = try Self.rows()
        #expect(rows.count >= 40)
        for row in rows {
            let tests = row.matches(of: /(\w+Tests): \*([^*]+)\*/)
            #expect(!tests.isEmpty, "\(row)")
            for (_, suite, name) in tests.map(\.output) {
                #expect(
                    Self.text(ofSuite: String(suite)).contains("func `\(name)`"),
                    "\(suite) has no test `\(name)`")
            }
        }
    }
}
