import Testing

@testable import entitled

@Suite struct ConfigurationLoaderTests {
    private let standard = SettingTable.configurationFile

    @Test func `the standard file is read when it exists`() {
        let loader = ConfigurationLoader(
            inputs(files: [standard: Array("{ data: '/from/file' }".utf8)]))
        #expect(loader.problems.isEmpty)
        #expect(loader.file?.path == standard)
        #expect(loader.resolved.settings[.data]?.values == [.text("/from/file")])
    }

    @Test func `nothing is wrong when the standard file does not exist`() {
        let loader = ConfigurationLoader(inputs())
        #expect(loader.problems.isEmpty)
        #expect(loader.file == nil)
    }

    @Test func `a file that was asked for has to exist`() {
        for asked in [
            inputs(["--config", "/x"]), inputs(environment: ["ENTITLED_CONFIG": "/x"]),
        ] {
            #expect(
                ConfigurationLoader(asked).problems == [
                    ConfigurationProblem("the configuration file `/x`: there is no such file")
                ])
        }
        #expect(ConfigurationLoader(inputs(["--config", standard])).problems.count == 1)
    }

    @Test func `a standard file that cannot be read is refused`() {
        let loader = ConfigurationLoader(inputs(unreadable: [standard: .noPermission]))
        #expect(
            loader.problems == [
                ConfigurationProblem(
                    "the configuration file `\(standard)`: this process may not read it")
            ])
    }

    @Test func `the flag's file wins over the environment's, an empty one is not set`() {
        let files = ["/a": Array("{}".utf8), "/b": Array("{}".utf8)]
        let environment = ["ENTITLED_CONFIG": "/b"]
        #expect(
            ConfigurationLoader(inputs(["--config", "/a"], environment: environment, files: files))
                .file?.path == "/a")
        #expect(
            ConfigurationLoader(inputs(["--config="], environment: environment, files: files))
                .file?.path == "/b")
    }

    @Test func `a credential is found only where one is`() {
        let path = "/run/credentials/v1-shared-secret"
        let environment = ["CREDENTIALS_DIRECTORY": "/run/credentials"]
        let with = ConfigurationLoader(inputs(environment: environment, files: [path: []]))
        #expect(with.resolved.settings[.v1SharedSecretFile]?.values == [.text(path)])
        let without = ConfigurationLoader(inputs(environment: environment))
        #expect(without.resolved.settings[.v1SharedSecretFile] == nil)
    }

    @Test func `all sources' problems come together, and the command line's decide the code`()
        throws
    {
        let loader = ConfigurationLoader(
            inputs(
                ["--dta", "x", "--config", "/c"], environment: ["ENTITLED_LISTE": "y"],
                files: ["/c": Array("{ thread: 1 }".utf8)]))
        let failure = try #require(throws: ConfigurationFailure.self) {
            try loader.configuration()
        }
        #expect(failure.problems.count == 3)
        #expect(failure.exitCode == .usage)
        let file = ConfigurationLoader(
            inputs(["--config", "/c"], files: ["/c": Array("{ thread: 1 }".utf8)]))
        let fileFailure = try #require(throws: ConfigurationFailure.self) {
            try file.configuration()
        }
        #expect(fileFailure.exitCode == .configuration)
    }
}
