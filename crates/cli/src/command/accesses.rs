//! Accesses: recorded, attributed to members, reported.

pub(crate) mod explain;
pub(crate) mod record;

use crate::args::{DoctorArgs, ImportArgs, MergeArgs, ProfileArgs, ReportArgs, SamplesArgs};
use crate::diagnosis::Diagnosis;
use crate::input::{document, recordings};
use crate::output::{self, Outcome};
use crate::planning::by_samples;
use crate::report::color::Paint;
use crate::report::doctor_text;
use crate::report::profile::heat::TypeHeat;
use crate::report::profile::{self as text, coverage, heat_sharing, heat_text};
use anyhow::{Context, Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::types::{self, Types};
use fieldline_debuginfo::{Elf, FileBytes, hex};
use fieldline_layout::Layout;
use fieldline_profile::perf_types::{self, Error, TypeCounts};
use fieldline_typeflow::operands::target::Target;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// How many structs `report` shows when none is named.
const BUSIEST: usize = 5;

/// `fieldline profile`: samples to an access profile.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Outcome> {
    let (profile, by_dso) = recordings::attributed(&args.recordings, |attributed| {
        let by_dso = if args.coverage { attributed.coverage()? } else { Vec::new() };
        Ok((attributed.profile()?, by_dso))
    })?;
    document::keep(args.output.as_ref(), &profile)?;
    output::draw(|out, paint| match args.coverage {
        true => coverage::draw_by_dso(out, &profile, &by_dso, paint),
        false => text::draw(out, &profile, paint),
    })
}

/// `fieldline samples`: one row a sample, in file order.
pub(crate) fn samples(args: &SamplesArgs) -> Result<Outcome> {
    recordings::attributed(&args.recordings, |attributed| {
        let mut out = output::buffered();
        writeln!(out, "# ip addr type offset reason")?;
        for recording in 0..attributed.files.len() {
            attributed.joint().each(recording, |sample, program, found| {
                let (ip, addr) = (sample.ip.unwrap_or(0), sample.addr.unwrap_or(0));
                match found.target {
                    Target::Place { ty, offset } => {
                        let of = attributed.attributions.get(program);
                        let name = of.and_then(|of| of.answers.ty(ty));
                        let name = name.map_or("?", |entry| &entry.name.name);
                        writeln!(out, "{ip:x} {addr:x} {} {offset} -", name.replace(' ', "_"))?;
                    }
                    Target::Unknown(reason) => writeln!(out, "{ip:x} {addr:x} - - {reason}")?,
                    Target::Within { .. } => writeln!(out, "{ip:x} {addr:x} - - unknown_offset")?,
                    Target::Element { .. } => writeln!(out, "{ip:x} {addr:x} - - unknown_index")?,
                }
                Ok::<(), anyhow::Error>(())
            })?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    })
}

/// `fieldline import`: what perf counted by type, as a profile.
pub(crate) fn import(args: &ImportArgs) -> Result<Outcome> {
    let build_id = build_id(&args.vmlinux)?;
    let mut sum = AccessProfile::empty();
    for path in &args.reports {
        let counts = counts(path)?;
        let place = || path.display().to_string();
        let mut layouts = layouts(&args.vmlinux, &counts)?;
        let name = recordings::base_name(path);
        let of_tag = |tag: &str| layouts.remove(tag).unwrap_or_default();
        sum.merge(perf_types::profile(&counts, &name, build_id.as_deref(), of_tag).with_context(place)?);
    }
    document::keep(args.output.as_ref(), &sum)?;
    output::draw(|out, paint| text::draw(out, &sum, paint))
}

fn counts(path: &Path) -> Result<TypeCounts> {
    let place = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(place)?;
    match perf_types::parse(&bytes) {
        Err(Error::Line { line, problem }) => bail!("{}:{line}: {problem}", path.display()),
        found => found.with_context(place),
    }
}

/// The program's build id in hex; raw BTF has none.
fn build_id(path: &Path) -> Result<Option<String>> {
    let file = FileBytes::open(path)?;
    if types::is_raw_btf(file.bytes()) {
        return Ok(None);
    }
    Ok(Elf::parse(&file)?.build_id().map(hex))
}

/// Layouts of the types that were counted, by tag, those that most units share first. Types that aren't there have none.
fn layouts(vmlinux: &Path, counts: &TypeCounts) -> Result<BTreeMap<String, Vec<Layout>>> {
    let tags = perf_types::tags(counts);
    let names: Vec<&str> = tags.iter().map(String::as_str).collect();
    types::with_types(vmlinux, None, None, |types: &Types<'_, '_>| {
        let mut entries = types.find_many(&names)?;
        for of_name in &mut entries {
            of_name.sort_by_key(|entry| std::cmp::Reverse(entry.units));
        }
        let all: Vec<_> = entries.iter().flatten().cloned().collect();
        let mut reader = types.reader(&all)?;
        let mut found: BTreeMap<String, Vec<Layout>> = BTreeMap::new();
        for (tag, entry) in
            tags.iter().zip(&entries).flat_map(|(tag, all)| all.iter().map(move |one| (tag, one)))
        {
            let id = reader.read(entry)?;
            found.entry(tag.clone()).or_default().extend(Layout::of(reader.table(), id));
        }
        Ok(found)
    })
}

/// A profile that was read, and what its order among the others depends on.
struct Part<'p> {
    path: &'p Path,
    profile: AccessProfile,
    text: Vec<u8>,
}

/// `fieldline merge`: profiles of several files or hosts as one.
pub(crate) fn merge(args: &MergeArgs) -> Result<Outcome> {
    let read = |path| {
        let profile = document::read_profile(path)?;
        Ok(Part { path, text: document::text(&profile)?, profile })
    };
    let mut parts = args.profiles.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    expect_parts(&parts)?;
    // Which profile is named first says nothing, so it changes nothing either.
    parts.sort_by(|one, two| one.text.cmp(&two.text));
    let mut sum = AccessProfile::empty();
    parts.into_iter().for_each(|part| sum.merge(part.profile));
    document::write(&args.output, &sum)?;
    output::draw(|out, paint| text::draw(out, &sum, paint))
}

/// Refuses profiles of different programs, and one given twice.
fn expect_parts(parts: &[Part<'_>]) -> Result<()> {
    for (index, part) in parts.iter().enumerate() {
        for before in parts.iter().take(index) {
            let (one, other) = (before.path.display(), part.path.display());
            if before.text == part.text {
                bail!("{one} and {other} hold the same samples");
            }
            let checked = before.profile.check_same_program(&part.profile);
            checked.with_context(|| format!("{other} does not go with {one}"))?;
        }
    }
    Ok(())
}

/// `fieldline report`: what a profile says about structs.
pub(crate) fn report(args: &ReportArgs) -> Result<Outcome> {
    let profile = document::read_profile(&args.profile)?;
    let chosen = choose(&profile, args)?;
    let paint = Paint::new(output::use_color());
    let options = heat_text::Options { lines: &args.cacheline, top: args.top, paint };
    let mut out = String::new();
    coverage::draw(&mut out, &profile, paint);
    for of in chosen {
        // The layout the profile was made with, or the one of the program named, which must be the same.
        let layout = match &args.vmlinux {
            Some(vmlinux) => Some(types::with_types(vmlinux, None, None, |types| {
                types.layout_like(&of.name, of.fingerprint)
            })?),
            None => of.layout.clone(),
        };
        heat_text::draw(&mut out, &TypeHeat::new(&profile, of, layout.as_ref()), &options);
        heat_sharing::draw(&mut out, of, layout.as_ref(), &options);
    }
    output::print(&out)
}

fn choose<'p>(profile: &'p AccessProfile, args: &ReportArgs) -> Result<Vec<&'p TypeProfile>> {
    let ranked = by_samples(profile);
    if args.types.is_empty() {
        return Ok(ranked.into_iter().take(BUSIEST).collect());
    }
    let find = |name: &String| {
        let name = types::bare(name);
        profile.type_named(name).with_context(|| {
            let most: Vec<&str> = ranked.iter().take(12).map(|of| of.name.as_str()).collect();
            let (file, most) = (args.profile.display(), most.join(", "));
            format!("{file}: no samples of struct {name}; it has samples of: {most}")
        })
    };
    args.types.iter().map(find).collect()
}

/// `fieldline doctor`: what to record on a machine, and whether a recording can answer.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Outcome> {
    let diagnosis = match args.perf.is_empty() {
        true => Diagnosis::of_machine(&args.root)?,
        false => Diagnosis::of_recordings(&args.perf, args.vmlinux.as_deref(), &args.types)?,
    };
    if args.json {
        output::print(&String::from_utf8(document::text(&diagnosis)?)?)?;
    } else {
        output::draw(|out, paint| doctor_text::draw(out, &diagnosis, paint))?;
    }
    Ok(if diagnosis.fit { Outcome::Done } else { Outcome::No })
}
