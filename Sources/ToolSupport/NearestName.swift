/// Finds the known name that a mistyped one was probably meant to be.
package enum NearestName {
    /// The candidate with the smallest edit distance to `name`, when it is near enough to be a
    /// typing mistake: at most a third of the longer one's characters, at least one.
    package static func find(for name: String, among candidates: [String]) -> String? {
        let near = candidates.compactMap { candidate -> (name: String, distance: Int)? in
            let distance = editDistance(Array(name), Array(candidate))
            let limit = max(1, max(name.count, candidate.count) / 3)
            return distance <= limit ? (candidate, distance) : nil
        }
        return near.min { $0.distance < $1.distance }?.name
    }

    /// How many insertions, deletions, replacements and swaps of neighbours lead from one to the
    /// other.
    private static func editDistance(_ source: [Character], _ target: [Character]) -> Int {
        var rows = [Array(0...target.count)]
        for row in 0..<source.count {
            var current = [row + 1]
            for column in 0..<target.count {
                let isSame = source[row] == target[column]
                var distance = min(
                    rows[row][column + 1] + 1, current[column] + 1,
                    rows[row][column] + (isSame ? 0 : 1))
                if row > 0, column > 0, source[row] == target[column - 1],
                    source[row - 1] == target[column]
                {
                    distance = min(distance, rows[row - 1][column - 1] + 1)
                }
                current.append(distance)
            }
            rows.append(current)
        }
        return rows[source.count][target.count]
    }
}
