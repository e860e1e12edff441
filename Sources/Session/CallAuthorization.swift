internal import Authorization
internal import Entitlements
internal import Service
internal import SnapshotTable
internal import Wire

// Who may call what.
//
// Where no keys file is configured the ring is open and nothing here is asked. Else each request is
// judged by its own key, before anything that it asks is looked at, and by the app that it speaks
// of, before anything is answered. The order of a loop's work is:
//
//   1. per batch of requests: does another ring hang there?
//   2. per request: is the key that of the request before? else: find it
//   3. has it expired, has it the role, has it the app
//
// A ring that was replaced, and a key that has expired, count from the next batch on, on
// connections that are open as well.

extension Responder {
    /// Takes up the ring of now, where it is another one.
    func lookAtKeys() {
        let generation = keys.generation
        guard generation != ringGeneration else { return }
        ring = keys.ring
        ringGeneration = generation
        isGuarded = !ring.isOpen
    }

    /// Has the caller of a request say who he is.
    ///
    /// - Throws: `Refusal` with KEY_MISSING, KEY_UNKNOWN, KEY_EXPIRED, KEY_REVOKED or ROLE_MISSING.
    func authorize(_ key: Span<UInt8>, for method: CallMethod) throws(Refusal) {
        guard isGuarded else { return }
        caller.show(key, to: ring, generation: ringGeneration)
        switch caller.grant.fault(at: batchMilliseconds) {
        case .none: break
        case .missing: throw .keyMissing
        case .unknown: throw .keyUnknown
        case .expired: throw .keyExpired
        case .revoked: throw .keyRevoked
        }
        caller.noteUse(in: ring, at: batchMilliseconds)
        if let role = method.role, !caller.grant.roles.allow(role) {
            throw .roleMissing(role, method)
        }
    }

    /// Whether the caller of the last request that was authorized may speak of a world.
    @inline(__always)
    func allows(_ scope: ScopeIndex) -> Bool {
        !isGuarded || ring.allows(caller.grant, worldAt: scope.value)
    }

    /// Whether the caller may speak of some apps only.
    var isLimited: Bool { isGuarded && caller.grant.isLimited }

    /// The worlds that he may speak of; nil: all.
    var allowedScopes: [Scope]? {
        guard isLimited else { return nil }
        return access.serverInfo().scopes.enumerated()
            .filter { allows(ScopeIndex(value: $0.offset)) }.map(\.element)
    }

    /// Takes from memory the questions of a run that it must not answer: those of callers who are
    /// not known, or may not ask. They are answered alone, each with its own refusal.
    ///
    /// A frame whose key was compared with that of the frame before, and is the same, is not looked
    /// at again.
    func authorizeRun(
        _ frames: Span<CheckRun.Frame>, _ count: Int, _ text: Span<UInt8>,
        _ questions: inout [ProductQuestion]
    ) {
        var mayCheck = false
        for index in 0..<count {
            let frame = frames[index]
            if index == 0 || !frame.hasKeyOfPrevious {
                caller.show(text.extracting(frame.apiKey), to: ring, generation: ringGeneration)
                mayCheck =
                    caller.grant.fault(at: batchMilliseconds) == .none
                    && caller.grant.roles.allow(.check)
                if mayCheck { caller.noteUse(in: ring, at: batchMilliseconds) }
            }
            guard questions[index].isForMemory else { continue }
            questions[index].isForMemory =
                mayCheck && ring.allows(caller.grant, worldAt: questions[index].world)
        }
    }

    /// A request was refused for who sent it: counts it, and gives the connection up where it was
    /// one too many.
    func denied(_ requestID: UInt64, _ refusal: Refusal) {
        if refusal.status == .unauthenticated, caller.failed() { keys.countShutOut() }
        guard let audit else { return }
        guard deniedBudget.take(atMilliseconds: batchMilliseconds) else {
            return audit.countSuppressed()
        }
        var entry = auditEntry(requestID, method)
        entry.code = refusal.status.rawValue
        entry.reason = refusal.reason.rawValue
        audit.add(entry)
    }
}

// MARK: - The audit

extension Responder {
    /// Who calls what now.
    private func auditEntry(_ requestID: UInt64, _ method: CallMethod) -> AuditEntry {
        let record = isGuarded ? ring.record(of: caller.grant) : nil
        return AuditEntry(
            at: batchMilliseconds, keyID: record?.id ?? "", keyName: record?.name ?? "",
            peer: caller.peer.address, method: method.name, requestID: requestID)
    }

    /// What is to be written down of a call once it has ended; nil: nothing.
    ///
    /// Of what an app that hands in signed data may do it is known only after verification whether
    /// the caller may: a refusal of such a call is written down too.
    func auditedCall(_ request: Request, _ call: Request.Call) -> AuditedCall? {
        guard audit != nil, method.role == .admin || (method.role == .ingest && isLimited) else {
            return nil
        }
        var entry = auditEntry(request.id, method)
        entry.traceparent = request.traceparent.description
        let target = AuditTarget(call)
        entry.app = target.app
        entry.target = target.name
        return AuditedCall(entry, isWrittenWhenGranted: method.role == .admin)
    }

    /// An admin's call was refused before it began.
    func auditRefused(_ request: Request, _ refusal: Refusal) {
        guard !refusal.reason.isAboutCaller, method.role == .admin, let call = request.call,
            let audited = auditedCall(request, call)
        else { return }
        write(audited, code: refusal.status.rawValue, reason: refusal.reason.rawValue)
    }

    /// A call has ended; `target` is what it turned out to be about, where that was not known
    /// before.
    func write(
        _ audited: AuditedCall, code: Int32, reason: String, target: String? = nil
    ) {
        let isDenied = code == StatusCode.permissionDenied.rawValue
        if !audited.isWrittenWhenGranted {
            guard isDenied else { return }
            guard deniedBudget.take(atMilliseconds: batchMilliseconds) else {
                audit?.countSuppressed()
                return
            }
        }
        var entry = audited.entry
        if let target { entry.target = target }
        entry.code = code
        entry.reason = reason
        audit?.add(entry)
    }

    /// A connection is closed before a call of it has ended: whether it is carried out is not
    /// known here.
    package func abandoned(_ tag: CallTag) {
        guard let audited = tag.audited else { return }
        write(audited, code: StatusCode.cancelled.rawValue, reason: "CONNECTION_CLOSED")
    }
}

/// How many refusals of a loop are written down: a flood of them must not push out of the file what
/// it is for.
struct DeniedBudget {
    /// In a second.
    static let countMax = 10

    private var second: Int64 = .min
    private var count = 0

    /// Whether one more may be written.
    mutating func take(atMilliseconds now: Int64) -> Bool {
        let second = now / 1_000
        if second != self.second { (self.second, count) = (second, 0) }
        count += 1
        return count <= Self.countMax
    }
}

extension Refusal {
    static let keyMissing = Refusal(
        .keyMissing, "this server asks for an API key, or a client certificate that it knows")
    static let keyUnknown = Refusal(.keyUnknown, "this API key is not known here")
    static let keyExpired = Refusal(.keyExpired, "this API key has expired")
    static let keyRevoked = Refusal(.keyRevoked, "this API key was revoked")
    /// The same for apps that are configured and for others: a caller who is limited is not told
    /// what else there is.
    static let appNotAllowed = Refusal(
        .appNotAllowed,
        "this API key may not speak of this app and environment; name one of its own"
    )

    static func roleMissing(_ role: Roles, _ method: CallMethod) -> Refusal {
        Refusal(
            .roleMissing,
            "\(method.name) asks for the role \(role.names.joined(separator: ", ")), which this "
                + "API key has not")
    }
}
