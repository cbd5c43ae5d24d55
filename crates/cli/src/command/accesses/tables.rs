//! Profiles in Parquet: written, merged, compared by host.

use crate::args::{MergeArgs, ProfileFormat, ReportArgs};
use crate::input::document;
use crate::input::fleet::{self, LoadedTables};
use crate::output::{self, CommandOutcome, OutputFormat};
use crate::report::profile as text;
use anyhow::{Context, Result, anyhow, bail};
use fieldline_access::AccessProfile;
use fieldline_debuginfo::types::strip_keyword;
use fieldline_fleet::divergence::{self, ComparedBy, Difference};
use fieldline_fleet::file::to_parquet;
use fieldline_fleet::filter::parse_labels;
use fieldline_fleet::profile_rows::{ProfileFacts, to_tables};
use fieldline_fleet::row_sums::Tables;
use fieldline_fleet::schema::{Projection, Table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Checks that a folder can be written to, before work is done for nothing.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        bail!("{}: a file, but a folder is expected for tables", folder.display());
    }
    Ok(())
}

/// Writes a profile as a folder of tables.
pub(crate) fn write_profile(
    folder: &Path,
    profile: &AccessProfile,
    labels: &[(String, String)],
) -> Result<()> {
    let mut facts = ProfileFacts::default();
    for (name, value) in labels {
        match name.as_str() {
            "host" => facts.host = Some(value.clone()),
            "day" => facts.day = Some(value.clone()),
            _ => drop(facts.labels.insert(name.clone(), value.clone())),
        }
    }
    write_tables(folder, &to_tables(profile, &facts)??)
}

fn write_tables(folder: &Path, tables: &Tables) -> Result<()> {
    check_folder(folder)?;
    let file = |table: Table| {
        let bytes = to_parquet(tables, table).with_context(|| folder.display().to_string())?;
        Ok((folder.join(format!("{}.parquet", table.name())), bytes))
    };
    let files = Table::ALL.map(file).into_iter().collect::<Result<Vec<_>>>()?;
    output::make_folder(folder)?;
    output::write_files(&files)
}

/// `fieldline merge` of Parquet.
pub(crate) fn merge(args: &MergeArgs) -> Result<CommandOutcome> {
    let options = args.fleet.options();
    let weights = fleet::parse_weights(&options)?;
    if args.format == ProfileFormat::Parquet && !weights.is_empty() {
        bail!("--weight changes no tables: give it where they are read");
    }
    let mut dataset = fleet::open(&args.profiles, &options)?;
    let kept: Vec<&str> = args.keep.iter().map(String::as_str).collect();
    let mut tables = dataset.sum(&Projection::merged(&kept))?;
    tables.sort();
    fleet::note_broken(&dataset);
    if args.format == ProfileFormat::Parquet {
        write_tables(&args.output, &tables)?;
        let rows: Vec<String> = Table::ALL
            .iter()
            .map(|table| format!("{} {}", tables.rows_of(*table).len(), table.name()))
            .collect();
        let (hosts, files) = (dataset.hosts().len(), dataset.file_count());
        return output::print(&format!("{hosts} hosts, {files} files: rows {}\n", rows.join(", ")));
    }
    let place = args.profiles.first().map_or(Path::new(""), PathBuf::as_path);
    let profile =
        fleet::print_notes(LoadedTables { path: place, tables, build_id: None, weights }.profile(None)?);
    document::write(&args.output, &profile)?;
    output::print_as(args.format.printed(), &profile, |out, paint| text::draw(out, &profile, paint))
}

/// `fieldline report --hosts`.
pub(crate) fn report_hosts(args: &ReportArgs) -> Result<CommandOutcome> {
    let path = &args.profile;
    if !fleet::is_fleet(path) {
        bail!("{}: --hosts needs a profile in Parquet", path.display());
    }
    let mut dataset = fleet::open(std::slice::from_ref(path), &args.fleet.options())?;
    let types: Vec<String> = args.types.iter().map(|name| strip_keyword(name).to_owned()).collect();
    let found = divergence::find_in(&mut dataset, ComparedBy::Host, &types)?;
    let found = found.map_err(|problem| anyhow!("{}: {problem}", path.display()))?;
    fleet::note_broken(&dataset);
    let found: Vec<Difference> = found.into_iter().take(args.top).collect();
    if args.format == OutputFormat::Json {
        return output::print_json(&HostsDocument::new(&found));
    }
    let mut out = format!("{} hosts; those that stand out: {}\n", dataset.hosts().len(), found.len());
    for difference in &found {
        let _ =
            writeln!(out, "  {} {}: {}", difference.subject, difference.labels, fleet::describe(difference));
    }
    output::print(&out)
}

/// The hosts that stand out, as JSON.
#[derive(Serialize)]
struct HostsDocument<'d> {
    format: &'static str,
    version: u32,
    hosts: Vec<HostRow<'d>>,
}

#[derive(Serialize)]
struct HostRow<'d> {
    host: &'d str,
    labels: BTreeMap<String, String>,
    #[serde(rename = "struct")]
    struct_name: &'d str,
    samples: u64,
    distance: f64,
    deviations: f64,
    members: Vec<HostMember<'d>>,
}

#[derive(Serialize)]
struct HostMember<'d> {
    name: &'d str,
    share: f64,
    elsewhere: f64,
}

impl<'d> HostsDocument<'d> {
    fn new(found: &'d [Difference]) -> Self {
        let row = |difference: &'d Difference| HostRow {
            host: &difference.subject,
            labels: parse_labels(&difference.labels),
            struct_name: &difference.type_name,
            samples: difference.samples,
            distance: difference.distance,
            deviations: difference.deviations,
            members: difference
                .members
                .iter()
                .map(|(name, share, elsewhere)| HostMember { name, share: *share, elsewhere: *elsewhere })
                .collect(),
        };
        Self { format: "fieldline-hosts", version: 1, hosts: found.iter().map(row).collect() }
    }
}
