/// Every setting of the server, in the order of `--help`.
enum SettingTable {
    static let all: [Setting] =
        general + apps + apple + api + serving + tls + auth + limits

    /// The row of `key`. Every key has one (checked by a test).
    static subscript(key: SettingKey) -> Setting {
        guard let setting = byKey[key] else { preconditionFailure("\(key) has no row") }
        return setting
    }

    /// An identifier's bounds on the wire hold for the names in the catalog as well.
    private static let name = SettingKind.text(byteCountMax: 128)

    private static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })

    private static let general: [Setting] = [
        Setting(
            key: .config, kind: .path, flag: "config", placeholder: "FILE",
            help: "the configuration file (JSON5); \(Self.configurationFile) when it exists"),
        Setting(
            key: .data, kind: .path, standard: ["/var/lib/entitled"], flag: "data",
            placeholder: "DIR", help: "where the facts are stored"),
        Setting(
            key: .dataSync, kind: .choice(["always", "interval"]), standard: ["always"],
            flag: "data-sync", placeholder: "WHEN",
            help: "always: answered writes survive a power cut; interval: the last second may not"),
        Setting(
            key: .backupDir, kind: .path, flag: "backup-dir", placeholder: "DIR",
            help: "where `entitlectl backup create` puts backups; without it there are none"),
        Setting(
            key: .logFormat, kind: .choice(["auto", "text", "json"]), standard: ["auto"],
            flag: "log-format", placeholder: "FORMAT",
            help: "form of the log on stderr; auto: text on a terminal, else json"),
        Setting(
            key: .logLevel, kind: .choice(["debug", "info", "warn", "error"]), standard: ["info"],
            flag: "log-level", placeholder: "LEVEL", help: "the least severe lines to write"),
        Setting(
            key: .shutdownGrace, kind: .duration(0...600_000), standard: ["20s"],
            flag: "shutdown-grace", placeholder: "TIME",
            help: "how long a stop waits for what is under way"),
    ]

    /// The file that is read when none is named.
    static let configurationFile = "/etc/entitled/entitled.json5"

    private static let apps: [Setting] = [
        Setting(
            key: .bundleId, kind: name, flag: "bundle-id", placeholder: "ID",
            help: "the app; several apps need a configuration file"),
        Setting(
            key: .appAppleId, kind: .integer(1...Int64.max), flag: "app-apple-id",
            placeholder: "NUMBER", help: "the app's Apple ID; Production needs it"),
        Setting(
            key: .environments, kind: .choice(["Production", "Sandbox"]), isList: true,
            standard: ["Production"], flag: "environment", placeholder: "NAME",
            help: "an environment to serve: Production or Sandbox"),
        Setting(
            key: .productEntitlements, kind: name, isList: true,
            help: "names under which the product can be asked for"),
        Setting(
            key: .productUnitCost, kind: .amount,
            help: "what serving one unit costs, in the operator's own currency; for the refund bill"
        ),
        Setting(
            key: .productDuration, kind: .duration(1...36_500 * 86_400_000),
            help: "how long a non-renewing subscription runs, such as 90d"),
        Setting(
            key: .productProratedRefund, kind: .choice(["revoke", "keep"]), standard: ["revoke"],
            help: "what a prorated refund does to a product that does not renew"),
        Setting(
            key: .familyCut, kind: .choice(["declared", "matched", "off"]),
            standard: ["declared"], flag: "family-cut", placeholder: "MODE",
            help: "which families a buyer's refund suspends: declared, matched as well, or off"),
        Setting(
            key: .identityConflict, kind: .choice(["refuse", "transfer"]), standard: ["refuse"],
            flag: "identity-on-conflict", placeholder: "POLICY",
            help: "a purchase of another named customer is handed in: refuse it, or transfer it as "
                + "if the call said so"),
    ]

    private static let apple: [Setting] = [
        Setting(
            key: .roots, kind: .path, isList: true, flag: "apple-root", placeholder: "FILE",
            help: "Apple Root CA - G3, as PEM or DER, from Apple's certificate authority page"),
        Setting(
            key: .allowTestRoot, kind: .boolean, standard: ["false"], flag: "allow-test-root",
            help: "trust a root that is not Apple's: for tests only"),
        Setting(
            key: .v1SharedSecretFile, kind: .path, flag: "v1-shared-secret-file",
            credential: "v1-shared-secret", placeholder: "FILE",
            help: "the app's shared secret, for version 1 notifications"),
    ]

    /// The App Store Server API; `apple.api` is complete or absent.
    private static let api: [Setting] = [
        Setting(
            key: .apiIssuerId, kind: name, flag: "apple-api-issuer-id", placeholder: "ID",
            help: "the issuer of the keys, from App Store Connect; with keyId and keyFile what is "
                + "missed is fetched from Apple"),
        Setting(
            key: .apiKeyId, kind: name, flag: "apple-api-key-id", placeholder: "ID",
            help: "the id of the In-App Purchase key"),
        Setting(
            key: .apiKeyFile, kind: .path, flag: "apple-api-key-file",
            credential: "apple-api-key", placeholder: "FILE",
            help: "the In-App Purchase key (.p8) from App Store Connect"),
        Setting(
            key: .apiBaseUrl, kind: .url, standard: ["https://api.storekit.apple.com"],
            flag: "apple-api-base-url", placeholder: "URL", help: "where Production is asked"),
        Setting(
            key: .apiSandboxBaseUrl, kind: .url,
            standard: ["https://api.storekit-sandbox.apple.com"],
            flag: "apple-api-sandbox-base-url", placeholder: "URL",
            help: "where Sandbox is asked"),
        Setting(
            key: .apiCaFile, kind: .path, flag: "apple-api-ca-file", placeholder: "FILE",
            help: "PEM certificates to trust for these URLs besides the system's: for tests only, "
                + "with allowTestRoot"),
        Setting(
            key: .apiHistoryRate, kind: .integer(1...1_000), standard: ["40"],
            flag: "apple-api-history-rate", placeholder: "N",
            help: "requests a second for histories, of one app; Apple allows 50; Sandbox a tenth"),
        Setting(
            key: .apiSweepInterval, kind: .duration(0...365 * day), standard: ["24h"],
            flag: "apple-api-sweep-interval", placeholder: "TIME",
            help: "how old what is known of an active family copy may grow before Apple is asked "
                + "again; 0s: never"),
        Setting(
            key: .apiBackfillInterval, kind: .duration(0...7 * day), standard: ["15m"],
            flag: "apple-api-backfill-interval", placeholder: "TIME",
            help: "how often Apple is asked for notifications that it could not deliver; 0s: never"
        ),
        Setting(
            key: .apiThreads, kind: .integer(1...64), standard: ["2"],
            flag: "apple-api-threads", placeholder: "N",
            help: "threads that wait for Apple; as many again carry out calls that do"),
    ]

    /// Milliseconds.
    private static let day: Int64 = 86_400_000

    private static let serving: [Setting] = [
        Setting(
            key: .listen, kind: .address, isList: true, standard: ["127.0.0.1:7420"],
            flag: "listen", placeholder: "ADDRESS",
            help: "host:port, [::1]:port or unix:PATH; port 0 picks a free one"),
        Setting(
            key: .http, kind: .hostAddress, flag: "http", placeholder: "ADDRESS",
            help: "listen for Apple's notifications, probes and metrics: host:port or [::1]:port; "
                + "no HTTP listener without it"),
        Setting(
            key: .httpTlsCert, kind: .path, flag: "http-tls-cert", placeholder: "FILE",
            help: "the HTTP listener's certificate chain (PEM), where no proxy speaks TLS for it; "
                + "read again on SIGHUP and when the file changes"),
        Setting(
            key: .httpTlsKey, kind: .path, flag: "http-tls-key", placeholder: "FILE",
            help: "the key of that certificate (PEM)"),
        Setting(
            key: .insecure, kind: .boolean, standard: ["false"], flag: "insecure",
            help: "allow plain text on an address that other machines can reach"),
        Setting(
            key: .threads, kind: .integer(0...256), standard: ["0"], flag: "threads",
            placeholder: "N", help: "event loops that answer checks; 0: one per processor"),
        Setting(
            key: .workers, kind: .integer(0...256), standard: ["0"], flag: "workers",
            placeholder: "N", help: "threads that verify signatures; 0: one per processor"),
        Setting(
            key: .cacheSize, kind: .memory((1 << 20)...(1 << 50)), standard: ["25%"],
            flag: "cache-size", placeholder: "SIZE",
            help: "memory for verdicts and records, as a size or a share of the memory"),
        Setting(
            key: .memtableSize, kind: .size((1 << 20)...(64 << 20)), standard: ["64MiB"],
            flag: "memtable-size", placeholder: "SIZE",
            help: "changes kept in memory before they are written into tables"),
        Setting(
            key: .spinUs, kind: .integer(0...10_000), standard: ["0"], flag: "spin-us",
            placeholder: "N",
            help: "microseconds to poll before sleeping: lower latency for one core"),
        Setting(
            key: .metering, kind: .boolean, standard: ["true"], flag: "metering",
            help: "count checks and units served by day and purchase, for the refund bill"),
        Setting(
            key: .meteringInterval, kind: .duration(100...3_600_000), standard: ["10s"],
            flag: "metering-interval", placeholder: "TIME",
            help: "how often the counts are stored: what a crash may take of them at most"),
    ]

    private static let auth: [Setting] = [
        Setting(
            key: .authKeysFile, kind: .path, flag: "auth-keys-file", credential: "auth-keys",
            placeholder: "FILE",
            help: "who may call: a file of hashed API keys, made with `entitlectl key`; without it "
                + "everybody who reaches a listener may do everything"),
        Setting(
            key: .authOpenMetrics, kind: .boolean, standard: ["false"],
            flag: "auth-open-metrics",
            help: "serve /metrics without a key although there is a keys file"),
        Setting(
            key: .authAuditFile, kind: .path, flag: "auth-audit-file", placeholder: "FILE",
            help: "where admin calls and refused callers are written down; with a keys file "
                + "audit.jsonl in the data directory, without one nowhere unless it is named"),
        Setting(
            key: .authAuditSize, kind: .size((64 << 10)...(1 << 40)), standard: ["64MiB"],
            flag: "auth-audit-size", placeholder: "SIZE",
            help: "when that file is put aside for a new one; four old ones are kept"),
    ]

    private static let limits: [Setting] = [
        Setting(
            key: .maxFrame, kind: .size((64 << 10)...(1 << 20)), standard: ["1MiB"],
            flag: "limits-max-frame", placeholder: "SIZE", help: "the largest request"),
        Setting(
            key: .maxConnections, kind: .integer(1...1_000_000), standard: ["10000"],
            flag: "limits-max-connections", placeholder: "N", help: "connections at a time"),
        Setting(
            key: .maxConnectionsPerPeer, kind: .integer(0...1_000_000), standard: ["0"],
            flag: "limits-max-connections-per-peer", placeholder: "N",
            help: "connections of one address (of one /64 of IPv6) at a time; 0: half of all for "
                + "other machines, no bound for this one"),
        Setting(
            key: .maxBuffered, kind: .size((64 << 10)...(1 << 40)), standard: ["512MiB"],
            flag: "limits-max-buffered", placeholder: "SIZE",
            help: "memory for frames, unanswered requests and answers not taken, of all "
                + "connections"),
        Setting(
            key: .maxInflight, kind: .integer(1...65_536), standard: ["1024"],
            flag: "limits-max-inflight", placeholder: "N",
            help: "unanswered requests of one connection"),
        Setting(
            key: .maxBatch, kind: .integer(1...1_000), standard: ["1000"],
            flag: "limits-max-batch", placeholder: "N", help: "checks in one batch"),
        Setting(
            key: .maxHttpBody, kind: .size((64 << 10)...(64 << 20)), standard: ["4MiB"],
            flag: "limits-max-http-body", placeholder: "SIZE",
            help: "the largest body of a POST: a version 1 body carries a whole receipt"),
        Setting(
            key: .maxHttpConnections, kind: .integer(1...65_536), standard: ["1024"],
            flag: "limits-max-http-connections", placeholder: "N",
            help: "connections of the HTTP listener at a time"),
        Setting(
            key: .defaultDeadline, kind: .duration(1...3_600_000), standard: ["5s"],
            flag: "limits-default-deadline", placeholder: "TIME",
            help: "for requests that name none"),
        Setting(
            key: .maxDeadline, kind: .duration(1...3_600_000), standard: ["60s"],
            flag: "limits-max-deadline", placeholder: "TIME", help: "the longest deadline kept"),
    ]

    private static let tls: [Setting] = [
        Setting(
            key: .tlsCert, kind: .path, flag: "tls-cert", placeholder: "FILE",
            help: "the certificate chain (PEM) of the TCP listeners: they speak TLS then; read "
                + "again on SIGHUP and when the file changes"),
        Setting(
            key: .tlsKey, kind: .path, flag: "tls-key", placeholder: "FILE",
            help: "the unencrypted key of that certificate (PEM)"),
        Setting(
            key: .tlsClientCa, kind: .path, flag: "tls-client-ca", placeholder: "FILE",
            help: "the authorities (PEM) one of which must have issued the certificate that every "
                + "client shows; nobody is asked for one without it"),
        Setting(
            key: .tlsMinVersion, kind: .choice(["1.2", "1.3"]), standard: ["1.2"],
            flag: "tls-min-version", placeholder: "VERSION",
            help: "the lowest version of TLS spoken"),
    ]
}
