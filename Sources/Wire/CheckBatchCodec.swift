/// Reads a request that carries a batch of checks without protobuf-c; what `CheckAccessCodec` says
/// of strange messages holds here.
package enum CheckBatchCodec {
    /// Reads the envelope into `envelope` (its `check` stays empty) and the checks into `checks`.
    ///
    /// More than `countMax` checks are no error here: the rest is left out, `isOverLimit` says so.
    ///
    /// - Returns: false when the general path must decide; the rest means nothing then.
    package static func decode(
        _ body: Span<UInt8>, countMax: Int, into envelope: inout CheckEnvelope,
        checks: inout [CheckFields], isOverLimit: inout Bool
    ) -> Bool {
        envelope = CheckEnvelope()
        checks.removeAll(keepingCapacity: true)
        isOverLimit = false
        return unsafe body.withUnsafeBufferPointer { buffer in
            var reader = unsafe FieldReader(buffer)
            guard let batch = reader.batchEnvelope(&envelope) else { return false }
            reader.position = Int(batch.start)
            let end = batch.indices.upperBound
            while reader.position < end {
                var seen: UInt64 = 0
                guard reader.tag(until: end, &seen) == 0x0A, let range = reader.range(until: end)
                else { return false }
                var check = CheckFields()
                guard unsafe CheckAccessCodec.decodeCheck(buffer, at: range.indices, into: &check)
                else { return false }
                if checks.count < countMax { checks.append(check) } else { isOverLimit = true }
            }
            return true
        }
    }
}

extension FieldReader {
    /// Reads the fields of a request around its batch; the batch's bytes, or nil.
    fileprivate mutating func batchEnvelope(_ envelope: inout CheckEnvelope) -> ByteRange? {
        let end = count
        var seen: UInt64 = 0
        var batch: ByteRange?
        while position < end {
            guard let tag = tag(until: end, &seen) else { return nil }
            switch tag {
            case 0x08:
                guard let value = varint(until: end) else { return nil }
                envelope.id = value
            case 0x10:
                guard let value = varint(until: end) else { return nil }
                envelope.timeoutMilliseconds = UInt32(truncatingIfNeeded: value)
            case 0x1A:
                guard let range = range(until: end) else { return nil }
                envelope.traceparent = range
            case 0x22:
                guard let range = range(until: end) else { return nil }
                envelope.apiKey = range
            case 0x5A:
                guard let range = range(until: end) else { return nil }
                batch = range
            default:
                return nil
            }
        }
        return batch
    }
}
