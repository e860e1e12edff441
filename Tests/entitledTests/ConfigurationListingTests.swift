import Testing

@testable import entitled

@Suite struct ConfigurationListingTests {
    private let file = """
        { apps: [{ bundleId: "a\\"b", appAppleId: 1, environments: ["Sandbox"],
            products: { "p \\n": { entitlements: ["x", "y"], unitCost: 0.02 },
                        season: { duration: "90d", refunds: { prorated: "keep" } }, bare: {} } },
          { bundleId: "c" }],
          apple: { roots: ["r.cer"], allowTestRoot: true, v1SharedSecretFile: "secret" },
          cacheSize: "3GiB", listen: ["127.0.0.1:0", "unix:/s"], shutdownGrace: "90s" }
        """

    @Test func `the listing is a configuration file that says the same`() {
        let loader = ConfigurationLoader(
            inputs(["--config", "/e/c.json5"], files: ["/e/c.json5": Array(file.utf8)]))
        #expect(loader.problems.isEmpty)
        let text = ConfigurationListing.text(of: loader.resolved, file: "/e/c.json5")
        let again = ConfigurationLoader(
            inputs(["--config", "/l.json5"], files: ["/l.json5": Array(text.utf8)]))
        #expect(again.problems.isEmpty)
        #expect(again.resolved.apps.map(\.products.count) == [3, 0])
        // The path of the file itself differs.
        var (left, right) = (again.resolved.settings, loader.resolved.settings)
        left[.config] = nil
        right[.config] = nil
        #expect(left.mapValues(\.values) == right.mapValues(\.values))
        for (left, right) in zip(again.resolved.apps, loader.resolved.apps) {
            #expect(left.settings.mapValues(\.values) == right.settings.mapValues(\.values))
            #expect(left.products.map(\.id) == right.products.map(\.id))
            for (left, right) in zip(left.products, right.products) {
                #expect(left.settings.mapValues(\.values) == right.settings.mapValues(\.values))
            }
        }
    }

    @Test func `every value says where it came from`() {
        let loader = ConfigurationLoader(
            inputs(
                ["--config", "/c", "--threads", "3"], environment: ["ENTITLED_WORKERS": "2"],
                files: ["/c": Array("{\n data: '/d' }".utf8)]))
        let lines = ConfigurationListing.text(of: loader.resolved, file: "/c")
            .split(separator: "\n").map(String.init)
        #expect(lines.first == "// configuration file: \"/c\"")
        #expect(lines.contains("    data: \"/d\", // /c:2"))
        #expect(lines.contains("    threads: 3, // flag --threads"))
        #expect(lines.contains("    workers: 2, // environment ENTITLED_WORKERS"))
        #expect(lines.contains("    spinUs: 0, // default"))
    }

    @Test func `a secret's file is named and its content is not read`() {
        let loader = ConfigurationLoader(
            inputs(
                ["--v1-shared-secret-file", "/s"],
                unreadable: ["/s": .other("must not be read")]))
        let text = ConfigurationListing.text(of: loader.resolved, file: nil)
        #expect(text.contains("v1SharedSecretFile: \"/s\", // flag --v1-shared-secret-file"))
        #expect(text.contains("***"))
        #expect(text.hasPrefix("// configuration file: none\n"))
    }
}
