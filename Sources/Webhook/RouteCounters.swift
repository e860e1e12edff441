internal import Synchronization

/// Counts answers by path and status; both from closed lists, so that a stranger adds no series.
final class RouteCounters: Sendable {
    /// The statuses that are answered here; others count as 500.
    private static let statuses = [200, 400, 401, 404, 405, 413, 500, 503]

    /// One relaxed counter.
    private final class Count: Sendable {
        let value = Atomic<UInt64>(0)
    }

    private let paths: [String]
    private let counts: [Count]

    /// All zero.
    init(paths: [String]) {
        self.paths = paths + ["other"]
        counts = (0..<self.paths.count * Self.statuses.count).map { _ in Count() }
    }

    /// Counts one answer; a path that is not on the list counts as "other".
    func count(_ path: String, _ status: Int) {
        let row = paths.firstIndex { $0.utf8.elementsEqual(path.utf8) } ?? paths.count - 1
        let column = Self.statuses.firstIndex(of: status) ?? Self.statuses.count - 2
        counts[row * Self.statuses.count + column].value.wrappingAdd(1, ordering: .relaxed)
    }

    /// What can happen on a path, at zero too.
    var values: [HTTPRouteCount] {
        paths.indices.flatMap { row in
            Self.statuses.indices.map { column in
                let count = counts[row * Self.statuses.count + column].value.load(
                    ordering: .relaxed)
                return HTTPRouteCount(
                    path: paths[row], status: Self.statuses[column], count: count)
            }
        }
    }
}
