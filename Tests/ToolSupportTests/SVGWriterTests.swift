import Testing

@testable import ToolSupport

@Suite struct SVGWriterTests {
    private func body(_ draw: (inout SVGWriter) -> Void) -> String {
        var writer = SVGWriter(width: 10, height: 20, title: "t", description: "d")
        let empty = writer.document
        draw(&writer)
        return String(writer.document.dropFirst(empty.count - "</svg>\n".count).dropLast(7))
    }

    @Test func `shapes are written with at most two decimals`() {
        #expect(
            body { $0.rectangle(x: 1, y: 2.005, width: 3.333_3, height: 4, fill: "red") }
                == "<rect x=\"1\" y=\"2.01\" width=\"3.33\" height=\"4\" fill=\"red\"/>\n")
        #expect(
            body { $0.line(from: (0, 0), to: (-1.5, 1), colour: "red") }
                == "<line x1=\"0\" y1=\"0\" x2=\"-1.50\" y2=\"1\" stroke=\"red\""
                + " stroke-width=\"1\"/>\n")
    }

    @Test func `a path joins its points, and one point is none`() {
        let path = body { $0.path([(0, 1), (2, 3.25)], colour: "blue", label: "a < b") }
        #expect(path.contains("points=\"0,1 2,3.25\""))
        #expect(path.contains("<title>a &lt; b</title></polyline>"))
        #expect(body { $0.path([(0, 1)], colour: "blue") } == "")
    }

    @Test func `texts cannot break the document`() {
        let text = body { writer in
            writer.text(
                "<&\"'\u{0}\u{FFFE}>", x: 0, y: 0,
                SVGWriter.Face(size: 12, colour: "black", isBold: true), anchor: .end)
        }
        #expect(text.contains(">&lt;&amp;&quot;&#39;&gt;</text>"))
        #expect(text.contains("font-weight=\"600\""))
    }

    @Test func `colours have others on dark pages, and an ordinary drawing has none`() {
        let plain = SVGWriter(width: 1, height: 1, title: "t", description: "d")
        #expect(!plain.document.contains("<style>"))
        let dark = SVGWriter(
            width: 1, height: 1, title: "t", description: "d",
            darkColours: [(colour: "#111111", onDark: "#eeeeee")])
        #expect(dark.document.contains("@media (prefers-color-scheme: dark)"))
        #expect(dark.document.contains("[fill=\"#111111\"]{fill:#eeeeee}"))
        #expect(dark.document.contains("[stroke=\"#111111\"]{stroke:#eeeeee}"))
        #expect(dark.document.contains("[fill=\"#ffffff\"]{fill:#16161a}"))
    }
}
