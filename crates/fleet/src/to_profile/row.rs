//! Rows of a table with names for their columns.

use crate::row_sums::Tables;
use crate::schema::Table;
use crate::values::NONE;

/// Rows of a table.
#[derive(Clone, Copy)]
pub(super) struct TableRows<'t> {
    pub(super) tables: &'t Tables,
    pub(super) table: Table,
}

/// A row.
#[derive(Clone, Copy)]
pub(super) struct Row<'t> {
    pub(super) tables: &'t Tables,
    key: &'t [u32],
    counts: &'t [i64],
}

impl<'t> TableRows<'t> {
    pub(super) fn iter(self) -> impl Iterator<Item = Row<'t>> {
        let Self { tables, table } = self;
        tables.rows_of(table).rows().map(move |(key, counts)| Row { tables, key, counts })
    }

    /// Index of a column.
    pub(super) fn column(self, name: &str) -> usize {
        self.table.key_index(name).unwrap_or(usize::MAX)
    }
}

impl<'t> Row<'t> {
    pub(super) fn id(self, column: usize) -> u32 {
        self.key.get(column).copied().unwrap_or(NONE)
    }

    pub(super) fn text(self, column: usize) -> Option<&'t str> {
        self.tables.values.get_text(self.id(column))
    }

    pub(super) fn number(self, column: usize) -> Option<i64> {
        self.tables.values.get_number(self.id(column))
    }

    /// A number as an unsigned one of the same bits; 0 if there is none.
    pub(super) fn unsigned(self, column: usize) -> u64 {
        self.number(column).unwrap_or_default() as u64
    }

    /// A count; none is negative.
    pub(super) fn count(self, index: usize) -> u64 {
        self.counts.get(index).copied().unwrap_or_default().unsigned_abs()
    }
}
