internal import CMessages
internal import CProtobufC

/// A message that has a generated C counterpart.
protocol CRepresented {
    /// The generated struct.
    associatedtype Counterpart

    /// The proto's empty message.
    init()

    /// Puts the generated initial value at `target`.
    static func initialize(_ target: UnsafeMutablePointer<Counterpart>)

    /// Hands every field and its counterpart in `c` to `exchange`, which goes one way.
    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Counterpart>, _ exchange: E
    ) throws(E.Failure)
}

extension CRepresented {
    /// A copy of what was unpacked at `source`.
    init(_ source: UnsafePointer<Counterpart>) {
        self.init()
        // Reading leaves the source as it is.
        unsafe exchange(UnsafeMutablePointer(mutating: source), FieldReading())
    }

    /// Writes the fields into an initialized `target`; what they point to comes from `arena`.
    func fill(
        _ target: UnsafeMutablePointer<Counterpart>, _ arena: MessageArena
    ) throws(WireError) {
        var fields = self
        try unsafe fields.exchange(target, FieldWriting(arena: arena))
    }

    /// Copies of a repeated C field.
    static func copies(
        _ count: Int, _ sources: UnsafeMutablePointer<UnsafeMutablePointer<Counterpart>?>?
    ) -> [Self] {
        guard let sources = unsafe sources else { return [] }
        return (0..<count).compactMap { index in
            guard let source = unsafe sources[index] else { return nil }
            return unsafe Self(UnsafePointer(source))
        }
    }
}

/// A C enum that protobuf-c widened to the size of an int.
protocol CEnum: RawRepresentable where RawValue == UInt32 {
    init(rawValue: UInt32)
}

extension Entitled__V1__Status: CEnum {}
extension Entitled__V1__Environment: CEnum {}
extension Entitled__V1__Ownership: CEnum {}
extension Entitled__V1__Reason: CEnum {}
extension Entitled__V1__Disposition: CEnum {}
extension Entitled__V1__Source: CEnum {}
extension Entitled__V1__Confidence: CEnum {}

extension OpenEnum {
    /// The number that the C field holds, negative ones included.
    init(_ value: some CEnum) { self.init(rawValue: Int32(bitPattern: value.rawValue)) }

    /// The C field's value.
    func cValue<E: CEnum>() -> E { E(rawValue: UInt32(bitPattern: rawValue)) }
}

extension Text {
    /// A copy of a C field.
    init(_ data: ProtobufCBinaryData) {
        guard let address = unsafe data.data, unsafe data.len > 0 else {
            self.init()
            return
        }
        self.init(unsafe Array(UnsafeBufferPointer(start: address, count: data.len)))
    }
}

extension MessageArena {
    /// A message as a C field holds it; nil where there is none.
    func message<M: CRepresented>(
        _ message: M?
    ) throws(WireError) -> UnsafeMutablePointer<M.Counterpart>? {
        guard let message else { return nil }
        let target = try unsafe allocate(M.Counterpart.self, count: 1)
        unsafe M.initialize(target)
        try unsafe message.fill(target, self)
        return unsafe target
    }

    /// Messages as a repeated C field holds them.
    func messages<M: CRepresented>(
        _ messages: [M]
    ) throws(WireError) -> UnsafeMutablePointer<UnsafeMutablePointer<M.Counterpart>?>? {
        guard !messages.isEmpty else { return nil }
        let targets = try unsafe allocate(
            UnsafeMutablePointer<M.Counterpart>?.self, count: messages.count)
        for (index, message) in messages.enumerated() {
            unsafe (targets + index).initialize(to: try self.message(message))
        }
        return unsafe targets
    }

    /// Texts as a repeated C field holds them.
    func copy(_ texts: [Text]) throws(WireError) -> UnsafeMutablePointer<ProtobufCBinaryData>? {
        guard !texts.isEmpty else { return nil }
        let targets = try unsafe allocate(ProtobufCBinaryData.self, count: texts.count)
        for (index, text) in texts.enumerated() {
            unsafe (targets + index).initialize(to: try copy(text))
        }
        return unsafe targets
    }
}
