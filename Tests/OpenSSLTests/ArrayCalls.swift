import OpenSSL

// The macros of Swift Testing cannot take a span apart, so tests call with arrays.

extension Certificate {
    convenience init(der: some Collection<UInt8>) throws(OpenSSLError) {
        let bytes = Array(der)
        try self.init(der: bytes.span)
    }
    convenience init(file: [UInt8]) throws(OpenSSLError) { try self.init(file: file.span) }
}

extension SHA256Digest {
    init(of bytes: [UInt8]) { self.init(of: bytes.span) }
    init?(bytes: [UInt8]) { self.init(bytes: bytes.span) }
}

extension ES256PublicKey {
    func isValid(signature: [UInt8], of message: [UInt8]) -> Bool {
        isValid(signature: signature.span, of: message.span)
    }
}

extension SigningKey {
    convenience init(pem: [UInt8]) throws(OpenSSLError) { try self.init(pem: pem.span) }
    func signature(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try signature(of: message.span)
    }
    func derSignature(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try derSignature(of: message.span)
    }
}

func isConstantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    constantTimeEqual(left.span, right.span)
}

extension TLSChannel {
    /// Sends the bytes of an array.
    func send(_ bytes: [UInt8]) throws { try send(bytes.span) }
    /// Takes the bytes of an array; calls `onContent` where something was decrypted.
    func receive(_ bytes: [UInt8], onContent: () -> Void) {
        receive(bytes.span) { _ in onContent() }
    }
}
