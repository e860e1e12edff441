import OpenSSL
import Testing

@Suite struct ConstantTimeTests {
    @Test(arguments: [
        ("", "", true), ("secret", "secret", true), ("secret", "secres", false),
        ("secret", "tecret", false), ("secret", "secre", false), ("", "s", false),
        ("s\0cret", "s\0dret", false), ("s\0cret", "s", false),
    ])
    func `only the same bytes are equal`(left: String, right: String, isEqual: Bool) {
        #expect(isConstantTimeEqual(Array(left.utf8), Array(right.utf8)) == isEqual)
        #expect(isConstantTimeEqual(Array(right.utf8), Array(left.utf8)) == isEqual)
    }
}
