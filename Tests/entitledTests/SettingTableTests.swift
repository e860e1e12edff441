import Testing

@testable import entitled

@Suite struct SettingTableTests {
    @Test(arguments: SettingKey.allCases)
    func `every key has one row`(key: SettingKey) {
        #expect(SettingTable.all.filter { $0.key == key }.count == 1)
        #expect(SettingTable[key].key == key)
    }

    @Test func `no two settings share a flag, and none takes an action's name`() {
        let names = CommandLineArguments.flagNames
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: SettingTable.all.map(\.key))
    func `defaults are values of their own settings`(key: SettingKey) throws {
        let setting = SettingTable[key]
        for text in setting.standard {
            #expect(throws: Never.self) { try setting.kind.parse(.text(text)) }
        }
        #expect(setting.isList || setting.standard.count <= 1)
        #expect(!setting.help.isEmpty)
    }

    @Test func `names follow the flag`() {
        #expect(SettingTable[.maxFrame].environmentName == "ENTITLED_LIMITS_MAX_FRAME")
        #expect(SettingTable[.productDuration].environmentName == nil)
    }

    @Test func `no flag takes a secret, only the file that holds it`() {
        for setting in SettingTable.all where setting.credential != nil {
            #expect(setting.kind == .path)
            #expect(setting.flag?.hasSuffix("-file") == true)
        }
    }
}
