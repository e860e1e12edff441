import AppStore
import Bytes
import OpenSSL
import TestSupport

/// JWS that are not what an authority signed: only those are taken whose signed bytes are the same.
enum SignatureFuzz {
    /// One byte chooses: the text itself, patches of a good one, or the text of a header under
    /// which a good payload is signed. In a header the bytes 1 to 3 stand for the certificates.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let kind = script.choice(of: 3)
        let desk = try SigningDesk.shared.get()
        switch kind {
        case 0:
            let jws = desk.fill(script.remainder())
            guard isTaken(jws, desk) else { return }
            try expect(
                [desk.transaction, desk.renewal, desk.appTransaction].contains(jws),
                "a text that nobody signed is taken")
        case 1:
            let jws = script.patched(desk.transaction)
            guard isTaken(jws, desk) else { return }
            try expect(signed(jws) == signed(desk.transaction), "patched bytes are taken")
        default: try fuzzHeader(script.remainder(), desk)
        }
    }

    private static func isTaken(_ jws: [UInt8], _ desk: SigningDesk) -> Bool {
        _ = try? desk.verifier.verifyNotification(jws)
        _ = StoredNotification(body: jws)
        return (try? desk.verifier.verifyTransaction(jws)) != nil
            || (try? desk.verifier.verifyRenewal(jws)) != nil
            || (try? desk.verifier.verifyAppTransaction(jws)) != nil
    }

    /// All but the signature, of which there may be two for the same bytes.
    private static func signed(_ jws: [UInt8]) -> [UInt8] {
        Array(jws[..<(jws.lastIndex(of: UInt8(ascii: ".")) ?? 0)])
    }

    private static func fuzzHeader(_ text: [UInt8], _ desk: SigningDesk) throws {
        let authority = desk.fixtures.authority
        let certificates = [authority.leaf, authority.intermediate, authority.root]
            .map { Base64.encode($0.der.span) }
        let dot = [UInt8(ascii: ".")]
        let parts = desk.transaction.split(separator: UInt8(ascii: "."))
        let input =
            Base64URL.encode(SigningDesk.fill(text, certificates).span) + dot + Array(parts[1])
        let signature = try authority.leafKey.signature(of: input.span)
        let jws = input + dot + Base64URL.encode(signature.span)
        guard isTaken(jws, desk) else { return }
        // Without the leaf and the intermediate there is nothing to take.
        try expect(text.contains(1) && text.contains(2), "a header without a chain is taken")
    }
}
