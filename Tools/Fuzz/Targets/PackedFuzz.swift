import Bytes
import Storage

/// Signed payloads as they are stored: whatever was put in comes out byte for byte, and what lies
/// in a damaged store is refused.
enum PackedFuzz {
    private static let header = Array(
        #"{"alg":"ES256","x5c":["MIIEMDCCA7agAwIBAgIQ","MIIDFjCCApygAwIBAgIUIsGhRwp0c2nvU4YSyca"]}"#
            .utf8)

    /// One byte chooses; the rest is what is stored, as bytes or as a text that is signed.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let kind = script.choice(of: 4)
        let bytes = script.remainder()
        switch kind {
        case 0: try unpack(bytes)
        case 1: try pack(bytes)
        case 2: try pack(jws(bytes, 64))
        default:
            // A JWS within a JWS, as in a notification, the bytes around the inner one.
            let middle = bytes.count / 2
            let inner = [UInt8(ascii: "\"")] + jws(Array(bytes[middle...]), 64)
            try pack(jws(bytes[..<middle] + inner + Array(bytes[..<middle]), bytes.count % 67))
        }
    }

    private static func jws(_ payload: [UInt8], _ signatureByteCount: Int) -> [UInt8] {
        let signature = [UInt8](repeating: 0xA5, count: signatureByteCount)
        let dot = [UInt8(ascii: ".")]
        return Base64URL.encode(header.span) + dot + Base64URL.encode(payload.span) + dot
            + Base64URL.encode(signature.span)
    }

    private static func pack(_ payload: [UInt8]) throws {
        let base = MemoryStore()
        let store = try PackingStore(base)
        let key = Key.payload(.transaction("1"), in: ScopeNumber(1))
        var changes = ChangeSet()
        changes.put(payload, for: key, in: .payloads)
        try store.commit(changes)
        try expect(
            try store.value(for: key, in: .payloads) == payload, "a payload changes on its way")
        let stored = try base.value(for: key, in: .payloads)
        try expect((stored?.count ?? .max) <= payload.count + 1, "packing makes a payload longer")
        try expect(
            try PackingStore(base).value(for: key, in: .payloads) == payload,
            "a payload is lost by a new start")
    }

    /// A value with one header in the store.
    private static func unpack(_ value: [UInt8]) throws {
        let base = MemoryStore()
        let number: [UInt8] = [0, 0, 0, 0]
        let key = Key.payload(.transaction("1"), in: ScopeNumber(1))
        var changes = ChangeSet()
        changes.put(Base64URL.encode(header.span), for: Key.payloadHeaders + number, in: .meta)
        changes.put(value, for: key, in: .payloads)
        try base.commit(changes)
        let store = try PackingStore(base)
        guard let payload = try? store.value(for: key, in: .payloads) else { return }
        try pack(payload)
    }
}
