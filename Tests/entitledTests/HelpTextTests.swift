import Testing

@testable import entitled

@Suite struct HelpTextTests {
    @Test(arguments: SettingTable.all.map(\.key))
    func `every setting stands in the help`(key: SettingKey) {
        let setting = SettingTable[key]
        let isListed = HelpText.text.split(separator: "\n").contains { line in
            setting.flag.map { line == "  --\($0)" || line.hasPrefix("  --\($0) ") }
                ?? line.hasPrefix("  \(key.rawValue)")
        }
        #expect(isListed)
    }

    @Test func `lines fit a terminal`() {
        #expect(HelpText.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
