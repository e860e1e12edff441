import Testing

@testable import entitled

@Suite struct ConfigurationTrialTests {
    private let file = Array(
        """
        {
          apps: [{ bundleId: 'com.example.meadow', environments: ['Sandbox'] }],
          apple: { roots: ['/etc/root.pem'] },
        }
        """.utf8)

    @Test func `what it lists, reads as the same`() {
        let trial = ConfigurationTrial(file: file)
        #expect(trial.problems.isEmpty)
        #expect(trial.listing.contains("com.example.meadow"))
        let once = ConfigurationTrial(file: Array(trial.listing.utf8))
        #expect(ConfigurationTrial(file: Array(once.listing.utf8)).listing == once.listing)
    }

    @Test func `every source is read, and what is wrong is said`() {
        let trial = ConfigurationTrial(
            file: file, arguments: ["--data", "/here"],
            environment: ["ENTITLED_LOG_LEVEL": "debug"])
        #expect(trial.listing.contains("/here"))
        #expect(trial.listing.contains("debug"))
        let broken = ConfigurationTrial(file: Array("{".utf8), arguments: ["--nonsense"])
        #expect(broken.listing.isEmpty)
        #expect(broken.problems.count > 1)
        #expect(!ConfigurationTrial(file: nil).problems.isEmpty)
    }

    /// A reader that counts lines from the start at each key, or looks at all products for each
    /// entry, takes minutes for this.
    @Test func `a large catalog is read, each key with its line`() throws {
        let products = (1...3_000).map {
            "  'com.example.\($0)': { unitCost: 0.02, duration: '1d' },"
        }
        let text =
            "{ apps: [{ bundleId: 'a', environments: ['Sandbox'], products: {\n"
            + products.joined(separator: "\n") + "\n}}], apple: { roots: ['/r'] } }"
        let trial = ConfigurationTrial(file: Array(text.utf8))
        #expect(trial.problems.isEmpty)
        let lines = trial.listing.split(separator: "\n")
        let last = try #require(lines.firstIndex { $0.contains("\"com.example.3000\": {") })
        #expect(lines[last + 1].contains(":3001"))
        #expect(lines[last + 2].contains(":3001"))
    }
}
