/// Plants one offence per rule and sees whether it is found: a linter that finds nothing may be
/// a linter that looks nowhere.
enum SelfTest {
    private struct Case {
        let path: String
        let text: String
        /// The rule that must be found, at this line; `nil` when nothing may be found.
        let rule: String?
        var line = 0

        init(_ path: String, _ text: String, _ rule: String?, _ line: Int = 0) {
            self.path = path
            self.text = text
            self.rule = rule
            self.line = line
        }
    }

    private static let manifest = SourceFile(
        path: "Package.swift",
        text: """
            let package = Package(
                targets: [
                    .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["x"])]),
                    module("Bytes"),
                    module("EventLoop", ["CLibuv"]),
                    module("Wire", ["Bytes"]),
                    .executableTarget(
                        name: "entitled",
                        dependencies: [
                            "EventLoop",
                        ], swiftSettings: strict),
                    tests("Wire", ["Wire"]),
                ])

            """)

    /// What is wrong with tidy itself, in words.
    static func failures() -> [String] {
        cases.compactMap { planted in
            let test = planted.path.hasPrefix("Sources/") ? testFile(for: planted.path) : []
            let repository = Repository(
                files: [manifest, SourceFile(path: planted.path, text: planted.text)] + test)
            let found = Tidy.findings(in: repository).filter { $0.weight == .error }
            if let rule = planted.rule {
                let isFound =
                    found.count == 1 && found[0].rule == rule
                    && found[0].line == planted.line && found[0].path == planted.path
                return isFound
                    ? nil
                    : "planted [\(rule)] at \(planted.path):\(planted.line), found "
                        + "\(found.map(\.text))"
            }
            return found.isEmpty ? nil : "planted nothing, found \(found.map(\.text))"
        }
    }

    private static func testFile(for path: String) -> [SourceFile] {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count == 3, parts[2].hasSuffix(".swift") else { return [] }
        let stem = parts[2].dropLast(".swift".count)
        return [SourceFile(path: "Tests/\(parts[1])Tests/\(stem)Tests.swift", text: "")]
    }

    private static func function(lineCount: Int) -> String {
        "func f() {\n" + String(repeating: "    g()\n", count: lineCount - 2) + "}\n"
    }

    private static let cases = sizeCases + importCases + wordCases + layoutCases

    private static let sizeCases = [
        Case("Sources/Wire/A.swift", String(repeating: "x", count: 101) + "\n", "line", 1),
        Case("Sources/Wire/A.swift", String(repeating: "x", count: 100) + "\n", nil),
        Case("Sources/Wire/A.swift", "// https://" + String(repeating: "x", count: 99) + "\n", nil),
        Case("Sources/Wire/A.swift", "let a = 1 \n", "line", 1),
        Case("Sources/Wire/A.swift", "\n\tlet a = 1\n", "line", 2),
        Case("Sources/Wire/A.swift", "let a = 1", "line", 1),
        Case("Tools/run", "echo\r\n", "line", 1),
        Case("Sources/Wire/A.swift", function(lineCount: 71), "function", 1),
        Case("Sources/Wire/A.swift", function(lineCount: 70), nil),
        Case("Tests/WireTests/A.swift", "@Test\n" + function(lineCount: 71), "function", 2),
        Case(
            "Sources/Wire/A.swift",
            "init(\n    a: Int = { 1 }()\n) {\n" + String(repeating: "    g()\n", count: 70)
                + "}\n", "function", 1),
        Case(
            "Sources/Wire/A.swift",
            "protocol P {\n    func f()\n}\nlet a = {\n" + String(repeating: "    g()\n", count: 80)
                + "}\n", nil),
        Case("Sources/Wire/A.swift", String(repeating: "\n", count: 601), "file"),
        Case("Sources/Wire/A.swift", String(repeating: "\n", count: 600), nil),
        Case(
            "README.md", "# T\n" + String(repeating: "x\n", count: 150), "readme"),
        Case("Sources/CMessages/a.c", "\tchar a;\n", nil),
    ]

    private static let importCases = [
        Case("Sources/Wire/A.swift", "internal import Bytes\nimport Synchronization\n", nil),
        Case("Sources/Wire/A.swift", "internal import EventLoop\n", "import", 1),
        Case("Sources/Wire/A.swift", "package import struct EventLoop.Loop\n", "import", 1),
        Case("Sources/entitled/A.swift", "import Bytes\n", "import", 1),
        Case("Sources/entitled/A.swift", "import EventLoop\nimport FoundationEssentials\n", nil),
        Case("Sources/Wire/A.swift", "import FoundationEssentials\n", "import", 1),
        Case("Sources/Bytes/A.swift", "import Glibc\n", "import", 1),
        Case("Tests/WireTests/A.swift", "import Testing\n@testable import Wire\n", nil),
        Case("Tests/WireTests/A.swift", "import Bytes\n", "import", 1),
        Case("Tests/WireTests/A.swift", "import Foun" + "dation\n", "import", 1),
        Case("Sources/Unknown/A.swift", "import Bytes\n", "import", 1),
        Case("Sources/Wire/A.swift", "// import EventLoop\nlet a = \"import EventLoop\"\n", nil),
    ]

    private static let wordCases = [
        Case("Sources/Bytes/A.swift", "let a = unsafe b\n", "unsafe", 1),
        Case("Sources/Bytes/A.swift", "// unsafe\nlet unsafely = \"unsafe \\(1)\"\n", nil),
        Case("Sources/Bytes/A.swift", "/* unsafe /* */ unsafe */ let a = #\"\"unsafe\"#\n", nil),
        Case("Sources/Bytes/A.swift", "let a = \"\\(b(\")\"))\"; unsafe c()\n", "unsafe", 1),
        Case("Sources/Bytes/A.swift", "final class A: @unchecked Sendable {}\n", "unsafe", 1),
        Case("Sources/Wire/A.swift", "let a = unsafe b\n", nil),
        Case("Tests/WireTests/A.swift", "let a = unsafe b\n", nil),
        Case("Sources/entitled/SystemCalls.swift", "let a = unsafe b\n", nil),
        Case("Sources/Bytes/A.swift", "print(1)\n", "print", 1),
        Case("Sources/Bytes/A.swift", "blueprint(1)\n", nil),
        Case("Tools/tidy/A.swift", "print(1)\n", nil),
        Case("Sources/Bytes/A.swift", "let a = try" + "! b()\n", "try", 1),
        Case("Sources/Bytes/A.swift", "let a = Date" + "()\n", "clock", 1),
        Case("Sources/Bytes/A.swift", "let a = signedDate" + "()\n", nil),
        Case("Sources/Bytes/A.swift", "\n// TO" + "DO: later\n", "unfinished", 2),
        Case("README.md", "# T\nFIX" + "ME\n", "unfinished", 2),
        Case("Tools/tidy/StringUtils.swift", "\n", "name"),
        Case("Sources/Bytes/Placeholder.swift", "\n", "name"),
        Case("Sources/Bytes/Utilization.swift", "\n", nil),
        Case("Tools/run", "cd /wo" + "rk/main\n", "path", 1),
        Case("Tools/run", "cd ../wo" + "rk/main; cd a/wo" + "rk/b\n", nil),
        Case("Tools/run", "curl https://py" + "pi.org\n", "host", 1),
    ]

    private static let layoutCases = [
        Case("Sources/Wire/deep/A.swift", "func f() {}\n", "test"),
        Case("Sources/Wire/deep/A.swift", "let a = 1\n", nil),
        Case("Sources/Wire/A.swift", "func f() {}\n", nil),
        Case("docs.md", "# One\n\n```\n# two\n```\n", nil),
        Case("docs.md", "# One\n# Two\n", "title", 2),
        Case("docs.md", "One\n", "title", 1),
    ]
}
