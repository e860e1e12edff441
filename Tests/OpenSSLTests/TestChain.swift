import OpenSSL

/// A root, an intermediate and a leaf as Apple makes them, with one thing changed where asked.
struct TestChain {
    static let validity = ValidityWindow(
        notBeforeMilliseconds: 1_700_000_000_000, notAfterMilliseconds: 1_900_000_000_000)

    var rootKey: SigningKey
    var intermediateKey: SigningKey
    var leafKey: SigningKey
    var root: Certificate
    var intermediate: Certificate
    var leaf: Certificate

    init(
        rootCurve: EllipticCurve = .p384, leafCurve: EllipticCurve = .p256,
        changeIntermediate: (inout CertificateBuilder) -> Void = { _ in },
        changeLeaf: (inout CertificateBuilder) -> Void = { _ in },
        changeRoot: (inout CertificateBuilder) -> Void = { _ in }
    ) throws {
        rootKey = try SigningKey(generatedOn: rootCurve)
        intermediateKey = try SigningKey(generatedOn: rootCurve)
        leafKey = try SigningKey(generatedOn: leafCurve)
        var rootBuilder = CertificateBuilder(
            subject: "Test Root", validity: Self.validity, isAuthority: true)
        changeRoot(&rootBuilder)
        root = try rootBuilder.selfSigned(by: rootKey)
        var intermediateBuilder = CertificateBuilder(
            subject: "Test Intermediate", validity: Self.validity, serialNumber: 2,
            isAuthority: true, markerOIDs: [ChainPolicy.developerRelationsOID])
        changeIntermediate(&intermediateBuilder)
        intermediate = try intermediateBuilder.issued(for: intermediateKey, by: root, rootKey)
        var leafBuilder = CertificateBuilder(
            subject: "Test Leaf", validity: Self.validity, serialNumber: 3,
            markerOIDs: [ChainPolicy.receiptSignerOID])
        changeLeaf(&leafBuilder)
        leaf = try leafBuilder.issued(for: leafKey, by: intermediate, intermediateKey)
    }

    func verify() throws -> ValidityWindow {
        try ChainPolicy(roots: [root]).verify(leaf: leaf, intermediate: intermediate)
    }
}
