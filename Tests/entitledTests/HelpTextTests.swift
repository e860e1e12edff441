import Testing

@testable import entitled

@Suite struct HelpTextTests {
    @Test(arguments: SettingTable.all.map(\.key))
    func `every setting that works stands in the help, and no other`(key: SettingKey) {
        let setting = SettingTable[key]
        let isListed = HelpText.text.split(separator: "\n").contains { line in
            setting.flag.map { line == "  --\($0)" || line.hasPrefix("  --\($0) ") }
                ?? line.hasPrefix("  \(key.rawValue)")
        }
        #expect(isListed == (setting.refusal == nil))
    }

    @Test func `lines fit a terminal`() {
        #expect(HelpText.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
