internal import CMessages
internal import CProtobufC

/// One pass over the fields of a message and those of its C counterpart, in one direction.
///
/// A message names each of its fields once, in `CRepresented.exchange`, for both directions: it
/// cannot be read from another field than it is written to.
protocol FieldExchange {
    /// What a pass can fail with.
    associatedtype Failure: Error

    func number<N: FixedWidthInteger>(_ value: inout N, _ field: inout N)
    func flag(_ value: inout Bool, _ field: inout protobuf_c_boolean)
    func enumeration<V: OpenEnum, F: CEnum>(_ value: inout V, _ field: inout F)
    func bytes(_ value: inout [UInt8], _ field: inout ProtobufCBinaryData) throws(Failure)

    func texts(
        _ values: inout [Text], _ count: inout Int,
        _ fields: inout UnsafeMutablePointer<ProtobufCBinaryData>?
    ) throws(Failure)

    func customer(
        _ value: inout Message.CustomerRef?,
        _ field: inout UnsafeMutablePointer<Entitled__V1__CustomerRef>?
    ) throws(Failure)

    /// The oneof of a check.
    func subject(
        _ value: inout Message.Subject?,
        _ fields: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>
    ) throws(Failure)

    func message<M: CRepresented>(
        _ value: inout M?, _ field: inout UnsafeMutablePointer<M.Counterpart>?
    ) throws(Failure)

    func messages<M: CRepresented>(
        _ values: inout [M], _ count: inout Int,
        _ fields: inout UnsafeMutablePointer<UnsafeMutablePointer<M.Counterpart>?>?
    ) throws(Failure)
}

extension FieldExchange {
    func text(_ value: inout Text, _ field: inout ProtobufCBinaryData) throws(Failure) {
        try unsafe bytes(&value.bytes, &field)
    }
}

/// Copies what was unpacked.
struct FieldReading: @unsafe FieldExchange {
    typealias Failure = Never

    func number<N: FixedWidthInteger>(_ value: inout N, _ field: inout N) { value = field }

    func flag(_ value: inout Bool, _ field: inout protobuf_c_boolean) { value = field != 0 }

    func enumeration<V: OpenEnum, F: CEnum>(_ value: inout V, _ field: inout F) {
        value = V(field)
    }

    func bytes(_ value: inout [UInt8], _ field: inout ProtobufCBinaryData) {
        value = unsafe Text(field).bytes
    }

    func texts(
        _ values: inout [Text], _ count: inout Int,
        _ fields: inout UnsafeMutablePointer<ProtobufCBinaryData>?
    ) {
        guard let fields = unsafe fields else { return }
        values = (0..<count).map { unsafe Text(fields[$0]) }
    }

    func customer(
        _ value: inout Message.CustomerRef?,
        _ field: inout UnsafeMutablePointer<Entitled__V1__CustomerRef>?
    ) {
        value = unsafe Message.CustomerRef(field)
    }

    func subject(
        _ value: inout Message.Subject?,
        _ fields: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>
    ) {
        value = unsafe Message.Subject(fields.pointee)
    }

    func message<M: CRepresented>(
        _ value: inout M?, _ field: inout UnsafeMutablePointer<M.Counterpart>?
    ) {
        guard let field = unsafe field else { return }
        value = unsafe M(UnsafePointer(field))
    }

    func messages<M: CRepresented>(
        _ values: inout [M], _ count: inout Int,
        _ fields: inout UnsafeMutablePointer<UnsafeMutablePointer<M.Counterpart>?>?
    ) {
        guard let fields = unsafe fields else { return }
        values = unsafe M.copies(count, fields)
    }
}

/// Writes into an initialized C message; what it points to comes from an arena.
struct FieldWriting: @unsafe FieldExchange {
    typealias Failure = WireError

    let arena: MessageArena

    func number<N: FixedWidthInteger>(_ value: inout N, _ field: inout N) { field = value }

    func flag(_ value: inout Bool, _ field: inout protobuf_c_boolean) { field = value ? 1 : 0 }

    func enumeration<V: OpenEnum, F: CEnum>(_ value: inout V, _ field: inout F) {
        field = value.cValue()
    }

    func bytes(_ value: inout [UInt8], _ field: inout ProtobufCBinaryData) throws(WireError) {
        unsafe field = try arena.copy(value)
    }

    func texts(
        _ values: inout [Text], _ count: inout Int,
        _ fields: inout UnsafeMutablePointer<ProtobufCBinaryData>?
    ) throws(WireError) {
        count = values.count
        unsafe fields = try arena.copy(values)
    }

    func customer(
        _ value: inout Message.CustomerRef?,
        _ field: inout UnsafeMutablePointer<Entitled__V1__CustomerRef>?
    ) throws(WireError) {
        unsafe field = try arena.customerRef(value)
    }

    func subject(
        _ value: inout Message.Subject?,
        _ fields: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>
    ) throws(WireError) {
        try unsafe value?.fill(fields, arena)
    }

    func message<M: CRepresented>(
        _ value: inout M?, _ field: inout UnsafeMutablePointer<M.Counterpart>?
    ) throws(WireError) {
        unsafe field = try arena.message(value)
    }

    func messages<M: CRepresented>(
        _ values: inout [M], _ count: inout Int,
        _ fields: inout UnsafeMutablePointer<UnsafeMutablePointer<M.Counterpart>?>?
    ) throws(WireError) {
        count = values.count
        unsafe fields = try arena.messages(values)
    }
}
