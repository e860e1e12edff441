/// One thing that breaks a rule of this repository.
struct Finding: Equatable, Comparable {
    /// How much it matters.
    enum Weight: Int, Comparable {
        /// Fails the run.
        case error
        /// Is printed; a limit that is meant to be kept, not yet the one that stops.
        case note

        static func < (left: Weight, right: Weight) -> Bool { left.rawValue < right.rawValue }
    }

    let weight: Weight
    /// Relative to the root of the repository.
    let path: String
    /// From 1; 0 for the file as a whole.
    let line: Int
    /// The rule's name, one word.
    let rule: String
    let message: String

    /// As compilers write it, so that editors find the place.
    var text: String {
        let place = line == 0 ? path : "\(path):\(line)"
        return "\(place): \(weight == .error ? "error" : "note"): [\(rule)] \(message)"
    }

    static func < (left: Finding, right: Finding) -> Bool {
        (left.weight, left.path, left.line) < (right.weight, right.path, right.line)
    }
}
