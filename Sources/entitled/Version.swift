/// Which release this is.
enum Version {
    /// Semantic version of the protocol, the settings, the exit codes and the stored data.
    static let number = "0.1.0"
    /// The revision of the sources; empty where the build does not say it.
    static let commit = ""
    /// Of the wire format (package `entitled.v1`).
    static let protocolVersion = 1

    /// One line, without its line feed.
    static var text: String { "entitled \(number)" }

    /// One JSON object, without its line feed.
    static var json: String {
        "{\"name\":\"entitled\",\"version\":\"\(number)\",\"protocol\":\(protocolVersion),"
            + "\"swift\":\"\(compiler)\"}"
    }

    static var compiler: String {
        #if compiler(>=6.4)
            "6.4 or newer"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}
