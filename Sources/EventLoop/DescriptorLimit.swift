internal import CLibuv

/// How many descriptors (connections, files) the process may have open.
package enum DescriptorLimit {
    /// Raises the soft limit towards `wanted` as far as the hard limit allows; never lowers it.
    ///
    /// - Returns: the limit that holds then; 256 where the system does not tell.
    package static func raise(to wanted: Int) -> Int {
        let limit = cuv_raise_descriptor_limit(UInt64(max(wanted, 0)))
        return limit > 0 ? Int(limit) : 256
    }

    /// The limit that holds now.
    package static var current: Int { raise(to: 0) }
}
