import Testing

@testable import ToolSupport

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("chek", "check"), ("hceck", "check"), ("rebiuld", "rebuild"), ("check", "check"),
    ])
    func `a typing mistake finds what was meant`(name: String, meant: String) {
        #expect(NearestName.find(for: name, among: ["check", "rebuild", "link"]) == meant)
    }

    @Test(arguments: ["xyzzy", "", "abcdefgh"])
    func `what is like nothing finds nothing`(name: String) {
        #expect(NearestName.find(for: name, among: ["check", "rebuild"]) == nil)
    }
}
