//! Samples of structs by member, before and after: each variant is attributed with its own kernel.

use crate::args::CompareArgs;
use crate::input::recordings::{self, RecordingInputs};
use crate::input::runs::VariantFiles;
use crate::planning::rank_by_samples;
use anyhow::{Context, Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::check_build_id;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// Structs shown when none is named.
const BUSIEST: usize = 3;

/// A member in one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct MemberPlace {
    offset: u64,
    line: u64,
    samples: u64,
    /// Percent of all samples that were attributed to any struct.
    percent: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct MemberRow {
    member: String,
    places: Vec<Option<MemberPlace>>,
}

/// A struct in all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct MemberTable {
    #[serde(rename = "struct")]
    name: String,
    variants: Vec<String>,
    line_size: u64,
    /// Bytes, by variant.
    sizes: Vec<Option<u64>>,
    rows: Vec<MemberRow>,
    /// Percent of all attributed samples by line, then by variant.
    lines: Vec<Vec<Option<f64>>>,
}

/// The structs named, or those with most samples in the first variant.
pub(super) fn compare(args: &CompareArgs, variants: &[VariantFiles]) -> Result<Vec<MemberTable>> {
    let mut profiles = Vec::new();
    for variant in variants {
        let perf: Vec<PathBuf> = variant.files.iter().map(|file| file.path.clone()).collect();
        profiles.push(attribute(args, perf)?);
    }
    let names: Vec<String> = match profiles.first() {
        Some(profile) if args.structs.is_empty() => {
            rank_by_samples(profile).into_iter().take(BUSIEST).map(|ty| ty.name.clone()).collect()
        }
        _ => args.structs.clone(),
    };
    let variants: Vec<String> = variants.iter().map(|variant| variant.name.clone()).collect();
    let table = |name: &String| {
        if profiles.iter().all(|profile| profile.find_type(name).is_none()) {
            bail!("no samples of struct {name} in any variant");
        }
        Ok(MemberTable::new(name, &variants, &profiles))
    };
    names.iter().map(table).collect()
}

/// The profile of a variant's recordings, by the program that they are of.
fn attribute(args: &CompareArgs, perf: Vec<PathBuf>) -> Result<AccessProfile> {
    let first = perf.first().context("no recordings")?;
    let file = SampleFile::open(first).with_context(|| first.display().to_string())?;
    let mut programs = Vec::new();
    for path in &args.programs {
        let bytes = FileBytes::open(path)?;
        if check_build_id(&Elf::parse(&bytes)?, &file).is_ok() {
            programs.push(path.clone());
        }
    }
    if programs.is_empty() {
        bail!("{}: none of the files of --vmlinux is the program that was recorded", first.display());
    }
    let inputs = RecordingInputs { programs, perf, force: args.force, ..RecordingInputs::default() };
    recordings::attribute(&inputs, |attributed| attributed.profile())
}

impl MemberTable {
    fn new(name: &str, variants: &[String], profiles: &[AccessProfile]) -> Self {
        let recorded = profiles.iter().flat_map(|profile| &profile.recordings);
        let line_size = recorded.filter_map(|recording| recording.cacheline).next().unwrap_or(64).max(1);
        let found: Vec<Option<(&TypeProfile, BTreeMap<String, MemberPlace>)>> = profiles
            .iter()
            .map(|profile| profile.find_type(name).map(|known| (known, places(profile, known, line_size))))
            .collect();
        let mut order: Vec<&String> = Vec::new();
        let mut known: BTreeSet<&String> = BTreeSet::new();
        for (_, members) in found.iter().flatten() {
            let mut sorted: Vec<(&String, &MemberPlace)> = members.iter().collect();
            sorted.sort_by_key(|(_, place)| place.offset);
            order.extend(sorted.into_iter().map(|(name, _)| name).filter(|name| known.insert(name)));
        }
        let row = |member: &&String| MemberRow {
            member: (*member).clone(),
            places: found.iter().map(|found| found.as_ref()?.1.get(*member).cloned()).collect(),
        };
        let count =
            found.iter().flatten().map(|(known, _)| known.size.div_ceil(line_size)).max().unwrap_or(0);
        let last = found
            .iter()
            .flatten()
            .flat_map(|(_, members)| members.values())
            .map(|place| place.line + 1)
            .max();
        let on_line = |line: u64| {
            let share = |found: &Option<(&TypeProfile, BTreeMap<String, MemberPlace>)>| {
                let (known, members) = found.as_ref()?;
                let on_it = members.values().filter(|place| place.line == line).map(|place| place.percent);
                (line * line_size < known.size).then(|| on_it.sum())
            };
            found.iter().map(share).collect()
        };
        Self {
            name: name.to_owned(),
            variants: variants.to_vec(),
            line_size,
            sizes: found.iter().map(|found| found.as_ref().map(|(known, _)| known.size)).collect(),
            rows: order.iter().map(row).collect(),
            lines: (0..count.min(last.unwrap_or(0))).map(on_line).collect(),
        }
    }

    /// The table as text.
    pub(super) fn draw(&self) -> String {
        let mut out = format!(
            "struct {}: percent of all attributed samples of all events, by member; lines of {} B\n",
            self.name, self.line_size
        );
        let width = self.rows.iter().map(|row| row.member.chars().count()).max().unwrap_or(0).max(8);
        let _ = write!(out, "  {:<width$}", "member");
        for name in &self.variants {
            let _ = write!(out, "  {name:>24}");
        }
        let _ = writeln!(
            out,
            "\n  {:<width$}{}",
            "",
            "    line  offset    share  ".repeat(self.variants.len()).trim_end()
        );
        for row in &self.rows {
            let _ = write!(out, "  {:<width$}", row.member);
            for place in &row.places {
                let _ = match place {
                    Some(MemberPlace { offset, line, percent, .. }) => {
                        write!(out, "  {line:>6}  {offset:>6}  {percent:>6.2}%")
                    }
                    None => write!(out, "  {:>24}", "-"),
                };
            }
            out.push('\n');
        }
        for (line, shares) in self.lines.iter().enumerate() {
            let _ = write!(out, "  {:<width$}", format!("line {line}"));
            for share in shares {
                let _ = match share {
                    Some(share) => write!(out, "  {share:>23.2}%"),
                    None => write!(out, "  {:>24}", "-"),
                };
            }
            out.push('\n');
        }
        out
    }
}

/// Samples by member, and where it lies; offsets without a member by themselves.
fn places(profile: &AccessProfile, known: &TypeProfile, line_size: u64) -> BTreeMap<String, MemberPlace> {
    let all: u64 = profile.types.iter().map(TypeProfile::samples).sum();
    let mut found: BTreeMap<String, MemberPlace> = BTreeMap::new();
    for access in &known.accesses {
        let member =
            known.layout.as_ref().and_then(|layout| layout.members.get(layout.member_at(access.offset)?));
        let (name, offset) = match member {
            Some(member) => (member.label().to_owned(), member.offset()),
            None => (format!("+{}", access.offset), access.offset),
        };
        let place = found.entry(name).or_insert(MemberPlace {
            offset,
            line: offset / line_size,
            samples: 0,
            percent: 0.0,
        });
        place.samples += access.samples();
    }
    for place in found.values_mut() {
        place.percent = 100.0 * place.samples as f64 / all.max(1) as f64;
    }
    found
}
