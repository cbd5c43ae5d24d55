//! The merge as SQL: the files `sql/*.sql`, which packages have too. A test compares them with this.

use crate::schema::{ColumnType, Projection, Table};
use std::fmt::Write;

/// An engine that merges by SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB.
    DuckDb,
    /// Spark SQL.
    Spark,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 2] = [Self::DuckDb, Self::Spark];

    /// Name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::DuckDb => "merge.duckdb.sql",
            Self::Spark => "merge.spark.sql",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::DuckDb => "DuckDB",
            Self::Spark => "Spark SQL",
        }
    }

    fn quoted(self, name: &str) -> String {
        match self {
            Self::DuckDb => format!("\"{name}\""),
            Self::Spark => format!("`{name}`"),
        }
    }

    fn type_name(self, column_type: ColumnType) -> &'static str {
        match (self, column_type) {
            (_, ColumnType::Number) => "BIGINT",
            (Self::DuckDb, ColumnType::Text) => "VARCHAR",
            (Self::Spark, ColumnType::Text) => "STRING",
        }
    }

    fn statement(self, table: Table) -> String {
        let projection = Projection::merged(&[]);
        let (keys, name) = (table.keys(), table.name());
        let column = |key: &crate::schema::KeyColumn| match projection.keeps(table, key.name) {
            true => self.quoted(key.name),
            false => {
                format!("CAST(NULL AS {}) AS {}", self.type_name(key.column_type), self.quoted(key.name))
            }
        };
        let sums = table.sums().iter().map(|sum| {
            let quoted = self.quoted(sum);
            format!("CAST(SUM({quoted}) AS BIGINT) AS {quoted}")
        });
        let columns: Vec<String> = keys.iter().map(column).chain(sums).collect();
        let kept = keys.iter().filter(|key| projection.keeps(table, key.name));
        let kept: Vec<String> = kept.map(|key| self.quoted(key.name)).collect();
        let (columns, kept) = (columns.join(",\n       "), kept.join(", "));
        match self {
            Self::DuckDb => format!(
                "COPY (\nSELECT {columns}\nFROM read_parquet('fleet/**/{name}.parquet')\nGROUP BY {kept}\n) TO \
                 'merged/{name}.parquet' (FORMAT parquet, COMPRESSION snappy);\n"
            ),
            Self::Spark => format!(
                "CREATE OR REPLACE TEMPORARY VIEW {name} USING parquet\nOPTIONS (path 'fleet', recursiveFileLookup \
                 'true', pathGlobFilter '{name}.parquet');\n\nINSERT OVERWRITE DIRECTORY 'merged/{name}' USING \
                 parquet OPTIONS (compression 'snappy')\nSELECT {columns}\nFROM {name}\nGROUP BY {kept};\n"
            ),
        }
    }

    /// The text of its file.
    pub fn merge(self) -> String {
        let mut out = format!(
            "-- Merges the tables below the folder fleet into the folder merged, by {}. docs/fleet.md says how.\n\
             -- Of host and day, which are left out here, those that are wanted may stay: name them in SELECT and \
             GROUP BY.\n",
            self.name()
        );
        for table in Table::ALL {
            let _ = write!(out, "\n{}", self.statement(table));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_what_the_schema_says() {
        for engine in Engine::ALL {
            let path = format!("{}/sql/{}", env!("CARGO_MANIFEST_DIR"), engine.file_name());
            if std::env::var_os("WRITE_SQL").is_some() {
                std::fs::write(&path, engine.merge()).unwrap();
            }
            let file = std::fs::read_to_string(&path).unwrap();
            assert_eq!(file, engine.merge(), "{path}; write it by this test with WRITE_SQL=1");
        }
    }
}
