import Entitlements
import Service
import Storage
import TestSupport
import Testing

extension ServiceFixture {
    /// What the app and Apple call somebody in a transaction.
    static func named(token: String, account: String) -> FixtureChanges {
        ["appAccountToken": .string(token), "appTransactionId": .string(account)]
    }

    func forgetCall(_ customer: CustomerReference, dryRun: Bool = false) -> WriteCall {
        .forget(ForgetRequest(customer: customer, isDryRun: dryRun, scope: scope))
    }

    @discardableResult
    func forget(_ customer: CustomerReference, dryRun: Bool = false) throws -> ForgetReply {
        guard
            case .forgotten(let reply) = try desk.perform(
                forgetCall(customer, dryRun: dryRun)
            ).get()
        else { throw UnexpectedReply() }
        return reply
    }

    func forgotten(_ number: UInt64) throws -> ForgetReply {
        let query = ForgottenQuery(number: number, scope: scope)
        guard case .forgotten(let reply) = try service.read(.forgotten(query)) else {
            throw UnexpectedReply()
        }
        return reply
    }

    /// The records in which one of these texts stands: as it is, in Base64URL at any of three
    /// offsets, or twice so.
    func traces(of texts: [String]) throws -> [String] {
        let needles = texts.flatMap { text in
            [Array(text.utf8)] + Self.encodings(Array(text.utf8))
                + Self.encodings(Array(text.utf8)).flatMap { Self.encodings($0) }
        }
        var found: [String] = []
        for (keyspace, records) in try records() {
            for (key, value) in records {
                let bytes = key + [0] + value
                if needles.contains(where: {
                    $0.count >= 4 && bytes.firstRange(of: $0) != nil
                }) {
                    found.append("\(keyspace) \(key)")
                }
            }
        }
        return found.sorted()
    }

    /// The whole characters of a text in Base64URL that no neighbour of it changes.
    private static func encodings(_ text: [UInt8]) -> [[UInt8]] {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        return (0..<3).map { offset in
            let start = (3 - offset) % 3
            let whole = text.dropFirst(start)
            return stride(from: 0, to: whole.count / 3 * 3, by: 3).flatMap { index in
                let base = whole.startIndex + index
                let number =
                    Int(whole[base]) << 16 | Int(whole[base + 1]) << 8 | Int(whole[base + 2])
                return [18, 12, 6, 0].map { alphabet[number >> $0 & 63] }
            }
        }
    }

    /// What the check of a stopped store finds, payloads packed as the server stores them.
    func checkFindings() throws -> [StoreFinding] {
        var findings: [StoreFinding] = []
        try StoreCheck(store.packed(), onFinding: { findings.append($0) }).run()
        return findings
    }

    /// The reason under a chain's name.
    func reason(
        chain: String, _ product: String = "p", at offset: Int64 = 5_000
    ) throws -> AccessReason {
        try desk.check(.originalTransaction(chain), product, at: Self.date(offset), in: scope)
            .reason
    }
}
