/// The filters of Get Transaction History.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/get-v2-history-_transactionid_
struct StandInFilter {
    /// Why a query is not accepted.
    struct Refusal: Error {
        var code: Int64
        var message: String
    }

    private static let productTypes = [
        "AUTO_RENEWABLE": "Auto-Renewable Subscription",
        "NON_RENEWABLE": "Non-Renewing Subscription", "CONSUMABLE": "Consumable",
        "NON_CONSUMABLE": "Non-Consumable",
    ]

    private var productIDs: [String] = []
    private var productTypes: [String] = []
    private var groups: [String] = []
    private var ownership: String?
    private var isRevoked: Bool?
    private var dates = Int64.min..<Int64.max
    private(set) var isDescending = false
    /// The place in the order of changes that the caller has read up to.
    private(set) var lastChangeNumber: Int?

    /// Reads a query.
    static func reading(_ route: StandInRoute) -> Result<StandInFilter, Refusal> {
        Result { () throws(Refusal) in try StandInFilter(route) }
    }

    private init(_ route: StandInRoute) throws(Refusal) {
        func one(_ name: String) -> String? { route.values(name).first }
        productIDs = route.values("productId")
        groups = route.values("subscriptionGroupIdentifier")
        ownership = one("inAppOwnershipType")
        for name in route.values("productType") {
            guard let type = Self.productTypes[name] else {
                throw Refusal(code: 4_000_022, message: "Invalid product type.")
            }
            productTypes.append(type)
        }
        if let text = one("revoked") {
            guard text == "true" || text == "false" else {
                throw Refusal(code: 4_000_030, message: "Invalid revoked.")
            }
            isRevoked = text == "true"
        }
        if let text = one("sort") {
            guard text == "ASCENDING" || text == "DESCENDING" else {
                throw Refusal(code: 4_000_021, message: "Invalid sort.")
            }
            isDescending = text == "DESCENDING"
        }
        try readDates(start: one("startDate"), end: one("endDate"))
        if let text = one("revision") {
            guard let number = Self.number(text) else {
                throw Refusal(code: 4_000_005, message: "Invalid request revision.")
            }
            lastChangeNumber = number
        }
    }

    private mutating func readDates(start: String?, end: String?) throws(Refusal) {
        let from = start.map { Int64($0) } ?? .min
        let to = end.map { Int64($0) } ?? .max
        guard let from else { throw Refusal(code: 4_000_015, message: "Invalid start date.") }
        guard let to else { throw Refusal(code: 4_000_016, message: "Invalid end date.") }
        guard from < to else {
            throw Refusal(code: 4_000_013, message: "The start date is after the end date.")
        }
        dates = from..<to
    }

    /// Whether a purchase is among what was asked for.
    func accepts(_ purchase: StandInPurchase) -> Bool {
        let claims = purchase.claims
        func isWanted(_ name: String, _ values: [String]) -> Bool {
            values.isEmpty || claims.string(name).map(values.contains) == true
        }
        return isWanted("productId", productIDs) && isWanted("type", productTypes)
            && isWanted("subscriptionGroupIdentifier", groups)
            && isWanted("inAppOwnershipType", ownership.map { [$0] } ?? [])
            && isRevoked.map { $0 == (claims["revocationDate"] != nil) } ?? true
            && dates.contains(claims.integer("purchaseDate") ?? 0)
    }

    /// A revision: opaque to those who get it.
    static func revision(_ number: Int) -> String { "\(number)_standin" }

    /// The number in a revision; nil when the text is none.
    static func number(_ revision: String) -> Int? {
        revision.hasSuffix("_standin") ? Int(revision.dropLast("_standin".count)) : nil
    }
}
