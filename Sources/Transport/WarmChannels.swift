internal import OpenSSL

/// The TLS connections of a loop that keep the library's buffers between two batches.
///
/// To get and give back 34 KiB for every batch took 10 % of a server's time at 16 requests in
/// flight; ten thousand connections that keep them hold 340 MB. So the last few hundred that said
/// something keep them.
///
/// Loop thread only.
struct WarmChannels {
    /// How many keep them: 17 MiB.
    static let countMax = 512

    private var channels: [SecureChannel?] = []
    /// The oldest, once there are as many as there may be.
    private var oldest = 0

    /// `channel` has something to do.
    mutating func warm(_ channel: SecureChannel) {
        guard !channel.isWarm else { return }
        guard channels.count == Self.countMax else {
            channel.warmPlace = channels.count
            return channels.append(channel)
        }
        let place = oldest
        oldest = oldest + 1 == Self.countMax ? 0 : oldest + 1
        if let coldest = channels[place] {
            coldest.warmPlace = nil
            coldest.channel.releaseBuffers()
        }
        channel.warmPlace = place
        channels[place] = channel
    }

    /// `channel` is closed.
    mutating func forget(_ channel: SecureChannel) {
        guard let place = channel.warmPlace else { return }
        channel.warmPlace = nil
        channels[place] = nil
    }
}
