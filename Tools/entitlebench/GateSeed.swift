internal import EventLoop
internal import OpenSSL
internal import TestSupport
internal import ToolSupport
internal import Wire

/// The customers that a gate asks about: each has one subscription, told by one signed
/// notification, and two names.
struct GateSeed: Sendable {
    /// How many there are.
    static let customerCount = 1_152
    static let bundleID = "com.example.meadow"
    static let appAppleID: Int64 = 1_600_000_001

    /// What the server has to trust, PEM.
    let rootPEM: [UInt8]
    private let notifications: [[UInt8]]

    /// Signs everything: three signatures each, about half a second.
    ///
    /// - Throws: `CommandFailure` when the library refuses.
    init(nowMilliseconds: Int64) throws(CommandFailure) {
        do throws(OpenSSLError) {
            let authority = try TestCertificateAuthority(name: "Gate")
            rootPEM = authority.root.pem
            let desk = SignedFixtures(
                authority: authority, bundleID: Self.bundleID, appAppleID: Self.appAppleID)
            var notifications: [[UInt8]] = []
            for index in 0..<Self.customerCount {
                notifications.append(
                    try Self.notification(of: index, desk, nowMilliseconds))
            }
            self.notifications = notifications
        } catch {
            throw CommandFailure(.failed, "a notification cannot be signed: \(error)")
        }
    }

    private static let product = "com.example.meadow.plus.month"

    private static func notification(
        of index: Int, _ desk: SignedFixtures, _ now: Int64
    ) throws(OpenSSLError) -> [UInt8] {
        let bought = now - 3_600_000
        let end = now + 30 * 86_400_000
        let id = transactionID(of: index)
        let transaction = try desk.transaction(
            id, product: product, purchased: bought, expires: end,
            changes: ["appAccountToken": .string(token(of: index))])
        let renewal = try desk.renewal(id, product: product, renewal: end, signed: bought + 3_000)
        return SignedFixtures.body(
            try desk.notification(
                "SUBSCRIBED", subtype: "INITIAL_BUY", uuid: uuid(of: index, group: "a"),
                signed: bought + 5_000,
                data: desk.notificationData(
                    transaction: transaction, renewal: renewal, status: 1)))
    }

    private static func transactionID(of index: Int) -> String {
        "\(2_000_000_000_000_000 + index)"
    }

    private static func token(of index: Int) -> String { uuid(of: index, group: "b") }

    private static func uuid(of index: Int, group: Character) -> String {
        let digits = String(1_000_000_000_000 + index).dropFirst()
        return "00000000-0000-4000-\(group)000-\(digits)"
    }

    /// 40 bytes, as long as a name may well be.
    private static func name(of index: Int) -> String {
        "customer-" + String(repeating: "0", count: 25) + String(1_000_000 + index).dropFirst()
    }
}

// MARK: - Calls, and what is right

extension GateSeed {
    /// Hands in the notification of a customer.
    func ingest(_ index: Int) -> Request.Call {
        .ingestNotification(.init(payload: notifications[index % Self.customerCount]))
    }

    /// Whether it was new.
    static func isApplied(_ response: Response) -> Bool {
        guard response.status == .ok, case .ingestNotification(let result)? = response.result
        else { return false }
        return result.disposition == .applied
    }

    /// Says by which name the backend knows a customer.
    static func link(_ index: Int) -> Request.Call {
        var link = Message.LinkCustomerRequest()
        link.customerID = Text(name(of: index))
        link.identity = .appAccountToken(Text(token(of: index)))
        return .linkCustomer(link)
    }

    /// Asks about a customer by the backend's name. They come in no order that memory would like.
    static func check(_ number: Int) -> Request.Call {
        check(.customerID(Text(name(of: customer(of: number)))))
    }

    /// As `check`, by the app's token.
    static func tokenCheck(_ number: Int) -> Request.Call {
        check(.appAccountToken(Text(token(of: customer(of: number)))))
    }

    private static func check(_ reference: Message.CustomerRef) -> Request.Call {
        .checkAccess(.init(customer: reference, subject: .product(Text(product))))
    }

    /// Whether the subscription grants, and no other one.
    static func isGranted(_ number: Int, _ response: Response) -> Bool {
        guard response.status == .ok, case .checkAccess(let answer)? = response.result else {
            return false
        }
        return answer.granted && answer.productID == Text(product)
            && answer.transactionID == Text(transactionID(of: customer(of: number)))
    }

    private static func customer(of number: Int) -> Int { number &* 7_919 % customerCount }
}
