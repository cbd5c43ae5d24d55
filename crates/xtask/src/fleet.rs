//! Merges of a made-up fleet, by this program, DuckDB and Spark: `cargo xtask fleet`.
//!
//! Hosts are parts of real profiles, in three builds. All engines have to give the same rows.

mod hosts;

use crate::tools::cost::{RunCost, run_measured};
use crate::tools::shell::{self, print_line, root};
use anyhow::{Context, Result, bail};
use fieldline_access::AccessProfile;
use fieldline_fleet::dataset::{Dataset, ReadOptions};
use fieldline_fleet::row_sums::Tables;
use fieldline_fleet::schema::{ColumnType, Projection, Table};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Engines from PyPI, in the versions this was tried with.
const ENGINES: [&str; 2] = ["duckdb==2.0.1", "pyspark==4.3.0"];
const RUN_DUCKDB: &str = include_str!("fleet/run_duckdb.py");
const RUN_SPARK: &str = include_str!("fleet/run_spark.py");
const USAGE: &str = "usage: cargo xtask fleet [--hosts N] [--python PYTHON] [--folder DIR] PROFILE.json…";

/// Arguments.
struct Request {
    hosts: usize,
    /// A Python that has the engines.
    python: Option<PathBuf>,
    folder: PathBuf,
    profiles: Vec<PathBuf>,
}

impl Request {
    fn parse(args: &[String]) -> Result<Self> {
        let mut request =
            Self { hosts: 1000, python: None, folder: root().join("target/fleet"), profiles: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--hosts" => request.hosts = args.next().context(USAGE)?.parse().context(USAGE)?,
                "--python" => request.python = args.next().map(PathBuf::from),
                "--folder" => request.folder = args.next().map(PathBuf::from).context(USAGE)?,
                path => request.profiles.push(PathBuf::from(path)),
            }
        }
        if request.profiles.is_empty() {
            bail!(USAGE);
        }
        Ok(request)
    }
}

/// `cargo xtask fleet`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let request = Request::parse(args)?;
    let program = shell::fieldline()?;
    std::fs::create_dir_all(&request.folder)?;
    let folder = request.folder.canonicalize()?;
    let python = match &request.python {
        Some(python) => python.clone(),
        None => install_engines(&folder)?,
    };
    let profiles = request.profiles.iter().map(|path| read_profile(path)).collect::<Result<Vec<_>>>()?;
    let rows = hosts::write(&profiles, request.hosts, &folder.join("fleet"))?;
    print_line!("{} hosts, {rows} rows", request.hosts);
    let mut command = Command::new(&program);
    command.current_dir(&folder).args(["merge", "fleet/**/*.parquet", "--format", "parquet", "-o", "ours"]);
    let cost = measured("fieldline merge", &mut command)?;
    let is_within = cost.time.as_secs() <= 60 && cost.resident <= 2_000_000;
    for (name, script, sql) in
        [("DuckDB", RUN_DUCKDB, "merge.duckdb.sql"), ("Spark", RUN_SPARK, "merge.spark.sql")]
    {
        remove(&folder.join("merged"))?;
        let sql = root().join("crates/fleet/sql").join(sql);
        let mut command = Command::new(&python);
        let start = Instant::now();
        shell::run(command.current_dir(&folder).args(["-c", script]).arg(sql))?;
        print_line!("{name}: {:.1} s", start.elapsed().as_secs_f64());
        compare(&folder)?;
        if name == "DuckDB" {
            print_line!("the same, as DuckDB compares them:");
            shell::run(
                Command::new(&python).current_dir(&folder).args(["-c", RUN_DUCKDB, "compare", "ours"]),
            )?;
        }
    }
    Ok(is_within)
}

fn remove(folder: &Path) -> Result<()> {
    match folder.exists() {
        true => std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string()),
        false => Ok(()),
    }
}

fn read_profile(path: &Path) -> Result<AccessProfile> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&bytes).with_context(|| path.display().to_string())
}

/// A Python with the engines, installed from PyPI the first time; Spark runs on Debian's Java.
fn install_engines(folder: &Path) -> Result<PathBuf> {
    shell::require_files(&[("java", "openjdk-17-jre-headless"), ("python3", "python3-venv")])?;
    let venv = folder.join("venv");
    let python = venv.join("bin/python");
    if !python.exists() {
        shell::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    shell::run(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(ENGINES))?;
    Ok(python)
}

fn measured(name: &str, command: &mut Command) -> Result<RunCost> {
    let cost = run_measured(command)?;
    print_line!("{name}: {:.1} s, {:.0} MB", cost.time.as_secs_f64(), cost.resident as f64 / 1e3);
    Ok(cost)
}

/// Compares the rows of `ours` and `merged`, each in order of its keys.
fn compare(folder: &Path) -> Result<()> {
    let [ours, theirs] = [folder.join("ours"), folder.join("merged")].map(|path| {
        let mut dataset = Dataset::open(&[path], &ReadOptions::default())?;
        let mut tables = dataset.sum(&Projection::all())?;
        tables.sort();
        anyhow::Ok(tables)
    });
    let (ours, theirs) = (ours?, theirs?);
    for table in Table::ALL {
        let (our_rows, their_rows) = (ours.rows_of(table), theirs.rows_of(table));
        if our_rows.len() != their_rows.len() {
            bail!("{}: {} rows, but {} there", table.name(), our_rows.len(), their_rows.len());
        }
        for (row, (our, their)) in our_rows.rows().zip(their_rows.rows()).enumerate() {
            let (our, their) = (spell(&ours, table, our), spell(&theirs, table, their));
            if our != their {
                bail!("{}, row {row}:\n  {our:?}\n  {their:?}", table.name());
            }
        }
        print_line!("  {}: {} rows, all the same", table.name(), our_rows.len());
    }
    Ok(())
}

/// A row by its values.
fn spell<'t>(
    tables: &'t Tables,
    table: Table,
    (key, counts): (&[u32], &[i64]),
) -> (Vec<Option<&'t str>>, Vec<Option<i64>>, Vec<i64>) {
    let typed = |column_type| {
        let columns = table.keys().iter().zip(key);
        columns.filter(move |(column, _)| column.column_type == column_type).map(|(_, id)| *id)
    };
    let texts = typed(ColumnType::Text).map(|id| tables.values.get_text(id));
    let numbers = typed(ColumnType::Number).map(|id| tables.values.get_number(id));
    (texts.collect(), numbers.collect(), counts.to_vec())
}
