import AppStore
import Bytes
import Entitlements
import TestSupport

/// A test authority and what it signed: made once, because keys take milliseconds.
///
/// Keys are fresh in each process, so an input never holds a signature: a byte in it stands for
/// what is signed, and `fill` puts it there.
struct SigningDesk: Sendable {
    /// The desk, or why there is none.
    static let shared = Result { try SigningDesk() }

    let fixtures: SignedFixtures
    let verifier: SignedDataVerifier
    let transaction: [UInt8]
    let renewal: [UInt8]
    let appTransaction: [UInt8]

    private init() throws {
        let now: Int64 = 1_772_323_200_000
        fixtures = SignedFixtures(authority: try TestCertificateAuthority())
        verifier = try fixtures.verifier(environments: [.production, .sandbox])
        transaction = try fixtures.transaction(
            "1", product: "p", purchased: now, expires: now + 1_000)
        renewal = try fixtures.renewal("1", product: "p", renewal: now, signed: now)
        appTransaction = try fixtures.appTransaction("2", created: now)
    }

    /// Replaces the bytes 1, 2 and 3 by a signed transaction, renewal info and app transaction.
    func fill(_ text: [UInt8]) -> [UInt8] {
        Self.fill(text, [transaction, renewal, appTransaction])
    }

    /// Replaces the bytes from 1 on by `values`, each at most four times: a text does not explode.
    static func fill(_ text: [UInt8], _ values: [[UInt8]]) -> [UInt8] {
        var filled: [UInt8] = []
        var left = 4
        for byte in text {
            if byte >= 1, Int(byte) <= values.count, left > 0 {
                filled += values[Int(byte) - 1]
                left -= 1
            } else {
                filled.append(byte)
            }
        }
        return filled
    }
}
