//! The five tables: their columns, and which of them are summed.
//!
//! Every table is a sum: rows whose keys agree are one row, whose counts are added. So the merge of any set of
//! tables is `SELECT keys, SUM(counts) GROUP BY keys`. docs/formats.md says what the columns mean.

/// Number of groups that hosts are put into, see [`host_group`]. As many as a recording has time blocks.
pub const HOST_GROUPS: u64 = 20;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8.
    Text,
    /// Signed, of 64 bits.
    Number,
}

/// A column of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub column_type: ColumnType,
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The recordings, one a row.
    Recordings,
    /// Samples by event and reason, and by time block.
    Coverage,
    /// Types and their members.
    Layouts,
    /// Accesses to members.
    Accesses,
    /// Samples close in time.
    Windows,
}

const fn text(name: &'static str) -> KeyColumn {
    KeyColumn { name, column_type: ColumnType::Text }
}

const fn number(name: &'static str) -> KeyColumn {
    KeyColumn { name, column_type: ColumnType::Number }
}

const HOST: KeyColumn = text("host");
const DAY: KeyColumn = text("day");
const LABELS: KeyColumn = text("labels");
const HOST_GROUP: KeyColumn = number("host_group");
const BLOCK: KeyColumn = number("block");
const BUILD_ID: KeyColumn = text("build_id");

const RECORDINGS: [KeyColumn; 10] = [
    HOST,
    DAY,
    LABELS,
    BUILD_ID,
    text("other_build_ids"),
    text("kernel"),
    text("file"),
    text("command"),
    number("cacheline"),
    text("blind_spots"),
];
const COVERAGE: [KeyColumn; 8] =
    [HOST, DAY, LABELS, HOST_GROUP, BLOCK, BUILD_ID, text("event"), text("reason")];
const LAYOUTS: [KeyColumn; 10] = [
    BUILD_ID,
    text("type"),
    text("fingerprint"),
    number("type_size"),
    number("line_size"),
    text("member"),
    text("member_type"),
    number("offset"),
    number("size"),
    text("layout"),
];
const ACCESSES: [KeyColumn; 16] = [
    HOST,
    DAY,
    LABELS,
    HOST_GROUP,
    BLOCK,
    BUILD_ID,
    text("type"),
    text("fingerprint"),
    text("member"),
    number("offset"),
    number("size"),
    number("ip"),
    text("function"),
    number("cpu"),
    number("written"),
    text("measure"),
];
const WINDOWS: [KeyColumn; 7] = [HOST, DAY, LABELS, HOST_GROUP, BLOCK, BUILD_ID, text("words")];

impl Table {
    /// All tables, recordings first.
    pub const ALL: [Self; 5] =
        [Self::Recordings, Self::Coverage, Self::Layouts, Self::Accesses, Self::Windows];

    /// Its name: that of its file, without the ending.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recordings => "recordings",
            Self::Coverage => "coverage",
            Self::Layouts => "layouts",
            Self::Accesses => "accesses",
            Self::Windows => "windows",
        }
    }

    /// Columns by which rows are told apart.
    pub fn keys(self) -> &'static [KeyColumn] {
        match self {
            Self::Recordings => &RECORDINGS,
            Self::Coverage => &COVERAGE,
            Self::Layouts => &LAYOUTS,
            Self::Accesses => &ACCESSES,
            Self::Windows => &WINDOWS,
        }
    }

    /// Columns that are added, all of numbers.
    pub fn sums(self) -> &'static [&'static str] {
        match self {
            Self::Recordings => &["samples", "lost", "callchains", "branch_stacks", "branch_runs"],
            Self::Coverage => &["samples", "period"],
            Self::Layouts => &["profiles"],
            Self::Accesses | Self::Windows => &["count"],
        }
    }

    /// The table that has these columns.
    pub fn with_columns<'c>(mut has: impl FnMut(&'static str) -> bool + 'c) -> Option<Self> {
        Self::ALL.into_iter().find(|table| {
            table.keys().iter().map(|key| key.name).chain(table.sums().iter().copied()).all(&mut has)
        })
    }

    /// Index of a column among the keys.
    pub fn key_index(self, name: &str) -> Option<usize> {
        self.keys().iter().position(|key| key.name == name)
    }
}

/// The group of a host, 0 to 19: intervals draw whole groups, so that all of a host is in or out. FNV-1a of
/// 64 bits over the name, modulo [`HOST_GROUPS`].
pub fn host_group(host: &str) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in host.as_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    // The low bits of FNV depend on the low bits of the bytes alone.
    ((hash ^ (hash >> 32)) % HOST_GROUPS) as i64
}

/// The keys that tables keep; other columns become empty, and rows that differ in them only are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    dropped: Vec<&'static str>,
    only: Option<Vec<Table>>,
}

impl Projection {
    /// All keys.
    pub fn all() -> Self {
        Self { dropped: Vec::new(), only: None }
    }

    /// The keys that a merge keeps: not the host, the day or the time block, which only `recordings` keeps. `kept`
    /// names those of `host` and `day` that all tables keep.
    pub fn merged(kept: &[&str]) -> Self {
        let dropped = ["host", "day", "block"].into_iter().filter(|name| !kept.contains(name));
        Self { dropped: dropped.collect(), only: None }
    }

    /// All keys but some.
    pub fn without(dropped: &[&'static str]) -> Self {
        Self { dropped: dropped.to_vec(), only: None }
    }

    /// Of these tables only.
    #[must_use]
    pub fn of_tables(mut self, tables: &[Table]) -> Self {
        self.only = Some(tables.to_vec());
        self
    }

    /// Whether a table is read at all.
    pub fn reads(&self, table: Table) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&table))
    }

    /// Whether a table keeps a key.
    pub fn keeps(&self, table: Table, key: &str) -> bool {
        table == Table::Recordings || !self.dropped.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_table_is_known_by_its_columns() {
        for table in Table::ALL {
            let names: BTreeSet<&str> =
                table.keys().iter().map(|key| key.name).chain(table.sums().iter().copied()).collect();
            assert_eq!(Table::with_columns(|name| names.contains(name)), Some(table));
            assert_eq!(names.len(), table.keys().len() + table.sums().len(), "each name once");
        }
        assert_eq!(Table::with_columns(|name| name == "host"), None);
    }

    #[test]
    fn hosts_spread_over_all_groups() {
        let groups: BTreeSet<i64> = (0..200).map(|host| host_group(&format!("web{host:04}"))).collect();
        assert_eq!(groups.len() as u64, HOST_GROUPS);
    }
}
