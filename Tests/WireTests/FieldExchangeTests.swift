import Testing
import Wire

/// A round trip cannot see two fields that are swapped both ways, nor one that is left out; these
/// tests read what is written by the .proto.
@Suite struct FieldExchangeTests {
    private let arena = MessageArena()

    @Test(arguments: ContractSamples.calls)
    func `every field of a call stands where the contract says`(call: Request.Call) throws {
        let body = try Oracle.body(Request(id: 1, call: call), arena)
        try compareMember(of: try #require(RawMessage(body)), "Request")
        #expect(try Request(decoding: body.span, in: arena).call == call)
        #expect(arena.isEmpty)
    }

    @Test(arguments: ContractSamples.results)
    func `every field of a result stands where the contract says`(result: Response.Result) throws {
        var output = OutputBuffer()
        try Response(id: 1, result: result).encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        try compareMember(of: try #require(RawMessage(body)), "Response")
        #expect(try Response(decoding: body.span, in: arena).result == result)
        #expect(arena.isEmpty)
    }

    @Test func `the samples hold every call and result of the contract`() throws {
        let contract = try ProtoFile.messages()
        let requests = try #require(contract["Request"]?.keys.filter { $0 >= 10 })
        let responses = try #require(contract["Response"]?.keys.filter { $0 >= 10 })
        #expect(requests.count == responses.count)
        #expect(requests.count == 8 + ContractSamples.calls.count)
        let sent = try (Samples.requests.map(\.call) + ContractSamples.calls).map { call in
            RawMessage(try Oracle.body(Request(id: 0, call: call), arena))?.fields.keys.max()
        }
        #expect(Set(sent) == Set(requests.map { $0 as UInt64? }))
    }

    @Test(arguments: ContractSamples.results)
    func `a result cut anywhere is refused or read, never read past its end`(
        result: Response.Result
    ) throws {
        var output = OutputBuffer()
        try Response(id: 1, result: result).encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        for count in 0..<body.count {
            // Exactly sized storage: a read past it is what the address sanitizer sees.
            let prefix = Array(body.prefix(count))
            _ = try? Response(decoding: prefix.span, in: arena)
        }
    }

    /// Compares the only member of an envelope's oneof.
    private func compareMember(of envelope: RawMessage, _ type: String) throws {
        let member = try #require(envelope.fields.keys.filter { $0 >= 10 }.first)
        let field = try #require(try ProtoFile.messages()[type]?[member])
        try compare(try #require(envelope.message(member)), field.type)
    }

    /// Every field of the contract is there, with its name as text or its number.
    private func compare(_ message: RawMessage, _ type: String) throws {
        let fields = try #require(try ProtoFile.messages()[type], "\(type) is no message")
        // Of a oneof one member is there.
        let expected = type == "CustomerRef" ? [1] : Set(fields.keys)
        #expect(Set(message.fields.keys) == expected, "\(type)")
        for (number, values) in message.fields {
            let field = try #require(fields[number], "\(type) has no field \(number)")
            let place = "\(type).\(field.name) = \(number)"
            #expect(values.count == 1, "\(place)")
            switch (values[0], field.type) {
            case (.bytes(let bytes), "string"):
                #expect(String(decoding: bytes, as: UTF8.self) == field.name, "\(place)")
            case (.number(let value), "bool"):
                #expect(value == 1, "\(place)")
            case (.number(let value), _):
                #expect(value == number, "\(place)")
            case (.bytes(let bytes), let inner):
                try compare(try #require(RawMessage(bytes), "\(place)"), inner)
            }
        }
    }
}
