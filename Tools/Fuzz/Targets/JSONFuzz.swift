import AppStore
import FoundationEssentials

/// JSON as Apple's payloads are read, with another reader beside it.
enum JSONFuzz {
    private static let names = [
        "a", "signedDate", "x5c", "transactionId", "", "\u{e9}", "data", "environment",
    ]

    /// The text.
    static func fuzz(_ input: [UInt8]) throws {
        guard let object = try? JSONObject(input) else { return }
        look(at: object, depth: 0)
        // A second reader takes it as well; numbers beyond a Double are nothing to it.
        let isTaken = (try? JSONDecoder().decode(AnyJSON.self, from: Data(input))) != nil
        try expect(isTaken, "what is read as JSON is none to another reader")
    }

    private static func look(at object: JSONObject, depth: Int) {
        for name in names {
            _ = (object.text(name), object.integer(name), object.integer32(name))
            _ = (object.boolean(name), object.string(name))
            if let inner = object.object(name), depth < 4 { look(at: inner, depth: depth + 1) }
            for element in object.array(name) ?? [] {
                _ = (object.bytes(element), object.text(element))
                if let inner = object.object(element), depth < 2 {
                    look(at: inner, depth: depth + 1)
                }
            }
        }
    }

    /// Any value: containers are walked, so that all of a text is read.
    private struct AnyJSON: Decodable {
        private struct Name: CodingKey {
            let stringValue: String
            let intValue: Int? = nil
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            if let members = try? decoder.container(keyedBy: Name.self) {
                for name in members.allKeys { _ = try members.decode(AnyJSON.self, forKey: name) }
            } else if var elements = try? decoder.unkeyedContainer() {
                while !elements.isAtEnd { _ = try elements.decode(AnyJSON.self) }
            } else {
                let value = try decoder.singleValueContainer()
                guard !value.decodeNil(), (try? value.decode(Bool.self)) == nil,
                    (try? value.decode(Double.self)) == nil
                else { return }
                if (try? value.decode(String.self)) == nil {
                    // Not a text: a number that is too large or too exact for a Double.
                    return
                }
            }
        }
    }
}
