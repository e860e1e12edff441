/// Finds the known name that a mistyped one was probably meant to be.
enum NearestName {
    /// The candidate with the smallest edit distance to `name`, when it is near enough to be a
    /// typing mistake: at most a third of the longer name's characters, and at least one.
    /// Ties go to the candidate that comes first.
    static func find(for name: String, among candidates: [String]) -> String? {
        let folded = name.lowercased()
        var best: (name: String, distance: Int)?
        for candidate in candidates where candidate != name {
            let distance = editDistance(folded, candidate.lowercased())
            guard distance <= max(1, max(name.count, candidate.count) / 3) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
        }
        return best?.name
    }

    /// How many insertions, deletions, replacements and swaps of neighbours turn `source` into
    /// `target` (optimal string alignment). O(source.count * target.count).
    static func editDistance(_ source: String, _ target: String) -> Int {
        let source = Array(source)
        let target = Array(target)
        var beforeLast: [Int] = []
        var last = Array(0...target.count)
        for row in 0..<source.count {
            var current = [row + 1]
            for column in 0..<target.count {
                let same = source[row] == target[column]
                var distance = min(
                    last[column + 1] + 1, current[column] + 1, last[column] + (same ? 0 : 1))
                if row > 0, column > 0, source[row] == target[column - 1],
                    source[row - 1] == target[column]
                {
                    distance = min(distance, beforeLast[column - 1] + 1)
                }
                current.append(distance)
            }
            beforeLast = last
            last = current
        }
        return last[target.count]
    }
}
