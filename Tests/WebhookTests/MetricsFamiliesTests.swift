@testable import Webhook
import Entitlements
import FoundationEssentials
import Glibc
import Testing

@Suite struct MetricsFamiliesTests {
    private func text(
        _ snapshot: MetricsSnapshot, _ format: MetricsFormat = .prometheus
    ) -> String {
        String(decoding: MetricsFamilies.text(of: snapshot, in: format), as: UTF8.self)
    }

    @Test func `what was counted stands in its series`() {
        let text = text(busySnapshot())
        for line in [
            "entitled_build_info{version=\"1.0\\\"\\\\\",commit=\"\",swift=\"\",rocksdb=\"\"} 1",
            "entitled_rpc_requests_total{method=\"CheckAccess\",code=\"OK\"} 7",
            "entitled_rpc_requests_total{method=\"GetCustomer\",code=\"OK\"} 0",
            "entitled_connections{listener=\"http\"} 1",
            "entitled_check_denied_reason_total{reason=\"family_refunded\"} 2",
            "entitled_rpc_rejected_total{reason=\"overload\"} 6",
            "entitled_jws_verify_total{result=\"ok\"} 11",
            "entitled_jws_verify_total{result=\"bad_chain\"} 2",
            "entitled_rebuild_changed_total{direction=\"revoked\"} 8",
            "entitled_config_reloads_total{result=\"succeeded\"} 3",
            "entitled_config_reloads_total{result=\"failed\"} 1",
            "entitled_config_last_reload_success 0",
            "entitled_revision 42", "entitled_unmetered_checks_total 7",
            "entitled_store_bytes{kind=\"tables\"} 1099511627776",
            "entitled_recovered_notifications_total 6", "entitled_apple_problems_total 8",
            "entitled_apple_authorized{app=\"com.example.meadow\",environment=\"production\"} 1",
            "entitled_apple_authorized{app=\"com.example.meadow\",environment=\"sandbox\"} 0",
            "entitled_apple_last_success_timestamp_seconds 1767225600.25",
            "entitled_apple_requests_total{endpoint=\"history\",status=\"2xx\"} 4",
            "entitled_http_connections_total 12",
            "process_cpu_seconds_total 1.5",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test func `types that Apple has not named are one series`() {
        let text = text(busySnapshot())
        let labels = "app=\"com.example.meadow\",environment=\"production\""
        let name = "entitled_ingest_notifications_total"
        #expect(text.contains("\(name){\(labels),type=\"REFUND\",outcome=\"applied\"} 3\n"))
        #expect(text.contains("\(name){\(labels),type=\"other\",outcome=\"applied\"} 2\n"))
        #expect(text.contains("type=\"other\",outcome=\"rejected\"} 9\n"))
        #expect(!text.contains("TOMORROW"))
    }

    @Test func `series are there from the start, at zero`() {
        var snapshot = MetricsSnapshot()
        snapshot.scopes = [Scope(bundleID: "a", environment: .sandbox)]
        let text = text(snapshot)
        for line in [
            "entitled_rpc_rejected_total{reason=\"draining\"} 0",
            "entitled_rpc_rejected_total{reason=\"auth\"} 0",
            "entitled_auth_shut_out_connections_total 0",
            "entitled_audit_missing_total{cause=\"lost\"} 0",
            "entitled_check_results_total{app=\"a\",environment=\"sandbox\",result=\"denied\"} 0",
            "entitled_revocations_total{app=\"a\",cause=\"family_leave\"} 0",
            "entitled_rebuilds_total{trigger=\"sweep\",result=\"failed\"} 0",
            "entitled_rebuild_queue 0",
            "entitled_config_reloads_total{result=\"failed\"} 0",
            "entitled_config_last_reload_success 1",
            "entitled_ingest_age_seconds_count{app=\"a\"} 0",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
        #expect(!text.contains("process_"), "what cannot be read is not made up")
        #expect(!text.contains("entitled_apple_authorized"), "where Apple is not asked")
    }

    @Test(arguments: [MetricsFormat.prometheus, .openMetrics])
    func `a family is described once and no series comes twice`(format: MetricsFormat) {
        let lines = text(busySnapshot(), format).split(separator: "\n")
        let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(Set(types).count == types.count)
        let helps = lines.filter { $0.hasPrefix("# HELP ") }.map { $0.split(separator: " ")[2] }
        #expect(helps == types)
        let series = lines.filter { !$0.hasPrefix("#") }.map { line in
            line[..<(line.lastIndex(of: " ") ?? line.endIndex)]
        }
        #expect(Set(series).count == series.count)
        for line in series { #expect(line.hasPrefix("entitled_") || line.hasPrefix("process_")) }
    }

    @Test func `the documentation names every family, and none that there is not`() throws {
        let article =
            #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/") + "/Sources/entitled/Documentation.docc/Metrics.md"
        let lines = try String(contentsOfFile: article, encoding: .utf8).split(separator: "\n")
        // Rows about families have one of these types in the second column.
        let types = [" gauge ", " counter ", " histogram ", " counter, gauge "]
        let rows = lines.map { $0.split(separator: "|") }
            .filter { $0.count > 1 && types.contains(String($0[1])) }
        let named = rows.flatMap { row in
            row[0].split(separator: "`").filter { $0.contains("_") }
        }
        let families = text(busySnapshot()).split(separator: "\n")
            .filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(named.sorted() == families.sorted())
    }

    @Test func `promtool finds nothing to say`() {
        guard unsafe system("command -v promtool >/dev/null 2>&1") == 0 else { return }
        for snapshot in [MetricsSnapshot(), busySnapshot()] {
            guard let pipe = unsafe popen("promtool check metrics >&2", "w") else {
                Issue.record("promtool cannot be run")
                return
            }
            let bytes = MetricsFamilies.text(of: snapshot, in: .prometheus)
            let written = unsafe fwrite(bytes, 1, bytes.count, pipe)
            #expect(written == bytes.count)
            let status = unsafe pclose(pipe)
            #expect(status == 0)
        }
    }
}
