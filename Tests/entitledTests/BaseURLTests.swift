import Testing

@testable import entitled

@Suite struct BaseURLTests {
    @Test(
        arguments: [
            ("https://api.storekit.apple.com", "https://api.storekit.apple.com", true, false),
            ("HTTPS://api.example.com/", "https://api.example.com", true, false),
            (
                "https://proxy.example.com:8443/apple//", "https://proxy.example.com:8443/apple",
                true, false
            ),
            ("http://127.0.0.1:9", "http://127.0.0.1:9", false, true),
            ("http://127.9.9.9", "http://127.9.9.9", false, true),
            ("http://localhost:65535", "http://localhost:65535", false, true),
            ("https://[::1]", "https://[::1]", true, true),
            ("https://[2001:db8::1]:1", "https://[2001:db8::1]:1", true, false),
            ("http://localhost.example.com", "http://localhost.example.com", false, false),
            ("http://127.0.0.1.example.com", "http://127.0.0.1.example.com", false, false),
        ] as [(String, String, Bool, Bool)])
    func `a base is read without its last slashes`(
        text: String, canonical: String, isEncrypted: Bool, isLoopback: Bool
    ) throws {
        let url = try #require(BaseURL(text))
        #expect(url.text == canonical)
        #expect(url.isEncrypted == isEncrypted)
        #expect(url.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "api.storekit.apple.com", "ftp://a", "https://", "https:///x", "https:a",
        "https://a:0", "https://a:65536", "https://a:", "https://a:1:2", "https://[::1",
        "https://[nonsense]", "https://[::1]:0", "https://a/x?y=1", "https://a/#f",
        "https://user:password@a", "https://a b", "https://a/\u{e9}", "https://a\\b",
    ])
    func `what is no base is refused`(text: String) {
        #expect(BaseURL(text) == nil)
    }

    @Test func `a length beyond reason is refused`() {
        let path = String(repeating: "p", count: BaseURL.byteCountMax - "https://a/".count)
        #expect(BaseURL("https://a/" + path) != nil)
        #expect(BaseURL("https://a/p" + path) == nil)
    }
}
