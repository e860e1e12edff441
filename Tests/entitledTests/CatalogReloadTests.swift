import Entitlements
import OpenSSL
import Testing

@testable import entitled

@Suite struct CatalogReloadTests {
    private let root: [UInt8]

    init() throws { root = try testRoot().der }

    private func loaded(_ apps: String, _ more: String = "") throws -> LoadedConfiguration {
        let file = "{ apps: [\(apps)], apple: { roots: ['r'], allowTestRoot: true }, \(more) }"
        let inputs = inputs(
            ["--config", "/c"], files: ["/c": Array(file.utf8), "/r": root])
        return try LoadedConfiguration(ConfigurationLoader(inputs), inputs: inputs)
    }

    private func reload(
        _ new: LoadedConfiguration, from start: LoadedConfiguration
    ) -> CatalogReload {
        CatalogReload(
            of: new, start: start, current: CatalogReload.catalogs(of: start.configuration))
    }

    private static let app = "bundleId: 'a', appAppleId: 1"

    @Test func `the same again changes nothing`() throws {
        let start = try loaded("{ \(Self.app), products: { p: { duration: '1d' } } }")
        let reload = reload(start, from: start)
        #expect(!reload.hasChanged && reload.keysThatWait.isEmpty)
    }

    @Test(arguments: [
        "p: { duration: '2d' }", "p: { duration: '1d', entitlements: ['plus'] }", "",
        "p: { duration: '1d', unitCost: 1 }", "p: { duration: '1d' }, q: {}",
        "p: { duration: '1d', refunds: { prorated: 'keep' } }",
    ])
    func `whatever is said of products applies at once`(products: String) throws {
        let start = try loaded("{ \(Self.app), products: { p: { duration: '1d' } } }")
        let new = try loaded("{ \(Self.app), products: { \(products) } }")
        let reload = reload(new, from: start)
        #expect(reload.hasChanged && reload.keysThatWait.isEmpty)
        #expect(reload.catalogs["a"] == new.configuration.apps[0].catalog)
    }

    @Test func `how families are cut applies at once`() throws {
        let start = try loaded("{ \(Self.app) }")
        let new = try loaded("{ \(Self.app) }", "family: { cut: 'off' }, log: { level: 'debug' }")
        let reload = reload(new, from: start)
        #expect(reload.hasChanged && reload.keysThatWait.isEmpty)
        #expect(reload.catalogs["a"]?.defaultPolicy.familyCut == .off)
    }

    @Test(arguments: [
        "{ bundleId: 'a', appAppleId: 2 }",
        "{ bundleId: 'a', appAppleId: 1, environments: ['Sandbox'] }",
        "{ bundleId: 'a', appAppleId: 1 }, { bundleId: 'b', appAppleId: 2 }",
        "{ bundleId: 'b', appAppleId: 1 }",
    ])
    func `another app or environment waits for a restart`(apps: String) throws {
        let start = try loaded("{ \(Self.app) }")
        let reload = reload(try loaded(apps), from: start)
        #expect(reload.keysThatWait == ["apps"])
        #expect(Array(reload.catalogs.keys) == ["a"])
    }

    @Test func `an app that is gone from the file keeps its catalog`() throws {
        let start = try loaded("{ \(Self.app), products: { p: { duration: '1d' } } }")
        let reload = reload(try loaded("{ bundleId: 'b', appAppleId: 2 }"), from: start)
        #expect(!reload.hasChanged)
        #expect(reload.catalogs["a"]?.policy(for: "p").duration == 86_400_000)
    }

    @Test func `everything else waits and is named`() throws {
        let start = try loaded("{ \(Self.app) }")
        let new = try loaded("{ \(Self.app) }", "threads: 3, metering: false, http: '[::1]:0'")
        #expect(reload(new, from: start).keysThatWait == ["http", "metering", "threads"])
    }

    @Test func `another key applies at once, a first one waits`() throws {
        let api = "api: { issuerId: 'i', keyId: 'KEY', keyFile: 'k' }"
        func loaded(_ api: String) throws -> LoadedConfiguration {
            let file =
                "{ apps: [{ \(Self.app) }], apple: { roots: ['r'], allowTestRoot: true, \(api) } }"
            let inputs = inputs(
                ["--config", "/c"],
                files: [
                    "/c": Array(file.utf8), "/r": root,
                    "/k": try SigningKey(generatedOn: .p256).pem(),
                ])
            return try LoadedConfiguration(ConfigurationLoader(inputs), inputs: inputs)
        }
        let start = try loaded(api)
        let other = try loaded(api.replacing("KEY", with: "OTHER"))
        #expect(reload(other, from: start).keysThatWait.isEmpty)
        #expect(
            reload(start, from: try loaded("")).keysThatWait == [
                "apple.api.issuerId", "apple.api.keyFile", "apple.api.keyId",
            ])
    }

    @Test(
        arguments: [
            ("/v1", "apple.v1SharedSecretFile"), ("/ca", "apple.api.caFile"),
            ("/r", "apple.roots"),
        ])
    func `a file with another content in its old place waits and is named`(
        path: String, key: String
    ) throws {
        let file = """
            { apps: [{ \(Self.app) }], http: '[::1]:0', httpTls: { cert: 'crt', key: 'key' },
              apple: { roots: ['r'], allowTestRoot: true, v1SharedSecretFile: 'v1',
                api: { issuerId: 'i', keyId: 'k', keyFile: 'p8', caFile: 'ca' } } }
            """
        let pem = Array("-----BEGIN X-----".utf8)
        let content: [String: [UInt8]] = [
            "/c": Array(file.utf8), "/r": root, "/crt": pem, "/key": pem, "/ca": pem,
            "/v1": Array("secret".utf8), "/p8": try SigningKey(generatedOn: .p256).pem(),
        ]
        func loaded(_ content: [String: [UInt8]]) throws -> LoadedConfiguration {
            let inputs = inputs(["--config", "/c"], files: content)
            return try LoadedConfiguration(ConfigurationLoader(inputs), inputs: inputs)
        }
        let start = try loaded(content)
        #expect(reload(try loaded(content), from: start).keysThatWait.isEmpty)
        var other = content
        other[path] = path == "/r" ? try testRoot().der : (content[path] ?? []) + [0x21]
        // Another certificate is shown at once.
        other["/crt"] = pem + [0x21]
        #expect(reload(try loaded(other), from: start).keysThatWait == [key])
    }
}
