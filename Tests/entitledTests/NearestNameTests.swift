import Testing

@testable import entitled

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "abc", 3), ("abc", "abc", 0), ("abc", "abd", 1),
        ("abcd", "abdc", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func `the distance counts single mistakes`(source: String, target: String, distance: Int) {
        #expect(NearestName.editDistance(source, target) == distance)
        #expect(NearestName.editDistance(target, source) == distance)
    }

    @Test(arguments: [
        ("dta", "data"), ("lsiten", "listen"), ("Threads", "threads"), ("log-levle", "log-level"),
        ("apple-roots", "apple-root"), ("bundleid", "bundle-id"),
    ])
    func `a typing mistake finds its name`(typed: String, meant: String) {
        #expect(NearestName.find(for: typed, among: CommandLineArguments.flagNames) == meant)
    }

    @Test(arguments: ["x", "", "zzzzzz", "port", "verbose-please"])
    func `what is like nothing finds nothing`(typed: String) {
        #expect(NearestName.find(for: typed, among: ["data", "listen", "threads"]) == nil)
    }

    @Test func `of two equally near names the first is taken`() {
        #expect(NearestName.find(for: "cat", among: ["bat", "rat"]) == "bat")
    }
}
