//! Blocks that intervals draw: time blocks of one host, groups of whole hosts of several.

use super::context::RowWeights;
use super::row::{Row, TableRows};
use crate::row_sums::Tables;
use crate::schema::Table;
use std::collections::{BTreeMap, BTreeSet};

/// The key of a block: a day and its time block, or a group of hosts.
type BlockKey<'t> = (Option<&'t str>, i64);

/// The blocks of a profile.
pub(super) struct Blocks<'t> {
    /// Whether the rows are of one host with time blocks.
    is_by_time: bool,
    indices: BTreeMap<BlockKey<'t>, u32>,
}

impl<'t> Blocks<'t> {
    pub(super) fn new(tables: &'t Tables) -> Self {
        let recordings = TableRows { tables, table: Table::Recordings };
        let hosts: BTreeSet<_> = recordings.iter().map(|row| row.id(recordings.column("host"))).collect();
        let rows = TableRows { tables, table: Table::Coverage };
        let block = rows.column("block");
        let has_blocks = rows.iter().any(|row| row.number(block).is_some());
        let mut found = Self { is_by_time: hosts.len() < 2 && has_blocks, indices: BTreeMap::new() };
        let keys = [Table::Coverage, Table::Accesses, Table::Windows].into_iter().flat_map(|table| {
            let columns = Columns::new(tables, table);
            let is_by_time = found.is_by_time;
            let rows = TableRows { tables, table }.iter();
            rows.filter_map(move |row| columns.key(row, is_by_time))
        });
        let keys: BTreeSet<BlockKey<'t>> = keys.collect();
        let is_alone = hosts.len() < 2 && !has_blocks;
        if !is_alone {
            found.indices = keys.into_iter().zip(0..).collect();
        }
        found
    }

    /// The block of a row.
    pub(super) fn index(&self, row: Row<'t>, columns: Columns) -> Option<u32> {
        columns.key(row, self.is_by_time).and_then(|key| self.indices.get(&key)).copied()
    }

    /// Samples by block.
    pub(super) fn samples(&self, tables: &'t Tables, weights: &RowWeights<'_>) -> Vec<u64> {
        let mut samples = vec![0_u64; self.indices.len()];
        let columns = Columns::new(tables, Table::Coverage);
        let rows = TableRows { tables, table: Table::Coverage };
        let labels = rows.column("labels");
        for row in rows.iter() {
            let block = self.index(row, columns).and_then(|block| samples.get_mut(block as usize));
            if let Some(sum) = block {
                *sum = sum.saturating_add(row.count(0).saturating_mul(weights.weight(row.id(labels))));
            }
        }
        samples
    }
}

/// Columns that say which block a row is of.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    day: usize,
    block: usize,
    host_group: usize,
}

impl Columns {
    pub(super) fn new(tables: &Tables, table: Table) -> Self {
        let rows = TableRows { tables, table };
        let [day, block, host_group] = ["day", "block", "host_group"].map(|name| rows.column(name));
        Self { day, block, host_group }
    }

    fn key<'t>(self, row: Row<'t>, is_by_time: bool) -> Option<BlockKey<'t>> {
        match is_by_time {
            true => Some((row.text(self.day), row.number(self.block)?)),
            false => Some((None, row.number(self.host_group)?)),
        }
    }
}
