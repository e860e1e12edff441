import Testing

@testable import Authorization

@Suite struct KeyRecordTests {
    static let digest = String(repeating: "ab", count: 32)

    private func failure(_ line: String) -> String? {
        do throws(KeyLine.Failure) {
            _ = try KeyRecord(line: line)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `a record comes back as it was written`() throws {
        var record = KeyRecord(
            id: "k-1", name: "back\"end \u{E9}", credential: .key(KeyText.digest(of: "x")),
            roles: [.check, .ingest],
            apps: [KeyApp(bundleID: "com.a"), KeyApp(bundleID: "com.b", environment: 2)])
        record.created = 1_796_126_400_000
        record.expires = 1_796_126_401_000
        record.isRevoked = true
        #expect(try KeyRecord(line: record.line) == record)
        let certificate = KeyRecord(
            id: "c", name: "c", credential: .certificate("dns:b.example"), roles: [.admin])
        #expect(try KeyRecord(line: certificate.line) == certificate)
        #expect(certificate.line.contains("\"created\":0,\"expires\":0,\"revoked\":false"))
    }

    @Test func `what may be left out means nothing`() throws {
        let record = try KeyRecord(
            line: #"{"id":"a","name":"b","roles":["check"],"sha256":"\#(Self.digest)"}"#)
        #expect(record.apps.isEmpty && record.expires == 0 && !record.isRevoked)
    }

    @Test(arguments: [
        (#""roles":["check"],"name":"b""#, "`id` is missing"),
        (#""id":"a","roles":["check"]"#, "`name` is missing"),
        (#""id":"a","name":"b""#, "`roles` is missing"),
        (#""id":"a","name":"b","roles":[]"#, "no role"),
        (#""id":"a","name":"b","roles":["root"]"#, "`root` is none of"),
        (#""id":"a","name":"b","roles":"check""#, "no list"),
        (#""id":"a_b","name":"b","roles":["check"]"#, "`id` is not"),
        (#""id":"A","name":"b","roles":["check"]"#, "`id` is not"),
        (#""id":"","name":"b","roles":["check"]"#, "`id` is not"),
        (#""id":7,"name":"b","roles":["check"]"#, "no string"),
        (#""id":"a","name":"","roles":["check"]"#, "`name` is not"),
        (#""id":"a","name":"b","roles":["check"],"expire":0"#, "`expire` is not known"),
        (#""id":"a","name":"b","roles":["check"],"expires":1"#, "neither 0 nor a time"),
        (#""id":"a","name":"b","roles":["check"],"expires":"2027-03-01""#, "neither 0 nor"),
        (#""id":"a","name":"b","roles":["check"],"revoked":1"#, "neither true nor false"),
        (#""id":"a","name":"b","roles":["check"],"apps":[""]"#, "no bundle id"),
        (#""id":"a","name":"b","roles":["check"],"apps":["x:sandbox"]"#, "no bundle id"),
        (#""id":"a","name":"b","roles":["check"],"apps":["x:Sandbox:Sandbox"]"#, "no bundle"),
        (#""id":"a","name":"b","roles":["metrics"],"apps":["x"]"#, "metrics are those of all"),
        (#""id":"a","name":"b","roles":["check"],"certificate":"dns:x""#, "either"),
    ])
    func `a wrong record is refused by what is wrong`(members: String, message: String) throws {
        let found = try #require(failure("{\(members),\"sha256\":\"\(Self.digest)\"}"))
        #expect(found.contains(message))
    }

    @Test(arguments: ["", "ab", String(repeating: "g", count: 64), digest + "0"])
    func `a digest has 64 hexadecimal digits`(digest: String) {
        let line = #"{"id":"a","name":"b","roles":["check"],"sha256":"\#(digest)"}"#
        #expect(failure(line)?.contains("sha256") == true)
    }

    @Test(arguments: ["", "dns:", "backend.example", "DNS:x", "ip:1.2.3.4"])
    func `a certificate is named as the transport names it`(name: String) {
        let line = #"{"id":"a","name":"b","roles":["check"],"certificate":"\#(name)"}"#
        #expect(failure(line)?.contains("certificate") == true)
    }

    @Test func `neither a key nor a certificate is no record`() {
        #expect(failure(#"{"id":"a","name":"b","roles":["check"]}"#)?.contains("either") == true)
    }
}
