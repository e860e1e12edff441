internal import Bytes

/// Signed payloads as they are stored: a sixth to an eighth of what Apple sends, and back byte for
/// byte.
///
/// A notification of 17.7 KB is Base64URL around Base64URL around 2 KB of JSON, and holds the same
/// 4 KB of certificates three times. Stored as they came, with copies of the two JWS inside, 28 KB
/// cost 39 to 53 KB written to the disk for each notification, and 160 to 390 us for compression
/// and compaction; packed they cost 4.4 to 5.3 KB and at most 26 us. The copies are not stored any
/// more, see `StoredNotification`.
///
/// Layout, integers big-endian: u8 1, then pieces until the end. A piece is
///
///     u8 0, u32 byte count, bytes              a text as it came
///     u8 1, u32 number of the header,          a JWS: header "." payload "." signature
///           u32 byte count, pieces             its payload, decoded
///           64 bytes                           its signature, decoded
///
/// A value that begins with 0 is what follows that 0, and one that begins with anything above 1 is
/// as it came: no payload begins so, and what was stored before there was packing stays readable.
///
/// It is exact because Base64URL is read strictly: one text for each row of bytes. Whatever is no
/// JWS of a known header stays a text.
struct PackedPayload {
    private static let rawLayout: UInt8 = 0
    private static let packedLayout: UInt8 = 1
    private static let textPiece: UInt8 = 0
    private static let jwsPiece: UInt8 = 1
    private static let signatureByteCount = 64
    private static let signatureCharacterCount = 86
    /// A notification, a transaction in it, and one level that nobody uses.
    private static let depthMax = 3
    /// What it costs to name a header and to split a text around it.
    private static let headerCharacterCountMin = 64

    /// Packs a payload.
    ///
    /// - Parameters:
    ///   - payload: Any bytes.
    ///   - headers: Learns the headers that it meets.
    /// - Returns: What `unpack` turns into `payload` again.
    static func pack(_ payload: [UInt8], _ headers: inout PayloadHeaders) -> [UInt8] {
        var packed: [UInt8] = []
        packed.reserveCapacity(payload.count / 4)
        packed.append(packedLayout)
        pack(payload.span, into: &packed, &headers, depth: 0)
        // The one piece of a payload without a JWS would only make it longer.
        guard packed.count >= payload.count else { return packed }
        guard let first = payload.first, first <= packedLayout else { return payload }
        return [rawLayout] + payload
    }

    private static func pack(
        _ text: Span<UInt8>, into packed: inout [UInt8], _ headers: inout PayloadHeaders,
        depth: Int
    ) {
        var copied = 0
        var position = 0
        while depth < depthMax, let start = candidate(in: text, from: position) {
            guard let jws = JWS(in: text, at: start),
                let number = headers.number(of: text.extracting(start..<jws.headerEnd))
            else {
                position = start + 1
                continue
            }
            appendText(text.extracting(copied..<start), to: &packed)
            packed.append(jwsPiece)
            append(UInt32(number), to: &packed)
            let lengthOffset = packed.count
            append(0, to: &packed)
            pack(jws.payload.span, into: &packed, &headers, depth: depth + 1)
            setCount(packed.count - lengthOffset - 4, at: lengthOffset, in: &packed)
            packed.append(contentsOf: jws.signature)
            copied = jws.end
            position = copied
        }
        appendText(text.extracting(copied..<text.count), to: &packed)
    }

    /// Where a JWS may begin at or after `position`: at the start, or behind a quotation mark.
    /// Every header is a JSON object that begins with a name, which is "eyJ" in Base64URL.
    private static func candidate(in text: Span<UInt8>, from position: Int) -> Int? {
        var start = position
        while true {
            if start > 0 {
                guard let quote = text.firstOffset(of: UInt8(ascii: "\""), from: start - 1) else {
                    return nil
                }
                start = quote + 1
            }
            guard start + headerCharacterCountMin <= text.count else { return nil }
            if text[start] == UInt8(ascii: "e"), text[start + 1] == UInt8(ascii: "y"),
                text[start + 2] == UInt8(ascii: "J")
            {
                return start
            }
            start += 1
        }
    }

    /// A JWS found in a text.
    private struct JWS {
        let headerEnd: Int
        let end: Int
        let payload: [UInt8]
        let signature: [UInt8]

        init?(in text: Span<UInt8>, at start: Int) {
            let dot = UInt8(ascii: ".")
            guard let headerEnd = text.firstOffset(of: dot, from: start),
                headerEnd - start >= headerCharacterCountMin,
                let payloadEnd = text.firstOffset(of: dot, from: headerEnd + 1),
                payloadEnd + 1 + signatureCharacterCount <= text.count
            else { return nil }
            end = payloadEnd + 1 + signatureCharacterCount
            guard
                let payload = try? Base64URL.decode(
                    text.extracting(headerEnd + 1..<payloadEnd)),
                let signature = try? Base64URL.decode(text.extracting(payloadEnd + 1..<end))
            else { return nil }
            self.headerEnd = headerEnd
            self.payload = payload
            self.signature = signature
        }
    }

    private static func appendText(_ text: Span<UInt8>, to packed: inout [UInt8]) {
        guard text.count > 0 else { return }
        packed.append(textPiece)
        append(UInt32(text.count), to: &packed)
        packed.append(addingCapacity: text.count) { output in
            for index in 0..<text.count { output.append(text[index]) }
        }
    }

    private static func append(_ number: UInt32, to packed: inout [UInt8]) {
        for shift in (0..<4).reversed() {
            packed.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * shift)))
        }
    }

    private static func setCount(_ count: Int, at offset: Int, in packed: inout [UInt8]) {
        for index in 0..<4 {
            packed[offset + index] = UInt8(truncatingIfNeeded: count >> (24 - 8 * index))
        }
    }
}

// MARK: - Unpacking

extension PackedPayload {
    /// The payload that was packed.
    ///
    /// - Parameters:
    ///   - value: As it is stored.
    ///   - headers: Those that it was packed with, and any more.
    /// - Returns: It, byte for byte.
    /// - Throws: ``ByteError`` when the value is damaged, or its header is missing.
    static func unpack(
        _ value: [UInt8], _ headers: borrowing PayloadHeaders
    ) throws(ByteError) -> [UInt8] {
        guard let layout = value.first, layout <= packedLayout else { return value }
        guard layout == packedLayout else { return Array(value.dropFirst()) }
        var reader = ByteReader(value, from: 1)
        return try pieces(&reader, upTo: value.count, headers, depth: 0)
    }

    private static func pieces(
        _ reader: inout ByteReader, upTo end: Int, _ headers: borrowing PayloadHeaders, depth: Int
    ) throws(ByteError) -> [UInt8] {
        var text: [UInt8] = []
        while reader.offset < end {
            let offset = reader.offset
            switch try reader.readUInt8() {
            case textPiece:
                text += try reader.readRaw(byteCount: Int(try reader.readUInt32()))
            case jwsPiece where depth < depthMax:
                text += try jws(&reader, headers, depth: depth)
            default: throw .invalidValue(offset: offset)
            }
        }
        guard reader.offset == end else { throw .invalidValue(offset: end) }
        return text
    }

    private static func jws(
        _ reader: inout ByteReader, _ headers: borrowing PayloadHeaders, depth: Int
    ) throws(ByteError) -> [UInt8] {
        let offset = reader.offset
        guard let header = headers.text(of: Int(try reader.readUInt32())) else {
            throw .invalidValue(offset: offset)
        }
        let byteCount = Int(try reader.readUInt32())
        guard byteCount <= reader.remaining else {
            throw .truncated(
                offset: reader.offset, needed: byteCount, available: reader.remaining)
        }
        let payload = try pieces(
            &reader, upTo: reader.offset + byteCount, headers, depth: depth + 1)
        let signature = try reader.readRaw(byteCount: signatureByteCount)
        let dot = UInt8(ascii: ".")
        var text = header
        text.append(dot)
        text += Base64URL.encode(payload.span)
        text.append(dot)
        text += Base64URL.encode(signature.span)
        return text
    }
}

/// The JWS headers that stored payloads name by number: each is the same 4 KB of certificates as
/// long as Apple signs with one leaf.
struct PayloadHeaders: ~Copyable {
    /// Apple signs with a handful of leaves at a time, each for years. Beyond it, headers are
    /// stored as they come.
    static let countMax = 1_024
    /// The longest header that is remembered: four times Apple's.
    static let byteCountMax = 16 << 10

    private var texts: [[UInt8]] = []
    private var numbers: [[UInt8]: Int] = [:]
    private var last = 0

    /// How many there are; they are numbered from 0.
    var count: Int { texts.count }

    /// The header of this number.
    borrowing func text(of number: Int) -> [UInt8]? {
        number < texts.count ? texts[number] : nil
    }

    /// Adds the next header.
    mutating func append(_ text: [UInt8]) {
        numbers[text] = texts.count
        texts.append(text)
    }

    /// The number of a header, a new one where it is new; nil when no more are taken.
    mutating func number(of header: Span<UInt8>) -> Int? {
        if last < texts.count {
            let text = texts[last]
            if text.count == header.count, header.holds(text.span, at: 0) { return last }
        }
        guard header.count <= Self.byteCountMax else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(header.count)
        for index in 0..<header.count { text.append(header[index]) }
        if let number = numbers[text] {
            last = number
            return number
        }
        guard texts.count < Self.countMax else { return nil }
        append(text)
        return texts.count - 1
    }
}
