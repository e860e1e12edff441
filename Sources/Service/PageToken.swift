/// Where the next page of a list starts: opaque to clients, and checked when it comes back.
struct PageToken: Hashable, Sendable {
    /// Which list it is of: a token of another list is none.
    enum List: Character, Sendable {
        case customers = "c"
        case refreshes = "q"
    }

    let list: List
    /// The first number of the next page.
    let number: UInt64

    init(_ list: List, _ number: UInt64) {
        self.list = list
        self.number = number
    }

    /// The text that stands for it on the wire.
    var text: String { "\(list.rawValue)\(String(number, radix: 16))" }

    /// Reads a token; empty is where the list begins.
    ///
    /// - Throws: INVALID_FIELD for what no list of this kind has given out.
    init(_ text: String, of list: List) throws(Refusal) {
        guard !text.isEmpty else {
            self.init(list, 0)
            return
        }
        guard text.utf8.count <= 17, text.first == list.rawValue,
            let number = UInt64(text.dropFirst(), radix: 16)
        else { throw Self.refusal }
        self.init(list, number)
        guard self.text == text else { throw Self.refusal }
    }

    private static var refusal: Refusal {
        Refusal(.invalidField, "page_token is none that this list gave out; start again")
    }
}
