import Testing

@testable import ToolSupport

@Suite struct HelpPageTests {
    private let grammar = CommandGrammar(
        tool: "tool",
        commands: [
            CommandShape(
                words: ["show"], operands: ["CUSTOMER"],
                flags: [.value("at", "TIME", "the instant", variable: "TOOL_AT")],
                summary: "shows one", details: ["More of it."],
                examples: [("tool show a", "shows a")])
        ], globalFlags: [.toggle("quiet", "no notes", letter: "q")])

    private var pages: HelpPage {
        HelpPage(
            grammar,
            HelpPage.Frame(summary: "does things", example: "tool show a", closing: ["The end."]))
    }

    @Test func `the page of the tool lists commands and flags`() {
        #expect(
            pages.overview == """
                tool: does things

                usage: tool [FLAG]... COMMAND [OPERAND]...

                  tool show a

                  show CUSTOMER  shows one

                Flags of every command:
                  --quiet, -q  no notes

                The end.

                """)
    }

    @Test func `the page of a command has its flags and examples`() {
        #expect(
            pages.command(grammar.commands[0]) == """
                usage: tool show CUSTOMER [FLAG]...

                  shows one

                More of it.

                  --at TIME  the instant (TOOL_AT)

                Example:
                  tool show a
                      shows a

                Flags of every command: tool --help

                """)
        #expect(pages.group("show") == pages.command(grammar.commands[0]))
    }
}
