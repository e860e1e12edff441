internal import CMessages
internal import CProtobufC

/// The bounded memory that protobuf-c unpacks into and that messages are built in.
///
/// A bump allocator: one block is kept for ever, larger messages get more of them up to the limit,
/// `reset` takes all back at once. What does not fit is refused (protobuf-c's unpack then gives
/// NULL and nothing else happens), so the memory of one message has a bound that no message can
/// choose for itself.
///
/// One thread's; nothing that was allocated may be used after `reset`.
@safe package final class MessageArena {
    /// The block that is kept: a notification with its three signatures fits (about 15 KiB).
    private static let keptByteCount = 64 << 10
    private static let alignment = 16

    /// The most that one message may take, in bytes.
    package let byteCountMax: Int
    private let kept: UnsafeMutableRawPointer
    private var extra: [UnsafeMutableRawPointer] = unsafe []
    private var block: UnsafeMutableRawPointer
    private var blockByteCount: Int
    private var used = 0
    private var claimedByteCount = 0
    private let allocator: UnsafeMutablePointer<ProtobufCAllocator>

    /// An empty arena.
    ///
    /// - Parameter byteCountMax: the most that one message may take, in bytes. 4 MiB: a frame of
    ///   1 MiB that holds legitimate uploads unpacks to little more than its own size.
    package init(byteCountMax: Int = 4 << 20) {
        precondition(byteCountMax >= Self.keptByteCount)
        self.byteCountMax = byteCountMax
        unsafe kept = UnsafeMutableRawPointer.allocate(
            byteCount: Self.keptByteCount, alignment: Self.alignment)
        unsafe block = kept
        blockByteCount = Self.keptByteCount
        unsafe allocator = UnsafeMutablePointer.allocate(capacity: 1)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe allocator.initialize(
            to: ProtobufCAllocator(
                alloc: { data, byteCount in
                    guard let data = unsafe data else { return nil }
                    let arena = unsafe Unmanaged<MessageArena>.fromOpaque(data)
                        .takeUnretainedValue()
                    return unsafe arena.allocate(byteCount)
                },
                free: { _, _ in },
                allocator_data: owner))
    }

    deinit {
        unsafe extra.forEach { unsafe $0.deallocate() }
        unsafe kept.deallocate()
        unsafe allocator.deallocate()
    }

    /// Takes back all that was allocated.
    package func reset() {
        if unsafe !extra.isEmpty {
            unsafe extra.forEach { unsafe $0.deallocate() }
            unsafe extra.removeAll()
            unsafe block = kept
            blockByteCount = Self.keptByteCount
        }
        used = 0
        claimedByteCount = 0
    }

    /// Whether nothing is allocated.
    package var isEmpty: Bool { used == 0 && claimedByteCount == 0 }

    /// The allocator to hand to protobuf-c.
    var handle: UnsafeMutablePointer<ProtobufCAllocator> { unsafe allocator }

    /// `byteCount` bytes at an address that any C type may have; nil beyond the limit.
    func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount >= 0, byteCount <= byteCountMax else { return nil }
        let rounded = max((byteCount + Self.alignment - 1) & ~(Self.alignment - 1), Self.alignment)
        guard rounded <= byteCountMax - claimedByteCount else { return nil }
        if rounded > blockByteCount - used {
            // Twice the last one, so that a message of many parts takes few blocks.
            let next = max(rounded, min(blockByteCount * 2, byteCountMax))
            unsafe block = UnsafeMutableRawPointer.allocate(
                byteCount: next, alignment: Self.alignment)
            unsafe extra.append(block)
            blockByteCount = next
            used = 0
        }
        let address = unsafe block + used
        used += rounded
        claimedByteCount += rounded
        return unsafe address
    }
}

extension MessageArena {
    /// Room for `count` values of a C type, not initialized.
    func allocate<T>(
        _ type: T.Type, count: Int
    ) throws(WireError) -> UnsafeMutablePointer<T> {
        let (byteCount, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<T>.stride)
        guard !overflow, let address = unsafe allocate(byteCount) else {
            throw .messageTooComplex(requestID: 0, limit: byteCountMax)
        }
        return unsafe address.bindMemory(to: T.self, capacity: count)
    }

    /// A copy of `bytes` as protobuf-c holds bytes.
    func copy(_ bytes: [UInt8]) throws(WireError) -> ProtobufCBinaryData {
        guard !bytes.isEmpty else { return unsafe ProtobufCBinaryData(len: 0, data: nil) }
        let target = try unsafe allocate(UInt8.self, count: bytes.count)
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let address = source.baseAddress else { return }
            unsafe target.update(from: address, count: source.count)
        }
        return unsafe ProtobufCBinaryData(len: bytes.count, data: target)
    }

    /// A copy of `text` as protobuf-c holds bytes.
    func copy(_ text: Text) throws(WireError) -> ProtobufCBinaryData {
        try unsafe copy(text.bytes)
    }
}
