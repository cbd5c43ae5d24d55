//! Accesses: recorded, attributed to members, reported.

pub(crate) mod explain;
mod page;
pub(crate) mod record;
mod samples;
#[cfg(feature = "parquet")]
mod tables;
#[cfg(not(feature = "parquet"))]
#[path = "accesses/no_tables.rs"]
mod tables;

use super::orders;
use crate::args::{DoctorArgs, ImportArgs, MergeArgs, ProfileArgs, ProfileFormat, ReportArgs, SamplesArgs};
use crate::diagnosis::Diagnosis;
use crate::input::{document, fleet, recordings};
use crate::output::{self, CommandOutcome, OutputFormat};
use crate::planning::rank_by_samples;
use crate::report::doctor_text;
use crate::report::parts::ReportPart;
use crate::report::profile::coverage_json::CoverageDocument;
use crate::report::profile::heat::TypeHeat;
use crate::report::profile::report_json::{ReportDocument, ReportedType};
use crate::report::profile::{self as text, coverage, heat_text, sharing_text, turns_text};
use crate::report::screen::accesses::ReportedStruct;
use crate::report::screen::{coverage as coverage_rows, next};
use anyhow::{Context, Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::Layout;
use fieldline_perfdata::address::DataAddress;
use fieldline_plan::Plan;
use fieldline_profile::perf_types::{self, Error, TypeCounts};
use fieldline_tree::builds;
use fieldline_tree::pins::nearest;
use fieldline_typeflow::operands::target::Target;
use samples::SampleWriter;
use std::collections::BTreeMap;
use std::path::Path;

/// Structs that `report` shows when none is named.
const DEFAULT_STRUCTS: usize = 5;

/// `fieldline profile`: samples to an access profile.
pub(crate) fn profile(args: &ProfileArgs) -> Result<CommandOutcome> {
    let folder = parquet_folder(args)?;
    let (profile, by_dso) = recordings::attribute(&args.recordings.inputs(), |attributed| {
        let by_dso = if args.coverage { attributed.coverage()? } else { Vec::new() };
        Ok((attributed.profile()?, by_dso))
    })?;
    match folder {
        Some(folder) => tables::write_profile(folder, &profile, &args.labels)?,
        None => document::write_if_named(args.output.as_ref(), &profile)?,
    }
    match args.coverage {
        true => output::print_as(
            args.format.printed(),
            &CoverageDocument::new(&profile, &by_dso),
            |out, paint| {
                coverage::draw_by_dso(out, &profile, &by_dso, paint);
            },
        ),
        false => {
            output::print_as(args.format.printed(), &profile, |out, paint| text::draw(out, &profile, paint))
        }
    }
}

/// The folder for a profile in Parquet, if that is asked for.
fn parquet_folder(args: &ProfileArgs) -> Result<Option<&Path>> {
    match (args.format, args.output.as_deref()) {
        (ProfileFormat::Parquet, Some(folder)) => tables::check_folder(folder).map(|()| Some(folder)),
        (ProfileFormat::Parquet, None) => bail!("--format parquet needs -o, the folder for the tables"),
        (ProfileFormat::Printed(_), _) if !args.labels.is_empty() => bail!("--label needs --format parquet"),
        (ProfileFormat::Printed(_), _) => Ok(None),
    }
}

/// `fieldline samples`: one row a sample, in file order.
pub(crate) fn samples(args: &SamplesArgs) -> Result<CommandOutcome> {
    recordings::attribute(&args.recordings.inputs(), |attributed| {
        let mut out = SampleWriter::new(args.format)?;
        for recording in 0..attributed.files.len() {
            attributed.joint().for_each_sample(recording, |sample, program, found| {
                let (ip, addr) = (sample.ip.unwrap_or_default().0, DataAddress::to_word(sample.addr));
                match found.target {
                    Target::Exact { ty, offset } => {
                        let attribution = attributed.attributions.get(program);
                        let name = attribution.and_then(|attribution| attribution.answers.type_entry(ty));
                        out.attributed(ip, addr, name.map_or("?", |entry| &entry.name.name), offset)
                    }
                    Target::Unknown(reason) => out.unattributed(ip, addr, reason.id()),
                    Target::Within { .. } => out.unattributed(ip, addr, "unknown_offset"),
                    Target::Element { .. } => out.unattributed(ip, addr, "unknown_index"),
                }
            })?;
        }
        out.finish()
    })
}

/// `fieldline import`: perf's counts by type, as a profile.
pub(crate) fn import(args: &ImportArgs) -> Result<CommandOutcome> {
    let build_id = recordings::build_id(&args.vmlinux)?;
    let mut sum = AccessProfile::empty();
    for path in &args.reports {
        let counts = read_counts(path)?;
        let place = || path.display().to_string();
        let mut layouts = counted_layouts(&args.vmlinux, &counts)?;
        let name = recordings::base_name(path);
        let take_layouts = |tag: &str| layouts.remove(tag).unwrap_or_default();
        let found = perf_types::profile(&counts, &name, build_id.as_deref(), take_layouts);
        sum.merge(found.with_context(place)?);
    }
    document::write_if_named(args.output.as_ref(), &sum)?;
    output::print_as(args.format, &sum, |out, paint| text::draw(out, &sum, paint))
}

fn read_counts(path: &Path) -> Result<TypeCounts> {
    let place = || path.display().to_string();
    let bytes = fieldline_files::read(path).with_context(place)?;
    match perf_types::parse(&bytes) {
        Err(Error::Line { line, problem }) => bail!("{}:{line}: {problem}", path.display()),
        found => found.with_context(place),
    }
}

/// Layouts of the counted types, by tag, those that most units share first. Missing types have none.
fn counted_layouts(vmlinux: &Path, counts: &TypeCounts) -> Result<BTreeMap<String, Vec<Layout>>> {
    let tags = perf_types::tags(counts);
    let names: Vec<&str> = tags.iter().map(String::as_str).collect();
    types::with_types(vmlinux, None, None, |types: &Types<'_, '_>| {
        let mut entries = types.find_many(&names)?;
        for of_name in &mut entries {
            types.sort_by_preference(of_name)?;
        }
        let all: Vec<_> = entries.iter().flatten().cloned().collect();
        let mut reader = types.reader(&all)?;
        let mut found: BTreeMap<String, Vec<Layout>> = BTreeMap::new();
        for (tag, entry) in
            tags.iter().zip(&entries).flat_map(|(tag, all)| all.iter().map(move |entry| (tag, entry)))
        {
            let id = reader.read(entry)?;
            found.entry(tag.clone()).or_default().extend(Layout::from_type(reader.table(), id));
        }
        Ok(found)
    })
}

/// A profile to merge, with its JSON, by which profiles are ordered.
struct MergeInput<'p> {
    path: &'p Path,
    profile: AccessProfile,
    text: Vec<u8>,
}

/// `fieldline merge`: profiles of several files or hosts as one.
pub(crate) fn merge(args: &MergeArgs) -> Result<CommandOutcome> {
    if let Some(other) = args.profiles.iter().find(|path| !fleet::is_fleet(path)) {
        if args.profiles.iter().any(|path| fleet::is_fleet(path)) {
            bail!(
                "{}: no Parquet, but others are; merge those of JSON and those of Parquet apart",
                other.display()
            );
        }
    } else {
        return tables::merge(args);
    }
    check_json_merge(args)?;
    let read = |path| {
        let profile = document::read_profile(path)?;
        Ok(MergeInput { path, text: document::to_json(&profile)?, profile })
    };
    let mut parts = args.profiles.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    check_mergeable(&parts)?;
    // The order of arguments does not change the result.
    parts.sort_by(|left, right| left.text.cmp(&right.text));
    let mut sum = AccessProfile::empty();
    parts.into_iter().for_each(|part| sum.merge(part.profile));
    document::write(&args.output, &sum)?;
    output::print_as(args.format.printed(), &sum, |out, paint| text::draw(out, &sum, paint))
}

/// Refuses what a merge of files of JSON doesn't do.
fn check_json_merge(args: &MergeArgs) -> Result<()> {
    if args.profiles.len() < 2 {
        bail!("{}: one PROFILE alone; name those to merge with it", args.output.display());
    }
    if args.format == ProfileFormat::Parquet || !args.keep.is_empty() || !args.fleet.options().is_empty() {
        bail!("--format parquet, --keep, --where, --weight and --skip-broken are for profiles in Parquet");
    }
    Ok(())
}

/// Refuses profiles of different programs, and one given twice.
fn check_mergeable(parts: &[MergeInput<'_>]) -> Result<()> {
    for (index, part) in parts.iter().enumerate() {
        for before in parts.iter().take(index) {
            let (first, second) = (before.path.display(), part.path.display());
            if before.text == part.text {
                bail!("{first} and {second} hold the same samples");
            }
            let checked = before.profile.check_same_program(&part.profile);
            checked.with_context(|| format!("{second} does not go with {first}"))?;
        }
    }
    Ok(())
}

/// `fieldline report`: members of structs by accesses.
pub(crate) fn report(args: &ReportArgs) -> Result<CommandOutcome> {
    args.html.as_deref().map(output::check_writable).transpose()?;
    builds::check_files(&args.also)?;
    if args.hosts {
        return tables::report_hosts(args);
    }
    let profile = document::read_profile_of(&args.profile, args.vmlinux.as_deref(), &args.fleet.options())?;
    if let Some(program) = &args.vmlinux {
        recordings::check_profile(&profile, &args.profile, program)?;
    }
    let plan = args.plan.as_deref().map(orders::read_plan).transpose()?;
    let chosen = choose_types(&profile, args, plan.as_ref())?;
    let reported = chosen.into_iter().map(|type_profile| {
        let layout = reported_layout(type_profile, args.vmlinux.as_deref())?;
        Ok(Reported { heat: TypeHeat::new(&profile, type_profile, layout.as_ref()), type_profile, layout })
    });
    let reported = reported.collect::<Result<Vec<_>>>()?;
    if let Some(path) = &args.html {
        let structs = reported.iter().map(|part| (part.type_profile, part.layout.as_ref()));
        page::write(path, args, (&profile, plan.as_ref()), &Vec::from_iter(structs))?;
    }
    match args.format {
        OutputFormat::Json => {
            let types = reported.iter().map(|Reported { heat, type_profile, layout }| {
                ReportedType::new(heat, type_profile, layout.as_ref(), &args.lines)
            });
            output::print_json(&ReportDocument::new(types.collect()))
        }
        OutputFormat::Text => output::print_paged(&report_text(&profile, &reported, args)),
    }
}

/// The layout the profile was made with, or the one of the program named, which must be the same.
fn reported_layout(type_profile: &TypeProfile, vmlinux: Option<&Path>) -> Result<Option<Layout>> {
    let Some(vmlinux) = vmlinux else { return Ok(type_profile.layout.clone()) };
    let layout = types::with_types(vmlinux, None, None, |types| {
        types.layout_with_fingerprint(&type_profile.name, type_profile.fingerprint)
    })?;
    // Named as in the profile: with its namespaces.
    Ok(Some(Layout { name: type_profile.name.clone(), ..layout }))
}

/// A struct of a report.
struct Reported<'p> {
    heat: TypeHeat,
    type_profile: &'p TypeProfile,
    layout: Option<Layout>,
}

/// The first screens, and the parts asked for.
fn report_text(profile: &AccessProfile, reported: &[Reported<'_>], args: &ReportArgs) -> String {
    let screen = output::screen();
    let (mut head, mut foot) = (screen.rows(), screen.rows());
    coverage_rows::draw(&mut head, profile);
    let parts: &[ReportPart] = if output::is_verbose() { &ReportPart::ALL } else { &args.show };
    next::draw(&mut foot, "next: ", &next_after_report(args, reported));
    if parts.is_empty() {
        foot.push(&format!("more: -v, or --show {}", ReportPart::ALL.map(ReportPart::name).join(",")));
    }
    let (line, who) = (args.lines.first().copied().unwrap_or(64), text::name_cpus(profile));
    let mut out =
        screen.assemble((head, foot), reported, |rows, Reported { heat, type_profile, layout }, most| {
            ReportedStruct { heat, profile: type_profile, layout: layout.as_ref(), line, who }
                .draw(rows, most);
        });
    if parts.is_empty() {
        return out;
    }
    let options = heat_text::HeatOptions { lines: &args.lines, top: args.top, paint: screen.paint };
    out.push('\n');
    coverage::draw(&mut out, profile, screen.paint);
    for Reported { heat, type_profile, layout } in reported {
        heat_text::draw(&mut out, heat, parts, &options);
        if parts.contains(&ReportPart::Sharing) {
            sharing_text::draw(&mut out, type_profile, layout.as_ref(), &options);
            turns_text::draw(&mut out, type_profile, layout.as_ref(), who, &options);
        }
    }
    out
}

/// The words of the command that follows a report: of a plan.
fn next_after_report(args: &ReportArgs, reported: &[Reported<'_>]) -> Vec<String> {
    let path = |path: &Path| path.display().to_string();
    let vmlinux = args.vmlinux.as_deref().map_or("VMLINUX".to_owned(), path);
    let mut words = vec!["fieldline".to_owned(), "plan".to_owned()];
    // A plan is of the structs asked for; of those only shown, the first.
    let named = if args.types.is_empty() { 1 } else { reported.len() };
    words.extend(reported.iter().take(named).map(|part| part.heat.name.clone()));
    words.extend(["--profile".to_owned(), path(&args.profile), "--vmlinux".to_owned(), vmlinux]);
    words.extend(["-o", "plan.json"].map(str::to_owned));
    words
}

/// The structs asked for; if none is, those of the plan, else those with most samples.
fn choose_types<'p>(
    profile: &'p AccessProfile,
    args: &ReportArgs,
    plan: Option<&Plan>,
) -> Result<Vec<&'p TypeProfile>> {
    let ranked = rank_by_samples(profile);
    if args.types.is_empty() {
        return Ok(match plan {
            Some(plan) => {
                plan.structs.iter().filter_map(|planned| profile.find_type(&planned.name)).collect()
            }
            None => ranked.into_iter().take(DEFAULT_STRUCTS).collect(),
        });
    }
    let find = |name: &String| {
        let name = types::strip_keyword(name);
        profile.find_type(name).with_context(|| {
            let near = nearest(name, ranked.iter().map(|ty| ty.name.as_str()));
            let most: Vec<&str> = ranked.iter().take(12).map(|ty| ty.name.as_str()).collect();
            let (file, most) = (args.profile.display(), most.join(", "));
            format!("{file}: no samples of struct {name}{near} It has samples of: {most}")
        })
    };
    args.types.iter().map(find).collect()
}

/// `fieldline doctor`: perf commands for a machine, and whether a recording suffices.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<CommandOutcome> {
    if args.vmlinux.is_none() && !args.types.is_empty() {
        bail!(
            "samples of {} are counted with --vmlinux FILE, the program that was running",
            args.types.join(", ")
        );
    }
    let diagnosis = match args.perf.is_empty() {
        true => Diagnosis::for_machine(&args.root)?,
        false => Diagnosis::for_recordings(&args.perf, args.vmlinux.as_deref(), &args.types)?,
    };
    output::print_as(args.format, &diagnosis, |out, paint| doctor_text::draw(out, &diagnosis, paint))?;
    Ok(if diagnosis.fit { CommandOutcome::Done } else { CommandOutcome::Negative })
}
