import FoundationEssentials
import Testing

@testable import entitled

@Suite struct ConfigurationReferenceTests {
    private let article =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/") + "/Sources/entitled/Documentation.docc/Configuration.md"

    /// With UPDATE_REFERENCE=1 in the environment the article is written instead.
    @Test func `the article about the settings says what the table says`() throws {
        if ProcessInfo.processInfo.environment["UPDATE_REFERENCE"] == "1" {
            try Data(ConfigurationReference.text.utf8).write(to: URL(filePath: article))
        }
        let bytes = try SystemCalls.readFile(article, byteCountMax: 1 << 20)
        #expect(String(decoding: bytes, as: UTF8.self) == ConfigurationReference.text)
    }

    @Test(arguments: SettingTable.all.map(\.key))
    func `every setting has its row`(key: SettingKey) {
        let setting = SettingTable[key]
        let name = key == .config ? "`--config`" : "`\(key.rawValue)`"
        let rows = ConfigurationReference.text.split(separator: "\n").filter {
            $0.hasPrefix("| ") && $0.contains(name)
        }
        #expect(rows.count == 1)
        #expect(rows.first?.contains(setting.help) == true)
    }
}

extension ConfigurationReferenceTests {
    @Test func `the example in the article is a configuration`() throws {
        let text = ConfigurationReference.text
        let block = try #require(
            text.split(separator: "```json5\n").last?.split(separator: "```").first)
        let loader = ConfigurationLoader(
            inputs(["--config", "/e/c.json5"], files: ["/e/c.json5": Array(block.utf8)]))
        let configuration = try loader.configuration()
        #expect(configuration.apps.count == 1)
        #expect(configuration.rootPaths == ["/e/AppleRootCA-G3.cer"])
        #expect(configuration.listenAddresses.count == 2)
    }
}
