#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A listening TCP socket, bound by ourselves: so an address in use has its name in the error, and
/// a port that the system chose is known.
struct BoundSocket: Sendable {
    let descriptor: Int32
    let isIPv6: Bool
    /// The port that it really has.
    let port: UInt16

    /// Binds and listens.
    ///
    /// - Throws: `HTTPListenerError`.
    init(host: String, port: UInt16) throws(HTTPListenerError) {
        var address = sockaddr_storage()
        let length: Int
        if Self.fill(&address, host, port, AF_INET) {
            (isIPv6, length) = (false, MemoryLayout<sockaddr_in>.size)
        } else if Self.fill(&address, host, port, AF_INET6) {
            (isIPv6, length) = (true, MemoryLayout<sockaddr_in6>.size)
        } else {
            throw .notLiteral(host: host)
        }
        let text = Self.text(host: host, port: port, isIPv6: isIPv6)
        let descriptor = Self.makeSocket(isIPv6: isIPv6)
        guard descriptor >= 0 else { throw Self.failure(text) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(length))
            }
        }
        guard result == 0, listen(descriptor, SOMAXCONN) == 0 else {
            let failure = Self.failure(text)
            close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        self.port = Self.boundPort(of: descriptor)
    }

    private init(descriptor: Int32, like other: BoundSocket) {
        self.descriptor = descriptor
        isIPv6 = other.isIPv6
        port = other.port
    }

    /// The same socket by another descriptor; nil when the system has none left.
    func duplicate() -> BoundSocket? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? BoundSocket(descriptor: copy, like: self) : nil
    }

    /// "127.0.0.1:9420", "[::1]:9420".
    static func text(host: String, port: UInt16, isIPv6: Bool) -> String {
        isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func makeSocket(isIPv6: Bool) -> Int32 {
        #if canImport(Glibc)
            let kind =
                Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
                | Int32(SOCK_NONBLOCK.rawValue)
            let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        #else
            let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #endif
        guard descriptor >= 0 else { return descriptor }
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        // A restart must not wait for connections of the last run to be forgotten.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, size)
        if isIPv6 {
            // One address is one family; who wants both names both.
            unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isOn, size)
        }
        return descriptor
    }

    private static func fill(
        _ storage: inout sockaddr_storage, _ host: String, _ port: UInt16, _ family: Int32
    ) -> Bool {
        guard !host.utf8.contains(0) else { return false }
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            if family == AF_INET {
                return unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe $0.pointee.sin_family = sa_family_t(AF_INET)
                    unsafe $0.pointee.sin_port = port.bigEndian
                    return unsafe inet_pton(AF_INET, host, &$0.pointee.sin_addr) == 1
                }
            }
            return unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                unsafe $0.pointee.sin6_family = sa_family_t(AF_INET6)
                unsafe $0.pointee.sin6_port = port.bigEndian
                return unsafe inet_pton(AF_INET6, host, &$0.pointee.sin6_addr) == 1
            }
        }
    }

    /// The port stands at the same place in both families.
    private static func boundPort(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        return result == 0 ? UInt16(bigEndian: address.sin6_port) : 0
    }

    private static func failure(_ address: String) -> HTTPListenerError {
        let code = errno
        return .cannotListen(
            address: address, reason: unsafe strerror(code).map { unsafe String(cString: $0) } ?? ""
        )
    }
}

/// Closes a descriptor, where `close` is a method's name.
func closeDescriptor(_ descriptor: Int32) {
    close(descriptor)
}

/// Refuses connections from now on; the descriptor stays open.
func stopListening(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_RDWR))
}
