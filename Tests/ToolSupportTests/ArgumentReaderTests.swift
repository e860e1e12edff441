import Testing

@testable import ToolSupport

@Suite struct ArgumentReaderTests {
    private static let grammar = CommandGrammar(
        tool: "tool",
        commands: [
            shape(["show"], ["CUSTOMER", "PRODUCT?"], [.value("at", "TIME", "when")]),
            shape(["family", "show"], [], []), shape(["family", "link"], ["NAME..."], []),
        ],
        globalFlags: [
            .value("output", "FORM", "how"), .toggle("quiet", "no notes", letter: "q"),
            .toggle("help", "help", letter: "h"),
        ])

    private static func shape(
        _ words: [String], _ operands: [String], _ flags: [Flag]
    ) -> CommandShape {
        CommandShape(
            words: words, operands: operands, flags: flags, summary: "s", details: [],
            examples: [("tool", "p")])
    }

    private func read(_ arguments: String...) throws -> ArgumentReader {
        try ArgumentReader(arguments, Self.grammar)
    }

    private func failure(_ arguments: [String]) -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try ArgumentReader(arguments, Self.grammar).command()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a flag's value follows it, or an equals sign`() throws {
        #expect(try read("show", "--at", "5", "x").flags == ["at": "5"])
        #expect(try read("show", "--at=5", "x").words == ["show", "x"])
        #expect(try read("show", "--at=a=b").flags == ["at": "a=b"])
        #expect(try read("show", "--at", "-").flags == ["at": "-"])
    }

    @Test func `of two commands' flags of one name that of the command counts`() throws {
        let shapes = [
            Self.shape(["play"], [], [.toggle("keep", "leave it")]),
            Self.shape(["prune"], ["DIR"], [.value("keep", "N", "so many stay")]),
        ]
        for commands in [shapes, [shapes[1], shapes[0]]] {
            let grammar = CommandGrammar(tool: "tool", commands: commands, globalFlags: [])
            let prune = try ArgumentReader(["prune", "d", "--keep", "1"], grammar)
            #expect(prune.flags == ["keep": "1"])
            #expect(prune.words == ["prune", "d"])
            let play = try ArgumentReader(["play", "--keep"], grammar)
            #expect(play.flags == ["keep": ""])
        }
    }

    @Test func `behind two dashes all are words, and one dash is one`() throws {
        #expect(try read("show", "--", "--at", "-q").words == ["show", "--at", "-q"])
        #expect(try read("show", "-").words == ["show", "-"])
    }

    @Test func `letters stand for flags, several at once`() throws {
        #expect(try read("-qh", "show").flags == ["quiet": "", "help": ""])
        #expect(try read("-q", "-q", "show").flags == ["quiet": ""])
    }

    @Test(arguments: [
        (["show", "--aat", "5"], "unknown flag `--aat`", "did you mean --at?"),
        (["show", "--zzzzzz"], "unknown flag `--zzzzzz`", "see tool --help"),
        (["show", "--at"], "--at needs a value: --at TIME", ""),
        (["show", "--at", "--quiet"], "--at needs a value: --at TIME", ""),
        (["show", "--at="], "--at has an empty value", ""),
        (["show", "--at", "1", "--at", "2"], "--at is given twice", ""),
        (["show", "--quiet=yes"], "--quiet takes no value", ""),
        (["-x"], "unknown flag `-x`", "one-letter flags are -q and -h"),
        ([], "no command", "see tool --help"),
        (["shoe"], "unknown command `shoe`", "did you mean `show`?"),
        (["family"], "`family` needs a word more", "did you mean `family show`?"),
        (["family", "lnik"], "unknown command `family lnik`", "did you mean `family link`?"),
    ])
    func `what is wrong is named, and the nearest right thing`(
        arguments: [String], message: String, hint: String
    ) {
        #expect(failure(arguments) == CommandFailure(.usage, message, hint: hint))
    }

    @Test func `the command is found by its words`() throws {
        let (index, operands) = try read("family", "link", "a", "b").command()
        #expect(index == 2)
        #expect(operands == ["a", "b"])
    }
}
