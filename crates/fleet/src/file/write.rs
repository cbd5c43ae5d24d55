//! Tables to Parquet: Snappy, dictionaries, all columns optional, as engines write them.

use super::CHECKSUM;
use crate::error::FileProblem;
use crate::row_sums::Tables;
use crate::schema::{ColumnType, Table};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a row group: what a reader decodes at once, at most.
const ROW_GROUP: usize = 250_000;

/// A table as the bytes of a Parquet file. The same rows give the same bytes.
///
/// # Errors
/// If the library can't write it.
pub fn to_parquet(tables: &Tables, table: Table) -> Result<Vec<u8>, FileProblem> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by("fieldline".to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema(table)?), Arc::new(properties))?;
    let rows = tables.rows_of(table).len();
    for first in (0..rows.max(1)).step_by(ROW_GROUP) {
        let mut group = writer.next_row_group()?;
        write_rows(&mut group, tables, table, first..rows.min(first + ROW_GROUP))?;
        group.close()?;
    }
    writer.flush().map_err(FileProblem::Unreadable)?;
    let checksum = format!("{} {}", writer.inner().len(), crc32fast::hash(writer.inner()));
    writer.append_key_value_metadata(KeyValue::new(CHECKSUM.to_owned(), checksum));
    Ok(writer.into_inner()?)
}

fn schema(table: Table) -> Result<Type, FileProblem> {
    let column = |name: &str, column_type| {
        let builder = match column_type {
            ColumnType::Text => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
            ColumnType::Number => Type::primitive_type_builder(name, PhysicalType::INT64),
        };
        Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).build()?))
    };
    let keys = table.keys().iter().map(|key| column(key.name, key.column_type));
    let sums = table.sums().iter().map(|name| column(name, ColumnType::Number));
    let fields = keys.chain(sums).collect::<Result<Vec<_>, FileProblem>>()?;
    Ok(Type::group_type_builder(table.name()).with_fields(fields).build()?)
}

fn write_rows(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    tables: &Tables,
    table: Table,
    range: Range<usize>,
) -> Result<(), FileProblem> {
    let rows = tables.rows_of(table);
    for (index, key) in table.keys().iter().enumerate() {
        let ids = range.clone().map(|row| rows.key(row).get(index).copied().unwrap_or_default());
        match key.column_type {
            ColumnType::Text => {
                let values = ids.map(|id| tables.values.get_text(id).map(ByteArray::from));
                write_column::<ByteArrayType>(group, values)?;
            }
            ColumnType::Number => {
                write_column::<Int64Type>(group, ids.map(|id| tables.values.get_number(id)))?;
            }
        }
    }
    for index in 0..table.sums().len() {
        let counts = range.clone().map(|row| rows.counts(row).get(index).copied());
        write_column::<Int64Type>(group, counts)?;
    }
    Ok(())
}

fn write_column<T: parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    column: impl Iterator<Item = Option<T::T>>,
) -> Result<(), FileProblem> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in column {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    let missing = || FileProblem::Broken("the schema has fewer columns".to_owned());
    let mut writer = group.next_column()?.ok_or_else(missing)?;
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(writer.close()?)
}
