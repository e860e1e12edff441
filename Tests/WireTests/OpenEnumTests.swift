import Testing
import Wire

@Suite struct OpenEnumTests {
    @Test func `values are known by the names of the contract`() {
        #expect(Message.Status.unauthenticated.rawValue == 16)
        #expect(Message.Status.unauthenticated.name == "UNAUTHENTICATED")
        #expect(Message.Reason.familyLeft.description == "FAMILY_LEFT")
        #expect(Message.Reason(rawValue: 3).name == nil)
        #expect(Message.Source(rawValue: -4).description == "-4")
    }

    @Test(
        arguments: [
            ("Status", Message.Status.names), ("Environment", Message.Environment.names),
            ("Ownership", Message.Ownership.names), ("Reason", Message.Reason.names),
            ("Disposition", Message.Disposition.names), ("Source", Message.Source.names),
            ("Confidence", Message.Confidence.names),
        ])
    func `the names are those of the proto file`(name: String, names: [Int32: String]) throws {
        let lines = try ProtoFile.lines()
        let start = try #require(lines.firstIndex(of: "enum \(name) {"))
        var found: [Int32: String] = [:]
        for line in lines[(start + 1)...].prefix(while: { $0 != "}" }) {
            let parts = line.split(whereSeparator: { " =;".contains($0) })
            guard parts.count == 2, let number = Int32(parts[1]) else { continue }
            #expect(parts[0].hasPrefix("\(name.uppercased())_"))
            found[number] = String(parts[0].dropFirst(name.count + 1))
        }
        #expect(found == names)
    }
}
