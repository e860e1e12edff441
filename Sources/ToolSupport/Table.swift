/// Rows of cells in columns of equal width: no lines between them, numbers to the right.
package struct Table: Sendable {
    /// One column.
    package struct Column: Sendable {
        /// What stands above it.
        package let title: String
        /// To the right, not to the left.
        package let isNumber: Bool

        /// Words, to the left.
        package static func text(_ title: String) -> Column {
            Column(title: title, isNumber: false)
        }

        /// Numbers, to the right.
        package static func number(_ title: String) -> Column {
            Column(title: title, isNumber: true)
        }
    }

    /// One cell.
    package struct Cell: Sendable, ExpressibleByStringInterpolation {
        /// What stands in it, made visible where a terminal would obey.
        package let text: String
        /// How it looks.
        package let style: Style

        /// A cell.
        package init(_ text: String, _ style: Style = .plain) {
            // Cleaned here, so that what is written is as wide as what is measured.
            self.text = Console.clean(text)
            self.style = style
        }

        /// A plain cell.
        package init(stringLiteral value: String) { self.init(value) }
    }

    /// From left to right.
    package let columns: [Column]
    /// From top to bottom, without the titles.
    package private(set) var rows: [[Cell]] = []

    /// A table without rows.
    package init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row; it has a cell for every column.
    package mutating func add(_ cells: [Cell]) {
        precondition(cells.count == columns.count)
        rows.append(cells)
    }

    /// The lines, the titles first. An empty cell shows as "-".
    package func lines(indent: Int = 0) -> [Line] {
        let widths = columns.indices.map { index in
            rows.map { max($0[index].text.count, 1) }
                .reduce(columns[index].title.count) { max($0, $1) }
        }
        let titles = columns.map { Cell($0.title, .dim) }
        return ([titles] + rows).map { line(of: $0, widths: widths, indent: indent) }
    }

    private func line(of cells: [Cell], widths: [Int], indent: Int) -> Line {
        var line = Line(String(repeating: " ", count: indent))
        for (index, cell) in cells.enumerated() {
            let text = cell.text.isEmpty ? "-" : cell.text
            let padding = String(repeating: " ", count: widths[index] - text.count)
            let isLast = index == cells.count - 1
            if columns[index].isNumber {
                line = line.adding(padding).adding(text, cell.style)
            } else {
                line = line.adding(text, cell.style)
                if !isLast { line = line.adding(padding) }
            }
            if !isLast { line = line.adding("  ") }
        }
        return line
    }
}

extension Table {
    /// Name and value, one pair a line.
    package static func pairs(_ pairs: [(String, Cell)], indent: Int = 0) -> [Line] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { name, value in
            let padding = String(repeating: " ", count: width - name.count + 2)
            return Line(String(repeating: " ", count: indent)).adding(name, .dim).adding(padding)
                .adding(value.text.isEmpty ? "-" : value.text, value.style)
        }
    }
}
