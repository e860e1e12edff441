internal import EntitledClient
internal import FoundationEssentials
internal import ToolSupport

/// Plays steps against a server, and holds every answer against the right one.
///
/// What is right is kept here, person by person, as the story goes on; the server is never asked
/// for it. Writes go over one client, checks over another: a check must see what was acknowledged
/// elsewhere.
struct Rehearsal {
    /// What a step does to the server.
    enum Deed {
        /// Hand in a body; right is this disposition.
        case ingest([UInt8], Disposition)
        /// Hand in a body that must be refused for this reason.
        case forge([UInt8], reason: String)
        case link(CustomerLink)
        /// Nothing: only look.
        case look
        /// Nothing, after a restart: look whether anything that was answered is lost.
        case lookAfterRestart
        /// Nothing: the server has to find out by itself, so look until all is right.
        case await
        /// Hand in a body that the server applies; what it then asks Apple makes all right.
        case ingestAndAwait([UInt8])
        /// Nothing but many checks: the app is used.
        case use(roundCount: Int)
        /// What can only be played with Apple beside the server.
        case apple(AppleDeed)
    }

    /// What is right, by product and user id.
    typealias Rights = [Product: [String: ExpectedAccess]]

    let cast = Cast()
    let desk: SigningDesk
    let console: Console
    /// Whether each step is printed as it is played.
    let printsSteps: Bool
    private(set) var report: RehearsalReport
    let address: String
    let writer: Client
    let reader: Client
    /// What was granted so far, for the bill.
    private(set) var tally = RehearsalTally()
    private var right: Rights = [:]
    /// People whose user id the server has heard of.
    private var linked: Set<String> = []
    /// The instant at which Apple signs next.
    private var signedMilliseconds: Int64
    /// Whether Apple signs now, and no more in the past.
    private var isInThePresent = false
    /// The highest revision that the server has acknowledged.
    private var acknowledgedRevision: UInt64 = 0

    /// - Throws: `CommandFailure` when the address is none.
    init(
        desk: SigningDesk, at address: String, scope: Scope, apiKey: String, console: Console,
        printsSteps: Bool
    ) throws(CommandFailure) {
        self.desk = desk
        self.console = console
        self.printsSteps = printsSteps
        self.address = address
        report = RehearsalReport(address: address)
        writer = try Self.client(at: address, scope, apiKey: apiKey)
        reader = try Self.client(at: address, scope, apiKey: apiKey)
        // Three hours back, so that all that is signed in the drill lies in the past.
        signedMilliseconds = SystemCalls.nowMilliseconds - 3 * 3_600_000
        for product in Product.allCases {
            for person in cast.all {
                right[product, default: [:]][person.userID] = ExpectedAccess(
                    reason: .unknownCustomer)
            }
        }
    }

    private static func client(
        at address: String, _ scope: Scope, apiKey: String
    ) throws(CommandFailure) -> Client {
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(20)
        configuration.scope = scope
        configuration.apiKey = apiKey
        do throws(ClientError) {
            return try Client(address: address, configuration: configuration)
        } catch {
            throw CommandFailure(error, address: address)
        }
    }

    /// Ends the connections.
    func close() {
        writer.close()
        reader.close()
    }

    /// Now, for Apple: ten seconds after the last time, or the present.
    mutating func nextSigning() -> Int64 {
        signedMilliseconds =
            isInThePresent
            ? max(signedMilliseconds + 1, SystemCalls.nowMilliseconds)
            : signedMilliseconds + 10_000
        return signedMilliseconds
    }

    /// How long before the next signing something can have happened, and after the last one.
    var revocationLeadMilliseconds: Int64 { isInThePresent ? 0 : 4_000 }

    /// From here on Apple signs in the present: its history does, which is asked next to it.
    mutating func enterThePresent() { isInThePresent = true }

    /// A purchase a month before all that is signed in the drill.
    func purchase(
        of product: Product, by person: Person, isShared: Bool, boughtSecondsLater: Int64 = 0
    ) -> Purchase {
        let month: Int64 = 30 * 86_400_000
        let bought = signedMilliseconds - month + boughtSecondsLater * 1_000
        return Purchase(
            owner: person, product: product, isShared: isShared, transactionID: Cast.number(),
            purchasedMilliseconds: bought,
            expiresMilliseconds: product == .plus ? bought + 3 * month : nil)
    }

    /// From here on this is right for `person`.
    mutating func set(
        _ person: Person, _ product: Product, _ reason: AccessReason,
        _ ownership: Ownership = .unspecified
    ) {
        right[product, default: [:]][person.userID] = ExpectedAccess(
            reason: reason, ownership: ownership)
    }

    /// What is right for `person` now.
    func rightAccess(_ person: Person, _ product: Product) -> ExpectedAccess {
        right[product]?[person.userID] ?? ExpectedAccess(reason: .unknownCustomer)
    }

    /// Says which acts are not played.
    mutating func leaveOut(_ titles: [String]) { report.leftOut += titles }

    /// Begins an act.
    mutating func begin(_ title: String) {
        report.acts.append(ActReport(title: title))
        if printsSteps {
            console.print([Line(""), Line("Act \(report.acts.count): \(title)", .bold)])
        }
    }
}

// MARK: - Steps

extension Rehearsal {
    /// Plays one step: does the deed, then asks for everybody.
    ///
    /// - Parameters:
    ///   - title: What happens, in words.
    ///   - product: What everybody is asked about.
    ///   - deed: What is done.
    ///   - change: Makes right what is right afterwards.
    /// - Throws: `CommandFailure` when the server is gone or the drill is interrupted; a wrong
    ///   answer is no failure but a finding.
    mutating func step(
        _ title: String, _ product: Product, _ deed: Deed,
        change: (inout Rehearsal) -> Void = { _ in }
    ) async throws(CommandFailure) {
        try checkInterruption()
        let before = right
        var after = self
        change(&after)
        // What is only shown is right to be shown, and changes nothing.
        if !deed.isOnlyShown { change(&self) }
        var complaints: [String] = []
        var said = try await perform(deed, on: product, before, after.right, &complaints)
        let checks: [CheckReport]
        if deed.isAwaiting {
            let clock = ContinuousClock()
            let start = clock.now
            checks = try await awaitRight(product)
            let wait = TimeSpan.text(milliseconds: UInt64((clock.now - start).milliseconds))
            said += (said.isEmpty ? "" : "; ") + "waited \(wait)"
        } else {
            checks = try await checkEverybody(product)
        }
        let report = StepReport(
            title: title, product: product, said: said, complaints: complaints, checks: checks)
        self.report.acts[self.report.acts.count - 1].steps.append(report)
        if printsSteps { console.print(report.lines) }
    }

    func checkInterruption() throws(CommandFailure) {
        if Interruption.signalNumber != nil { throw .interrupted }
    }

    private mutating func perform(
        _ deed: Deed, on product: Product, _ before: Rights, _ after: Rights,
        _ complaints: inout [String]
    ) async throws(CommandFailure) -> String {
        do throws(ClientError) {
            switch deed {
            case .look, .await: return ""
            case .lookAfterRestart:
                let revision = try await reader.serverInfo().revision
                if revision < acknowledgedRevision {
                    complaints.append("revision \(acknowledgedRevision) was answered and is lost")
                }
                return "revision \(revision)"
            case .ingest(let body, let disposition):
                return try await ingest(body, expecting: disposition, before, &complaints)
            case .ingestAndAwait(let body):
                return try await ingest(body, expecting: .applied, before, &complaints)
            case .link(let link): return try await self.link(link, before, &complaints)
            case .forge(let body, let reason):
                return try await forge(body, reason: reason, &complaints)
            case .use(let roundCount):
                for _ in 0..<roundCount { _ = try await ask(product) }
                return "\(roundCount) checks each"
            case .apple(let deed):
                return try await perform(deed, before, after, &complaints)
            }
        } catch {
            try checkInterruption()
            if case .refused(let refusal) = error {
                complaints.append("the server refused: \(refusal.description)")
                return "refused"
            }
            throw CommandFailure(error, address: address)
        }
    }

    private mutating func ingest(
        _ body: [UInt8], expecting disposition: Disposition, _ before: Rights,
        _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        let result = try await writer.ingestNotification(body)
        if result.disposition != disposition {
            complaints.append(
                "the server said \(result.disposition.name); right is \(disposition.name)")
        }
        complaints += findings(result.changes, before, right)
        acknowledge(result.revision, &complaints)
        return text(result.disposition.name, result.changes)
    }

    private mutating func link(
        _ link: CustomerLink, _ before: Rights, _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        var before = before
        if linked.insert(link.customerID).inserted {
            // Under the app's own name nobody had access until the app said it.
            for product in Product.allCases {
                before[product]?[link.customerID] = ExpectedAccess(reason: .unknownCustomer)
            }
        }
        let result = try await writer.linkCustomer(link)
        complaints += findings(result.changes, before, right)
        acknowledge(result.revision, &complaints)
        return text("linked", result.changes)
    }

    private func forge(
        _ body: [UInt8], reason: String, _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        do throws(ClientError) {
            let result = try await writer.ingestNotification(body)
            complaints.append("the server took it: \(result.disposition.name)")
            return result.disposition.name
        } catch .refused(let refusal) {
            if refusal.reason != reason {
                complaints.append("refused for \(refusal.reason); right is \(reason)")
            }
            return "refused: \(refusal.reason)"
        } catch {
            throw error
        }
    }

    mutating func acknowledge(_ revision: UInt64, _ complaints: inout [String]) {
        if revision < acknowledgedRevision {
            complaints.append("revision \(revision) after \(acknowledgedRevision)")
        }
        acknowledgedRevision = max(acknowledgedRevision, revision)
    }

    /// The changes that the server reported against those that are right: everybody whose access
    /// flipped, nobody else.
    func findings(
        _ changes: [AccessChange], _ before: Rights, _ after: Rights
    ) -> [String] {
        var rightChanges: Set<String> = []
        for product in Product.allCases {
            for person in cast.all {
                let old = before[product]?[person.userID]
                let new = after[product]?[person.userID]
                guard let old, let new, old.isGranted != new.isGranted else { continue }
                rightChanges.insert(
                    "\(person.name) \(product.rawValue) \(new.isGranted ? "granted" : "denied")")
            }
        }
        let said = Set(
            changes.map {
                "\(name($0.customerID)) \($0.productID) \($0.isGranted ? "granted" : "denied")"
            })
        return rightChanges.subtracting(said).sorted().map { "the server did not report: \($0)" }
            + said.subtracting(rightChanges).sorted().map { "the server reported: \($0)" }
    }

    private func name(_ customerID: String) -> String {
        let person = cast.all.first {
            $0.userID == customerID || $0.appTransactionID == customerID
        }
        return person?.name ?? customerID
    }

    func text(_ word: String, _ changes: [AccessChange]) -> String {
        guard !changes.isEmpty else { return "\(word), nobody's access changes" }
        let names = changes.map { "\(name($0.customerID)) \($0.isGranted ? "in" : "out")" }
        return "\(word), " + names.sorted().joined(separator: ", ")
    }

    /// Asks for everybody, over the other connections, all seeing one revision.
    private mutating func checkEverybody(
        _ product: Product
    ) async throws(CommandFailure) -> [CheckReport] {
        do throws(ClientError) {
            return try await ask(product)
        } catch {
            try checkInterruption()
            throw CommandFailure(error, address: address)
        }
    }

    private mutating func ask(_ product: Product) async throws(ClientError) -> [CheckReport] {
        let questions = cast.all.map { person in
            let reference: CustomerReference =
                linked.contains(person.userID)
                ? .customer(person.userID) : .appTransaction(person.appTransactionID)
            return AccessQuestion(
                customer: reference, subject: .product(product.rawValue),
                units: RehearsalTally.unitsPerCheck)
        }
        let answers = try await reader.checkAccessBatch(questions).answers
        let now = SystemCalls.nowMilliseconds
        return zip(cast.all, answers).map { person, answer in
            if answer.isGranted { tally.count(product, person, at: now) }
            return CheckReport(
                person: person,
                said: ExpectedAccess(reason: answer.reason, ownership: answer.ownership),
                isGranted: answer.isGranted, right: rightAccess(person, product))
        }
    }

    /// Asks until all is right, or nothing comes of it.
    private mutating func awaitRight(
        _ product: Product
    ) async throws(CommandFailure) -> [CheckReport] {
        let clock = ContinuousClock()
        let limit = clock.now + Self.patience
        while true {
            let checks = try await checkEverybody(product)
            if checks.allSatisfy(\.isRight) || clock.now >= limit { return checks }
            try? await Task.sleep(for: .milliseconds(20))
            try checkInterruption()
        }
    }

    /// How long the server may take for what it has to find out by itself.
    static let patience: Duration = .seconds(30)
}

extension Rehearsal.Deed {
    /// Whether what is right afterwards comes by and by.
    fileprivate var isAwaiting: Bool {
        switch self {
        case .await, .ingestAndAwait: true
        default: false
        }
    }

    /// Whether it changes nothing, and only says what it would change.
    fileprivate var isOnlyShown: Bool {
        if case .apple(.rebuild(_, isDryRun: true)) = self { true } else { false }
    }
}
