import Testing

@testable import ToolSupport

@Suite struct CommandTests {
    private func shape(_ operands: [String]) -> CommandShape {
        CommandShape(
            words: ["customer", "show"], operands: operands, flags: [], summary: "", details: [],
            examples: [])
    }

    @Test func `usage shows what is optional`() {
        #expect(shape(["A", "B?"]).usage == "customer show A [B]")
        #expect(shape([]).usage == "customer show")
    }

    @Test func `operands are counted`() {
        #expect(shape(["A", "B?"]).operandCountMin == 1)
        #expect(shape(["A", "B?"]).operandCountMax == 2)
        #expect(shape(["A..."]).operandCountMax == .max)
    }

    @Test func `a grammar knows the flags of all commands`() {
        let grammar = CommandGrammar(
            tool: "t",
            commands: [
                CommandShape(
                    words: ["a"], operands: [], flags: [.toggle("x", "")], summary: "",
                    details: [], examples: [])
            ], globalFlags: [.value("y", "V", "")])
        #expect(grammar.flagsByName.keys.sorted() == ["x", "y"])
    }
}
