import Testing

@testable import entitled

@Suite struct ConfigurationFileTests {
    private func file(_ text: String) -> ConfigurationFile {
        ConfigurationFile(path: "e.json5", bytes: Array(text.utf8))
    }

    @Test func `every value comes with its key, its place and its line`() {
        let file = file(
            """
            { data: "/d", // here
              apps: [
                { bundleId: "a.b" },
                { products: { "p.1": { duration: "90d", refunds: { prorated: "keep" } }, q: {} } },
              ],
              limits: { maxFrame: "2MiB" },
            }
            """)
        #expect(file.problems.isEmpty)
        #expect(file.products == [[], ["p.1", "q"]])
        typealias Entry = ConfigurationFile.Entry
        #expect(
            file.entries == [
                Entry(key: .data, app: nil, product: nil, line: 1, value: .text("/d")),
                Entry(key: .bundleId, app: 0, product: nil, line: 3, value: .text("a.b")),
                Entry(key: .productDuration, app: 1, product: "p.1", line: 4, value: .text("90d")),
                Entry(
                    key: .productProratedRefund, app: 1, product: "p.1", line: 4,
                    value: .text("keep")),
                Entry(key: .maxFrame, app: nil, product: nil, line: 6, value: .text("2MiB")),
            ])
    }

    @Test(arguments: [
        ("{ dta: 1 }", "unknown key `dta` (e.json5:1); did you mean `data`?"),
        (
            "{\n limits: { maxFrme: 1 } }",
            "unknown key `limits.maxFrme` (e.json5:2); did you mean `limits.maxFrame`?"
        ),
        (
            "{ apps: [{}, { bundelId: 'x' }] }",
            "unknown key `apps[1].bundelId` (e.json5:1); did you mean `apps[1].bundleId`?"
        ),
        (
            "{ apps: [{ products: { p: { entitlement: 'x' } } }] }",
            "unknown key `apps[0].products.p.entitlement` (e.json5:1); did you mean "
                + "`apps[0].products.p.entitlements`?"
        ),
        (
            "{ apps: [{ products: { p: { refunds: { prorate: 'keep' } } } }] }",
            "unknown key `apps[0].products.p.refunds.prorate` (e.json5:1); did you mean "
                + "`apps[0].products.p.refunds.prorated`?"
        ),
        ("{ roots: ['x'] }", "unknown key `roots`; it belongs at `apple.roots` (e.json5:1)"),
        (
            "{ apple: { cut: 'off' } }",
            "unknown key `apple.cut`; it belongs at `family.cut` (e.json5:1)"
        ),
        ("{ frobnicate: 1 }", "unknown key `frobnicate` (e.json5:1)"),
        ("{ config: 'x' }", "unknown key `config` (e.json5:1)"),
        ("{ '': 1 }", "unknown key `` (e.json5:1)"),
        ("[]", "the document must be an object, not a list (e.json5:1)"),
        ("1", "the document must be an object, not a number (e.json5:1)"),
        ("{ limits: 3 }", "`limits` must be an object, not a number (e.json5:1)"),
        ("{ apps: {} }", "`apps` must be a list, not an object (e.json5:1)"),
        ("{ apps: ['x'] }", "`apps[0]` must be an object, not a string (e.json5:1)"),
        (
            "{ apps: [{ products: ['p'] }] }",
            "`apps[0].products` must be an object, not a list (e.json5:1)"
        ),
        (
            "{ apps: [{ products: { p: 1 } }] }",
            "`apps[0].products.p` must be an object, not a number (e.json5:1)"
        ),
        ("{ apps: [{ products: { '': {} } }] }", "a product id has 1 to 128 bytes (e.json5:1)"),
        (
            "{ data: 'a',\n  data: 'b' }",
            "e.json5:2:3: `data` stands here a second time, after line 1"
        ),
        ("{ data 'a' }", "e.json5:1:8: `:` is missing after `data`"),
        ("", "e.json5:1:1: a value is missing: the document ends here"),
    ])
    func `a mistake is named with its place`(text: String, message: String) {
        #expect(file(text).problems == [ConfigurationProblem(message)])
    }

    @Test func `null is as good as nothing at every depth`() {
        let file = file("{ limits: null, apps: null, log: { level: null } }")
        #expect(file.problems.isEmpty)
        #expect(file.products.isEmpty)
        #expect(file.entries.map(\.value) == [.null])
        #expect(self.file("null").problems.isEmpty)
    }

    @Test func `what is no text and what is too long is refused`() {
        let binary = ConfigurationFile(path: "e.json5", bytes: [0x7B, 0xFF, 0x7D])
        #expect(binary.problems == [ConfigurationProblem("not UTF-8 text (e.json5)")])
        let long = ConfigurationFile(
            path: "e.json5",
            bytes: Array(repeating: 0x20, count: ConfigurationFile.byteCountMax + 1))
        #expect(long.problems == [ConfigurationProblem("larger than 16MiB (e.json5)")])
    }
}
