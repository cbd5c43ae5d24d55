//! Parquet to tables: columns are decoded in batches, and rows added up at once.

use super::CHECKSUM;
use crate::error::{Error, FileProblem};
use crate::filter::Filter;
use crate::row_sums::Tables;
use crate::schema::{ColumnType, Projection, Table};
use crate::values::{NONE, Values};
use bytes::Bytes;
use fieldline_files::printable::{self, printable};
use parquet::basic::Type as PhysicalType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::path::Path;

/// Rows decoded at once.
const BATCH: usize = 16_384;

/// Rows and keys to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'s> {
    pub(crate) projection: &'s Projection,
    pub(crate) filter: &'s Filter,
}

/// Adds the rows of a file to those of its table. Files of tables that are not asked for are only looked at.
pub(crate) fn read_table(path: &Path, into: &mut Tables, selection: Selection<'_>) -> Result<Table, Error> {
    read(path, into, selection).map_err(|problem| Error::new(path, problem))
}

fn read(path: &Path, into: &mut Tables, selection: Selection<'_>) -> Result<Table, FileProblem> {
    let file = fieldline_files::open(path).map_err(FileProblem::Unreadable)?;
    let table = table_of(SerializedFileReader::new(file)?.metadata())?;
    if !selection.projection.reads(table) {
        return Ok(table);
    }
    let bytes = Bytes::from(fieldline_files::read(path).map_err(FileProblem::Unreadable)?);
    let reader = SerializedFileReader::new(bytes.clone())?;
    check_sum(&bytes, reader.metadata())?;
    let mut rows = RowReader::new(table, reader.metadata(), selection)?;
    for group in 0..reader.num_row_groups() {
        rows.read_group(reader.get_row_group(group)?.as_ref(), into)?;
    }
    Ok(table)
}

fn column_names(metadata: &ParquetMetaData) -> Vec<String> {
    let columns = metadata.file_metadata().schema_descr().columns();
    columns.iter().map(|column| printable(&column.path().string()).into_owned()).collect()
}

fn table_of(metadata: &ParquetMetaData) -> Result<Table, FileProblem> {
    let names = column_names(metadata);
    let has = |name: &'static str| names.iter().any(|known| known == name);
    Table::with_columns(has).ok_or_else(|| FileProblem::NoTable(names.join(", ")))
}

/// Compares the bytes that values are decoded of with the checksum that our files have.
fn check_sum(bytes: &Bytes, metadata: &ParquetMetaData) -> Result<(), FileProblem> {
    let values = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let mut sums = values.filter(|entry| entry.key == CHECKSUM).filter_map(|entry| entry.value.as_ref());
    let Some((length, sum)) = sums.next().and_then(|expected| expected.split_once(' ')) else {
        return Ok(());
    };
    let data = length.parse().ok().and_then(|length: usize| bytes.get(..length));
    match data.map(crc32fast::hash) {
        Some(found) if found.to_string() == *sum => Ok(()),
        _ => Err(FileProblem::Broken("its bytes don't fit its checksum".to_owned())),
    }
}

/// Columns of a file that are read, and how rows come of them.
struct RowReader<'s> {
    table: Table,
    selection: Selection<'s>,
    /// By key of the table: the column in the file, and whether it is a key of the result.
    keys: Vec<(usize, bool)>,
    sums: Vec<usize>,
    row: u64,
}

impl<'s> RowReader<'s> {
    fn new(table: Table, metadata: &ParquetMetaData, selection: Selection<'s>) -> Result<Self, FileProblem> {
        let names = column_names(metadata);
        let at = |name: &str| names.iter().position(|known| known == name).unwrap_or_default();
        let columns = metadata.file_metadata().schema_descr().columns();
        let check = |name: &'static str, column_type: ColumnType| {
            let column = columns.get(at(name));
            let is_flat =
                column.is_some_and(|column| column.max_rep_level() == 0 && column.max_def_level() < 2);
            let physical = column.map(|column| column.physical_type());
            let (fits, wanted) = match column_type {
                ColumnType::Text => (physical == Some(PhysicalType::BYTE_ARRAY), "text"),
                ColumnType::Number => {
                    (matches!(physical, Some(PhysicalType::INT64 | PhysicalType::INT32)), "whole numbers")
                }
            };
            if fits && is_flat { Ok(at(name)) } else { Err(FileProblem::ColumnType(name, wanted)) }
        };
        let key = |key: &crate::schema::KeyColumn| {
            Ok((check(key.name, key.column_type)?, selection.projection.keeps(table, key.name)))
        };
        let keys = table.keys().iter().map(key).collect::<Result<_, FileProblem>>()?;
        let sums =
            table.sums().iter().map(|name| check(name, ColumnType::Number)).collect::<Result<_, _>>()?;
        Ok(Self { table, selection, keys, sums, row: 0 })
    }

    fn read_group(&mut self, group: &dyn RowGroupReader, into: &mut Tables) -> Result<(), FileProblem> {
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let filtered = |name: &str| self.selection.filter.uses(self.table, name);
        let columns = self.table.keys().iter().zip(&self.keys).map(|(key, (column, is_kept))| {
            let is_read = *is_kept || filtered(key.name);
            let is_list = matches!(key.name, "words" | "blind_spots");
            Ok(match is_read {
                true => Some(Column::new(group.get_column_reader(*column)?, is_list)),
                false => None,
            })
        });
        let mut keys = columns.collect::<Result<Vec<_>, FileProblem>>()?;
        let sums = self.sums.iter().map(|column| Ok(Column::new(group.get_column_reader(*column)?, false)));
        let mut sums = sums.collect::<Result<Vec<_>, FileProblem>>()?;
        let mut left = rows;
        while left > 0 {
            let batch = left.min(BATCH);
            for column in keys.iter_mut().flatten() {
                column.read_ids(batch, &mut into.values)?;
            }
            for column in &mut sums {
                column.read_counts(batch).map_err(|problem| match problem {
                    CountProblem::Row(row, problem) => {
                        FileProblem::Row { row: self.row + row as u64 + 1, problem: problem.to_owned() }
                    }
                    CountProblem::Broken(problem) => problem,
                })?;
            }
            self.add_rows(batch, &keys, &sums, into)?;
            self.row += batch as u64;
            left -= batch;
        }
        Ok(())
    }

    fn add_rows(
        &self,
        batch: usize,
        keys: &[Option<Column>],
        sums: &[Column],
        into: &mut Tables,
    ) -> Result<(), FileProblem> {
        let mut key = vec![NONE; keys.len()];
        let mut counts = vec![0; sums.len()];
        let mut verdict = self.selection.filter.verdicts(self.table);
        for row in 0..batch {
            let id = |column: &Option<Column>| column.as_ref().map_or(NONE, |column| column.id(row));
            let is_kept = verdict.keeps(&into.values, |index| keys.get(index).map_or(NONE, id))?;
            if !is_kept {
                continue;
            }
            for ((slot, column), (_, is_key)) in key.iter_mut().zip(keys).zip(&self.keys) {
                *slot = if *is_key { id(column) } else { NONE };
            }
            for (slot, column) in counts.iter_mut().zip(sums) {
                *slot = column.counts.get(row).copied().unwrap_or_default();
            }
            into.add(self.table, &key, &counts)?;
        }
        Ok(())
    }
}

/// A column of a row group, with the batch decoded last.
struct Column {
    reader: ColumnReader,
    /// Whether its texts are lists of names, on lines and between tabs.
    is_list: bool,
    levels: Vec<i16>,
    ids: Vec<u32>,
    counts: Vec<i64>,
}

/// A problem of a batch of counts.
enum CountProblem {
    /// A row, from 0 in the batch.
    Row(usize, &'static str),
    Broken(FileProblem),
}

impl Column {
    fn new(reader: ColumnReader, is_list: bool) -> Self {
        Self { reader, is_list, levels: Vec::new(), ids: Vec::new(), counts: Vec::new() }
    }

    fn id(&self, row: usize) -> u32 {
        self.ids.get(row).copied().unwrap_or(NONE)
    }

    fn read_ids(&mut self, batch: usize, values: &mut Values) -> Result<(), FileProblem> {
        let Self { reader, levels, ids, is_list, .. } = self;
        ids.clear();
        match reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                let texts = read_batch::<ByteArrayType>(reader, batch, levels)?;
                let found = text_ids(&texts, *is_list, values)?;
                spread(levels, &found, batch, ids);
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let numbers = read_batch::<Int64Type>(reader, batch, levels)?;
                let found: Vec<u32> = number_ids(numbers.into_iter(), values);
                spread(levels, &found, batch, ids);
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let numbers = read_batch::<Int32Type>(reader, batch, levels)?;
                let found: Vec<u32> = number_ids(numbers.into_iter().map(i64::from), values);
                spread(levels, &found, batch, ids);
            }
            _ => {}
        }
        Ok(())
    }

    fn read_counts(&mut self, batch: usize) -> Result<(), CountProblem> {
        let Self { reader, levels, counts, .. } = self;
        let read = match reader {
            ColumnReader::Int64ColumnReader(reader) => read_batch::<Int64Type>(reader, batch, levels),
            ColumnReader::Int32ColumnReader(reader) => read_batch::<Int32Type>(reader, batch, levels)
                .map(|numbers| numbers.into_iter().map(i64::from).collect()),
            _ => Ok(Vec::new()),
        };
        *counts = read.map_err(CountProblem::Broken)?;
        if let Some(row) = counts.iter().position(|count| *count < 0) {
            return Err(CountProblem::Row(row, "a count is negative"));
        }
        match counts.len() == batch {
            true => Ok(()),
            false => Err(CountProblem::Row(counts.len(), "a count is missing")),
        }
    }
}

/// The next values of a column, without those that are missing, and the levels that say which are.
fn read_batch<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    batch: usize,
    levels: &mut Vec<i16>,
) -> Result<Vec<T::T>, FileProblem> {
    levels.clear();
    let mut values = Vec::new();
    let mut rows = 0;
    while rows < batch {
        let (read, ..) = reader.read_records(batch - rows, Some(levels), None, &mut values)?;
        if read == 0 {
            return Err(FileProblem::Broken("a column has fewer rows than the file says".to_owned()));
        }
        rows += read;
    }
    Ok(values)
}

/// One number a row: of the values in turn where there is one.
fn spread(levels: &[i16], found: &[u32], batch: usize, ids: &mut Vec<u32>) {
    if levels.is_empty() {
        ids.extend_from_slice(found);
        ids.resize(batch, NONE);
        return;
    }
    let mut found = found.iter();
    ids.extend(levels.iter().map(|level| match level {
        0 => NONE,
        _ => found.next().copied().unwrap_or(NONE),
    }));
}

/// Numbers of texts. Values of a dictionary lie at the same place in memory each time, so that most are found
/// by that; places mean something within a batch only.
fn text_ids(texts: &[ByteArray], is_list: bool, values: &mut Values) -> Result<Vec<u32>, FileProblem> {
    let mut by_place: FxHashMap<(usize, usize), u32> = FxHashMap::default();
    let mut ids = Vec::with_capacity(texts.len());
    let mut last = ((0, 0), NONE);
    for text in texts {
        let place = (text.data().as_ptr() as usize, text.len());
        if place != last.0 {
            let id = match by_place.get(&place) {
                Some(id) => *id,
                None => {
                    let text = std::str::from_utf8(text.data());
                    let text = text.map_err(|_| FileProblem::Broken("a text is no UTF-8".to_owned()))?;
                    let id = values.text(&printable_text(text, is_list));
                    by_place.insert(place, id);
                    id
                }
            };
            last = (place, id);
        }
        ids.push(last.1);
    }
    Ok(ids)
}

/// Control characters are written out, but for those that separate names in a list.
fn printable_text(text: &str, is_list: bool) -> Cow<'_, str> {
    printable::escape(text, |character| {
        let separates = is_list && matches!(character, '\n' | '\t');
        !separates && printable::is_unprintable(character)
    })
}

fn number_ids(numbers: impl Iterator<Item = i64>, values: &mut Values) -> Vec<u32> {
    let mut last = None;
    numbers
        .map(|number| match last {
            Some((known, id)) if known == number => id,
            _ => {
                let id = values.number(number);
                last = Some((number, id));
                id
            }
        })
        .collect()
}
