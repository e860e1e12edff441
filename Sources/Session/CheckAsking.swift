internal import Entitlements
internal import Service
internal import SnapshotTable
internal import Storage
internal import Wire

/// Where a check is asked.
struct CheckPlace {
    /// The world.
    let scope: ScopeIndex
    /// What a customer is found by who is called by his own name; 0 for others, whom the store
    /// knows.
    let hash: UInt64
}

/// What checks that are answered together have in common, but for the catalogs: a value that held
/// them would count a reference that all loops share.
struct CheckStep {
    let batch: AccessBatch
    let nowMilliseconds: Int64
}

/// Takes an answer and the ids of product, transaction and chain, which live as long as it runs.
typealias TakeAnswer = (CheckAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void

extension Responder {
    /// Applies the contract's rules to a check and finds its world.
    func place(of check: CheckFields, _ text: Span<UInt8>) throws(Refusal) -> CheckPlace {
        if let refusal = Refusal(check.fault(in: text)) { throw refusal }
        let bundleID = text.extracting(check.bundleID)
        guard let scope = access.scopeIndex(bundleID: bundleID, environment: check.environment),
            allows(scope)
        else { throw isLimited ? .appNotAllowed : .unknownScope }
        guard case .customerID = check.customerKind else {
            return CheckPlace(scope: scope, hash: 0)
        }
        return CheckPlace(
            scope: scope, hash: access.hash(of: text.extracting(check.customer), in: scope))
    }

    /// Calls `body` with the catalogs of now.
    func withCatalog(
        _ body: (CompiledCatalog) throws(Refusal) -> Void
    ) throws(Refusal) {
        var failure: Refusal?
        access.withCatalog(for: reader) { catalog in
            do throws(Refusal) { try body(catalog) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Answers a check that can be asked with a frame, and notes what is to be metered.
    @inline(__always)
    func answer(
        _ check: CheckFields, _ place: CheckPlace, _ text: Span<UInt8>, _ requestID: UInt64,
        in step: CheckStep, under catalog: CompiledCatalog, _ output: inout OutputBuffer
    ) throws(Refusal) {
        try ask(check, place, text, in: step, under: catalog) {
            answer, product, transaction, original in
            CheckAnswerCodec.appendFrame(
                id: requestID, answer, product: product, transaction: transaction,
                original: original, to: &output)
            // What is counted is granted now; a look at another instant serves nobody.
            guard answer.granted, check.atMilliseconds == 0 else { return }
            meter?.note(transaction, in: place.scope, units: check.units)
        }
    }

    /// Puts a check that can be asked to the service.
    @inline(__always)
    func ask(
        _ check: CheckFields, _ place: CheckPlace, _ text: Span<UInt8>, in step: CheckStep,
        under catalog: CompiledCatalog, _ take: TakeAnswer
    ) throws(Refusal) {
        if case .customerID = check.customerKind {
            let query = AccessQuery(
                check, in: place.scope, name: text.extracting(check.customer), text,
                nowMilliseconds: step.nowMilliseconds)
            let isAnswered = access.answer(
                query, hash: place.hash, in: step.batch, under: catalog, reader: reader
            ) { answer, product, transaction, original in
                counts.decided(place.scope, answer.reason)
                take(CheckAnswer(answer), product, transaction, original)
            }
            if isAnswered { return }
        }
        try askStore(check, place, text, in: step, under: catalog, take)
    }

    /// The same where memory has no answer.
    private func askStore(
        _ check: CheckFields, _ place: CheckPlace, _ text: Span<UInt8>, in step: CheckStep,
        under catalog: CompiledCatalog, _ take: TakeAnswer
    ) throws(Refusal) {
        guard case .appAccountToken = check.customerKind else {
            let name = text.extracting(check.customer)
            return try askStore(check, place, text, name: name, in: step, under: catalog, take)
        }
        // UUIDs compare without case; stored in lower case.
        token.removeAll()
        token.append(lowercasing: text.extracting(check.customer))
        try askStore(check, place, text, token: token, in: step, under: catalog, take)
    }

    private func askStore(
        _ check: CheckFields, _ place: CheckPlace, _ text: Span<UInt8>,
        token: borrowing OutputBuffer, in step: CheckStep, under catalog: CompiledCatalog,
        _ take: TakeAnswer
    ) throws(Refusal) {
        try askStore(check, place, text, name: token.bytes, in: step, under: catalog, take)
    }

    private func askStore(
        _ check: CheckFields, _ place: CheckPlace, _ text: Span<UInt8>, name: Span<UInt8>,
        in step: CheckStep, under catalog: CompiledCatalog, _ take: TakeAnswer
    ) throws(Refusal) {
        let query = AccessQuery(
            check, in: place.scope, name: name, text, nowMilliseconds: step.nowMilliseconds)
        try access.answerFromStore(query, in: step.batch, under: catalog) {
            answer, product, transaction, original in
            counts.decided(place.scope, answer.reason)
            take(CheckAnswer(answer), product, transaction, original)
        }
    }
}

extension Refusal {
    /// Why a check cannot be asked; nil when it can.
    fileprivate init?(_ fault: CheckFault) {
        switch fault {
        case .none: return nil
        case .customer: self = .invalidCustomer
        case .missingSubject: self = .missingSubject
        case .subject: self = .invalidSubject
        case .instant: self = .negativeInstant
        }
    }
}

extension AccessQuery {
    /// The question that a check asks; `text` is what its ranges point into.
    @_lifetime(copy name, copy text)
    @inline(__always)
    fileprivate init(
        _ check: CheckFields, in scope: ScopeIndex, name: Span<UInt8>, _ text: Span<UInt8>,
        nowMilliseconds: Int64
    ) {
        let subject: Subject
        if case .entitlement = check.subjectKind {
            subject = .entitlement
        } else {
            subject = .product
        }
        self.init(
            scope: scope, kind: check.identityKind, name: name, subject: subject,
            subjectName: text.extracting(check.subject), atMilliseconds: check.atMilliseconds,
            nowMilliseconds: nowMilliseconds)
    }
}

extension CheckAnswer {
    /// The numbers of an answer.
    @inline(__always)
    fileprivate init(_ answer: AccessAnswer) {
        self.init(
            granted: answer.reason.isGranted, reason: Int32(answer.reason.rawValue),
            ownership: Int32(answer.ownership.rawValue),
            validUntilMilliseconds: answer.validUntil, revision: answer.revision)
    }
}

extension CheckFields {
    /// The kind of name that the customer is given by.
    fileprivate var identityKind: IdentityKind {
        switch customerKind {
        case .none, .customerID: .customer
        case .appAccountToken: .appAccountToken
        case .appTransactionID: .appTransaction
        case .originalTransactionID: .originalTransaction
        }
    }
}

extension OutputBuffer {
    /// Appends `bytes` with A to Z as a to z.
    fileprivate mutating func append(lowercasing bytes: Span<UInt8>) {
        for index in bytes.indices {
            let byte = bytes[index]
            append(0x41...0x5A ~= byte ? byte | 0x20 : byte)
        }
    }
}
