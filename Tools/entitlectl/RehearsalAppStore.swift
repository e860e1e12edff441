internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// The App Store of the drill, at an address of this machine: what Apple knows of everybody, and
/// the key with which the server may ask.
struct RehearsalAppStore: Sendable {
    private static let issuerID = "0f0e0d0c-0b0a-4908-8706-050403020100"
    private static let keyID = "DRILLKEY01"

    /// What is played; it is changed while the server asks.
    let appStore: StandInAppStore
    private let server: StandInAppStoreServer
    private let delivery: StandInDelivery
    private let keyFile: [UInt8]
    private let desk: SigningDesk

    /// Opens it: it signs as `desk` does, and nobody has bought anything.
    ///
    /// - Throws: `CommandFailure` when the system refuses.
    init(_ desk: SigningDesk) throws(CommandFailure) {
        self.desk = desk
        do {
            let made = try StandInAppStore.Key.made(issuerID: Self.issuerID, keyID: Self.keyID)
            keyFile = made.file
            appStore = StandInAppStore(
                bundleID: desk.bundleID, appAppleID: desk.appAppleID, authority: desk.authority,
                keys: [made.key], clock: { SystemCalls.nowMilliseconds })
            server = try StandInAppStoreServer(appStore)
            delivery = try StandInDelivery()
        } catch {
            throw CommandFailure(.failed, "no stand-in for the App Store can be opened: \(error)")
        }
    }

    /// Closes it.
    func close() { server.stop() }

    /// The flags of a server that asks here. The files that they name are written.
    ///
    /// - Parameters:
    ///   - directory: Where the key and the certificate go.
    ///   - sweepInterval: How often family copies are looked at; `0s`: never.
    /// - Returns: Flags and their values.
    /// - Throws: `CommandFailure` when a file cannot be written.
    func flags(
        in directory: String, sweepInterval: String
    ) throws(CommandFailure) -> [String] {
        let (key, authority) = (directory + "/apple.p8", directory + "/apple-tls.pem")
        try SystemCalls.writeFile(key, keyFile)
        try SystemCalls.writeFile(authority, server.rootPEM)
        return [
            "--apple-api-issuer-id", Self.issuerID, "--apple-api-key-id", Self.keyID,
            "--apple-api-key-file", key, "--apple-api-ca-file", authority,
            "--apple-api-base-url", server.productionURL,
            "--apple-api-sandbox-base-url", server.sandboxURL,
            "--apple-api-sweep-interval", sweepInterval,
        ]
    }

    /// From here on Apple's history says this of a purchase.
    func note(_ purchase: Purchase, revoked: RevocationClaims? = nil) {
        appStore.account(purchase.owner.appTransactionID).add(
            desk.claims(of: purchase, signed: 0, revoked: revoked))
    }

    /// Fills the history of a person with `count` old purchases that give access to nothing.
    func fill(_ person: Person, _ count: Int) {
        let account = appStore.account(person.appTransactionID)
        for _ in 0..<count {
            let id = Cast.number()
            let old = Purchase(
                owner: person, product: .lifetime, isShared: false, transactionID: id,
                purchasedMilliseconds: SystemCalls.nowMilliseconds - 300 * 86_400_000)
            account.add(
                desk.claims(of: old, signed: 0).changed([
                    "productId": "meadow.seeds", "type": "Consumable",
                ]))
        }
    }

    /// Posts a notification to the server, as Apple does.
    ///
    /// - Returns: `200 APPLIED`, `400 UNTRUSTED_CHAIN`: the status, and the word of the answer.
    /// - Throws: `CommandFailure` when nobody answers.
    func post(_ body: [UInt8], to url: String) throws(CommandFailure) -> String {
        do {
            let answer = try delivery.post(body, to: url)
            let words = answer.text.split(separator: "\"").map(String.init)
            let word = words.firstIndex { ["disposition", "reason"].contains($0) }
                .flatMap { words.count > $0 + 2 ? words[$0 + 2] : nil }
            return "\(answer.status)" + (word.map { " \($0)" } ?? "")
        } catch {
            throw CommandFailure(.unavailable, "\(url): \(error)")
        }
    }
}
