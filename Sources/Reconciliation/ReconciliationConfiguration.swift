/// When and how much Apple is asked without being told to; all durations in milliseconds.
package struct ReconciliationConfiguration: Hashable, Sendable {
    /// Threads that fetch queued customers. Each waits for the network most of the time.
    package var fetchThreadCount = 2
    /// How often the queue and the timetable are looked at while nothing rings.
    package var pollInterval: Int64 = 1_000
    /// For one fetch of the queue: at 40 pages a second 480,000 transactions.
    package var fetchTimeout: Int64 = 10 * 60_000
    /// For one page or question that no client waits for.
    package var pageTimeout: Int64 = 2 * 60_000
    /// For one call of a client, however long it would wait: a front end's patience is a minute.
    package var callTimeoutMax: Int64 = 55_000

    /// How often missed notifications are looked for; 0: never by itself.
    package var backfillInterval: Int64 = 15 * 60_000
    /// How far a window reaches back before the mark: what Apple signed just before it may have
    /// come into its history just after.
    package var backfillOverlap: Int64 = 10 * 60_000
    /// How far back undelivered ones are looked for. Apple's last attempt comes after 157 hours.
    package var failureLookback: Int64 = 7 * 86_400_000
    /// How far back the first start reaches. 0: a server that is set up for an app with years of
    /// history does not replay it by itself; an operator says so with `entitlectl backfill`.
    package var firstBackfill: Int64 = 0
    /// A longer window is read in parts, and each part that is done is done for good.
    package var backfillPart: Int64 = 86_400_000

    /// Every active family copy is fetched at least this often, so that a lost REVOKE is found
    /// within it; 0: never by itself.
    package var sweepInterval: Int64 = 86_400_000
    /// With this many fetches due the sweep adds none: the queue stays short for those who wait.
    package var sweepQueueMax = 128
    /// Customers that a sweep looks at in one go.
    package var sweepPageCount = 512

    /// The defaults.
    package init() {}

    /// How old a fetch must be for the sweep to repeat it, and how often a sweep begins. Half of
    /// the interval each: together they keep it.
    var sweepAge: Int64 { max(1, sweepInterval / 2) }
}
