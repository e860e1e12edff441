import AppStore
import Bytes
import Entitlements
import OpenSSL
import TestSupport

/// One authority for all tests of the module, and what they all do with it.
enum Desk {
    private static let made = Result { try TestCertificateAuthority() }

    /// Signs for com.example.meadow, Production.
    static func fixtures(environment: String = "Production") throws -> SignedFixtures {
        SignedFixtures(authority: try made.get(), environment: environment)
    }

    /// 2026-03-01T00:00:00Z.
    static let march: Int64 = 1_772_323_200_000
    /// 2026-04-01T00:00:00Z.
    static let april: Int64 = 1_775_001_600_000
}

/// The reason of a refusal; nil when nothing was refused.
func refusal<Value>(_ body: () throws -> Value) -> String? {
    do {
        _ = try body()
        return nil
    } catch let error as AppStoreError {
        return error.reason
    } catch {
        return "\(error)"
    }
}

/// A compact JWS taken apart, to be put together wrongly.
struct Segments {
    var header: [UInt8]
    var payload: [UInt8]
    var signature: [UInt8]

    init(_ jws: [UInt8]) {
        let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        header = Array(parts[0])
        payload = Array(parts[1])
        signature = Array(parts[2])
    }

    var jws: [UInt8] { header + [UInt8(ascii: ".")] + payload + [UInt8(ascii: ".")] + signature }

    /// The same with other signature bytes.
    func signed(_ bytes: [UInt8]) -> [UInt8] {
        var changed = self
        changed.signature = Base64URL.encode(bytes.span)
        return changed.jws
    }

    var signatureBytes: [UInt8] { (try? Base64URL.decode(signature.span)) ?? [] }
}

extension SignedFixtures {
    /// A notification about one non-consumable, bare.
    func charge(uuid: String = "u-1", id: String = "2000000100000001") throws -> [UInt8] {
        try notification(
            "ONE_TIME_CHARGE", uuid: uuid, signed: Desk.march + 4_000,
            data: notificationData(
                transaction: transaction(id, product: "meadow.lifetime", purchased: Desk.march)))
    }
}

extension NotificationEvent {
    /// The verified notification; nil for a V1 body.
    var signed: SignedNotification? {
        if case .signed(let notification) = self { notification } else { nil }
    }

    /// The V1 body; nil for a verified notification.
    var unsigned: V1Notification? {
        if case .unsigned(let notification) = self { notification } else { nil }
    }
}

extension Segments {
    /// Base64 of a certificate, as in x5c.
    static func base64(_ der: [UInt8]) -> [UInt8] { Base64.encode(der.span) }
}
