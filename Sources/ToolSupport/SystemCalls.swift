internal import FoundationEssentials
internal import Glibc

/// The few things that the tool asks of the operating system itself.
///
/// Writing and starting a process hand pointers to the C library; they are the tool's only unsafe
/// code.
package enum SystemCalls {
    /// A stream that a process is born with.
    package enum StandardStream: Int32 {
        case output = 1
        case error = 2
    }

    /// Writes all of `text`, without a buffer in between.
    ///
    /// A reader that went away (`| head`) ends the tool quietly, as it ends others.
    package static func write(_ text: String, to stream: StandardStream) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { buffer in
                unsafe Glibc.write(stream.rawValue, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            start += count
        }
    }

    /// Whether a person watches the stream.
    package static func isTerminal(_ stream: StandardStream) -> Bool {
        isatty(stream.rawValue) == 1
    }

    /// How many columns the terminal has on which a person reads results; nil without one.
    package static var columnCount: Int? {
        var size = winsize()
        guard isTerminal(.output),
            unsafe ioctl(StandardStream.output.rawValue, UInt(TIOCGWINSZ), &size) == 0,
            size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
    }

    /// Writes a file whole, or leaves what was there.
    ///
    /// - Throws: `CommandFailure` that names the file.
    package static func writeFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be written")
        }
    }

    /// The whole of a file; "-" is stdin.
    ///
    /// - Throws: `CommandFailure` that names the file and what is wrong with it.
    package static func readFile(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            return [UInt8](
                try Data(contentsOf: URL(filePath: path == "-" ? "/dev/stdin" : path)))
        } catch let error as CocoaError {
            let code = (error.underlying as? POSIXError)?.code
            let what =
                switch code {
                case .ENOENT, .ENOTDIR: "there is no such file"
                case .EACCES, .EPERM: "you may not read it"
                case .EISDIR: "it is a directory"
                default: "it cannot be read"
                }
            throw CommandFailure(.failed, "\(path): \(what)")
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be read")
        }
    }

    /// From here on this process reaches its own machine without a proxy. Before the first thread.
    package static func bypassProxies() { unsafe setenv("no_proxy", "127.0.0.1", 1) }

    /// The time of day in milliseconds since 1970.
    package static var nowMilliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
