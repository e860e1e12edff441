@testable import HTTP
import Testing

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("/", "/", []),
        ("/a/b", "/a/b", []),
        ("/a%20b%2Fc", "/a b/c", []),
        ("/a+b", "/a+b", []),
        ("/readyz?verbose", "/readyz", [HTTPField("verbose", "")]),
        ("/x?a=1&b=%C3%A9+x&&a=", "/x", [.init("a", "1"), .init("b", "é x"), .init("a", "")]),
        ("/x?", "/x", []),
        ("/x#y?z", "/x", []),
        ("*", "*", []),
        ("http://host:80/p?q=r", "/p", [HTTPField("q", "r")]),
        ("HTTPS://host", "/", []),
        ("http://host?q", "/", [HTTPField("q", "")]),
        ("/nul%00", "/nul\0", []),
    ])
    func `a target is taken apart and decoded`(
        raw: String, path: String, query: [HTTPField]
    ) throws {
        let target = try #require(RequestTarget(raw))
        #expect(target.path.utf8.elementsEqual(path.utf8))
        #expect(target.query == query)
    }

    @Test(arguments: [
        "", "a", "?a", "/%", "/%4", "/%4g", "/%ff", "/a b", "/a\tb", "/?%zz", "/?a=%ff", "**",
    ])
    func `what is none is refused`(raw: String) {
        #expect(RequestTarget(raw) == nil)
    }
}
