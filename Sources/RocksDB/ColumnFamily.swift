/// One column family of an open database: its place in the list that the database was opened with.
///
/// The handle of the C library stays with the `Database`, which destroys all of them before it
/// closes; a family used with another database traps on its index or names the wrong records, so
/// a value of this type never leaves the code that opened the database.
package struct ColumnFamily: Hashable, Sendable {
    /// The place in the list of families.
    package let index: Int

    /// The family at `index` of the list given to `Database.init`.
    package init(index: Int) {
        self.index = index
    }
}
