internal import AppStore
internal import Bytes
internal import HTTP
internal import OpenSSL

/// A notification that Apple sent, or tried to.
struct StandInNotification {
    var environment: StandInEnvironment
    var signedPayload: [UInt8]
    var type: String
    var subtype: String
    /// Of the transaction in it; empty without one.
    var transactionID: String
    var sentAt: Int64
    var attempts: [(at: Int64, result: String)]

    var hasArrived: Bool { attempts.contains { $0.result == "SUCCESS" } }
}

extension StandInAppStore {
    /// The result of an attempt that reached the app's server.
    package static let success = "SUCCESS"

    /// Writes a notification into Apple's history, as one that was sent.
    ///
    /// - Parameters:
    ///   - signedPayload: The outer compact JWS; its claims say type and transaction.
    ///   - environment: The world of its history.
    ///   - instant: When it was sent, milliseconds since 1970; nil: its signedDate.
    ///   - failed: Whether every attempt failed, so that the app's server never saw it.
    package func sent(
        _ signedPayload: [UInt8], in environment: StandInEnvironment = .production,
        at instant: Int64? = nil, failed: Bool = false
    ) {
        let claims = Self.claims(of: signedPayload)
        let sentAt = instant ?? claims?.integer("signedDate") ?? clock()
        let transaction = claims?.object("data")?.bytes("signedTransactionInfo")
            .flatMap(Self.claims)
        let notification = StandInNotification(
            environment: environment, signedPayload: signedPayload,
            type: claims?.string("notificationType") ?? "",
            subtype: claims?.string("subtype") ?? "",
            transactionID: transaction?.text("transactionId") ?? "", sentAt: sentAt,
            attempts: [(sentAt, failed ? "NO_RESPONSE" : Self.success)])
        withState { $0.notifications.append(notification) }
    }

    /// Sends a notification to the app's server and writes it into the history with the result.
    ///
    /// - Parameters:
    ///   - signedPayload: The outer compact JWS.
    ///   - environment: The world of its history.
    ///   - deliver: POSTs the body; true: it was answered 200 to 206.
    package func send(
        _ signedPayload: [UInt8], in environment: StandInEnvironment = .production,
        deliver: (_ body: [UInt8]) -> Bool
    ) {
        let hasArrived = deliver(SignedFixtures.body(signedPayload))
        sent(signedPayload, in: environment, at: clock(), failed: !hasArrived)
    }

    /// Whether App Store Connect has a URL to send notifications to.
    package func setHasNotificationURL(_ hasURL: Bool) {
        withState { $0.hasNotificationURL = hasURL }
    }

    private static func claims(of jws: [UInt8]) -> JSONObject? {
        let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3 else { return nil }
        let encoded = Array(segments[1])
        guard let text = try? Base64URL.decode(encoded.span) else { return nil }
        return try? JSONObject(text)
    }
}

// MARK: - Answers

extension StandInAppStore {
    /// Half a year: as far as Apple goes back.
    private static let reachMilliseconds: Int64 = 180 * 86_400_000

    func notificationHistory(_ route: StandInRoute, _ body: [UInt8]) -> HTTPResponse {
        guard let wanted = try? JSONObject(body) else {
            return .refusal(400, code: 4_000_000, "Bad request.")
        }
        guard let start = wanted.integer("startDate") else {
            return .refusal(400, code: 4_000_015, "Invalid start date.")
        }
        guard let end = wanted.integer("endDate") else {
            return .refusal(400, code: 4_000_016, "Invalid end date.")
        }
        guard start >= clock() - Self.reachMilliseconds else {
            return .refusal(400, code: 4_000_012, "The start date is too far in the past.")
        }
        guard start < end else {
            return .refusal(400, code: 4_000_013, "The start date is after the end date.")
        }
        guard wanted.value("transactionId") == nil || wanted.value("notificationType") == nil
        else { return .refusal(400, code: 4_000_019, "Multiple filters.") }
        // A token is good for the body that it was made for.
        let token = SHA256Digest(of: body.span).description.prefix(16)
        var offset = 0
        if let text = route.values("paginationToken").first {
            guard text.hasSuffix("-\(token)"), let number = Int(text.prefix { $0 != "-" }) else {
                return .refusal(400, code: 4_000_014, "Invalid pagination token.")
            }
            offset = number
        }
        let found = withState { $0.notifications }
            .filter { $0.environment == route.environment && start <= $0.sentAt && $0.sentAt < end }
            .filter { Self.isWanted($0, wanted) }
        let page = found.dropFirst(offset).prefix(Self.pageItemCount)
        let next = offset + page.count
        var answer: FixtureJSON = [
            "hasMore": .boolean(found.count > next),
            "notificationHistory": .array(page.map(Self.item)),
        ]
        if found.count > next { answer["paginationToken"] = .string("\(next)-\(token)") }
        return .json(answer)
    }

    private static func isWanted(_ sent: StandInNotification, _ wanted: JSONObject) -> Bool {
        if wanted.boolean("onlyFailures") == true, sent.hasArrived { return false }
        if let type = wanted.string("notificationType"), type != sent.type { return false }
        if let subtype = wanted.string("notificationSubtype"), subtype != sent.subtype {
            return false
        }
        return wanted.text("transactionId").map { $0 == sent.transactionID } ?? true
    }

    private static func item(_ sent: StandInNotification) -> FixtureJSON {
        [
            "signedPayload": .string(String(decoding: sent.signedPayload, as: UTF8.self)),
            "sendAttempts": .array(
                sent.attempts.map {
                    ["attemptDate": .integer($0.at), "sendAttemptResult": .string($0.result)]
                }),
        ]
    }

    func testNotification(_ route: StandInRoute) -> HTTPResponse {
        guard withState({ $0.hasNotificationURL }) else {
            return .refusal(404, code: 4_040_007, "No notification URL was found.")
        }
        let now = clock()
        let number = withState { $0.notifications.count }
        var data: FixtureJSON = [
            "bundleId": .string(bundleID), "bundleVersion": "1",
            "environment": .string(route.environment.rawValue),
        ]
        if route.environment == .production { data["appAppleId"] = .integer(appAppleID) }
        let claims: FixtureJSON = [
            "notificationType": "TEST", "version": "2.0", "signedDate": .integer(now),
            "notificationUUID": .string("00000000-0000-4000-8000-\(100_000_000_000 + number)"),
            "data": data,
        ]
        guard let jws = sign(claims) else {
            return .refusal(500, code: 5_000_000, "An unknown error occurred.")
        }
        sent(jws, in: route.environment, at: now)
        let token = "standin-\(number)_\(now)"
        withState { $0.testTokens[token] = number }
        return .json(["testNotificationToken": .string(token)])
    }

    func testNotificationStatus(_ route: StandInRoute) -> HTTPResponse {
        let sent = withState { state in
            state.testTokens[route.id].map { state.notifications[$0] }
        }
        guard let sent else {
            return .refusal(404, code: 4_040_008, "Test notification not found.")
        }
        return .json(Self.item(sent))
    }
}
