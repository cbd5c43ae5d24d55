//! `fieldline split`: members that could be a struct of their own.

use super::simulate::{self, TIME_BLOCKS};
use crate::args::{SplitArgs, require_vmlinux};
use crate::input::code::{ProgressMeter, cache_folder, open_build};
use crate::input::document;
use crate::input::recordings::check_profile;
use crate::input::trace::{self, Trace};
use crate::output::{self, CommandOutcome};
use crate::planning::PlanInputs;
use crate::report::plan::simulate_text::SimulatedRow;
use crate::report::plan::split_text::{self, ReadUnits, SplitDocument, SplitReplay};
use anyhow::{Context, Result, bail};
use fieldline_layout::Layout;
use fieldline_plan::PlanOptions;
use fieldline_plan::judge::split::{SplitLayout, SplitReason, SplitReport, SplitSeed, find_splits};
use fieldline_plan::result::Arrangement;
use fieldline_plan::simulate::{
    Rearrangement, SimulatedMachine, Simulation, TraceObject, simulate, touches_by_kind,
};
use fieldline_tree::code::CodeReader;
use fieldline_tree::limits::SourceInput;
use fieldline_tree::{embedding, places};

/// Splits that are replayed, those of fewest lines.
const REPLAYED: usize = 4;
/// The kind of objects that no other recorded object holds.
const ALONE: &str = "none";

pub(crate) fn run(args: &SplitArgs) -> Result<CommandOutcome> {
    let program = require_vmlinux(args.vmlinux.as_ref())?;
    let [_] = args.types.as_slice() else { bail!("one struct is expected, and the file of --vmlinux") };
    let profile = document::read_profile(&args.profile)?;
    check_profile(&profile, &args.profile, program)?;
    let code = open_build(args.tree.as_deref(), args.code.build.as_deref(), program)?;
    let meter = ProgressMeter::default();
    let progress = |done| meter.print(done);
    let (kept, allowed) = (cache_folder("words"), args.code.allow.as_deref());
    let (tree, kept) = (args.tree.as_deref(), kept.as_deref());
    let source = SourceInput { tree, code: code.as_ref(), kept, allowed, progress: &progress };
    let inputs = PlanInputs { types: &args.types, program, source, pins: None, profile: Some(&profile) };
    let limited = inputs.limit_structs(None)?;
    meter.finish();
    let requests = limited.requests();
    let request = requests.first().copied().context("the struct can't be read")?;
    let layout = request.layout;
    let options = PlanOptions { lines: args.lines.clone(), ..PlanOptions::default() };
    let options = inputs.add_builds(options, &[])?;
    let recorded = RecordedTrace::read(args, layout)?;
    let seeds = recorded.as_ref().map(|recorded| recorded.seeds(layout)).unwrap_or_default();
    let stage = output::begin_stage("splitting");
    let found = find_splits(&profile, request, &options, &seeds);
    drop(stage);
    let mut report = match found {
        Ok(report) => report,
        Err(reason) => {
            SplitReport { name: layout.name.clone(), size: layout.size, reason, ..SplitReport::default() }
        }
    };
    let replay = recorded.as_ref().map(|recorded| recorded.replay(args, layout, &mut report));
    let document = describe(args, (layout, code.as_ref()), report, replay.unwrap_or_default())?;
    document::write_if_named(args.output.as_ref(), &document)?;
    output::print_as(args.format, &document, |out, paint| split_text::draw(out, &document, paint))?;
    Ok(CommandOutcome::Done)
}

/// The report with what debug info and the tree say of the struct.
fn describe(
    args: &SplitArgs,
    (layout, code): (&Layout, Option<&CodeReader>),
    report: SplitReport,
    replay: Vec<SplitReplay>,
) -> Result<SplitDocument> {
    let program = require_vmlinux(args.vmlinux.as_ref())?;
    let holders = embedding::find_holders(layout, program)?;
    let shown = report.splits.get(report.advised.unwrap_or(0));
    let header = layout.file.as_deref().and_then(|file| places::in_tree(args.tree.as_deref()?, file));
    let Some(((tree, header), shown)) = args.tree.as_deref().zip(header).zip(shown) else {
        return Ok(SplitDocument::new(report, holders, None, replay));
    };
    let mut places = places::find_places(tree, &header, &layout.name, &shown.members)?;
    let mentions = match code {
        Some(code) => Some(code.find_mentions(layout, &header, &shown.members)?),
        None => None,
    };
    let read = mentions.map(|mentions| {
        places.files = mentions.files;
        ReadUnits { count: mentions.units, unread: mentions.unread }
    });
    Ok(SplitDocument::new(report, holders, Some((places, read)), replay))
}

/// A trace and the objects of the struct in it.
struct RecordedTrace {
    trace: Trace,
    objects: Vec<TraceObject>,
    /// By object, the type of the recorded object that holds it.
    kinds: Vec<String>,
}

impl RecordedTrace {
    fn read(args: &SplitArgs, layout: &Layout) -> Result<Option<Self>> {
        let Some((path, place)) = args.trace.as_ref().zip(args.objects.as_ref()) else { return Ok(None) };
        let objects = trace::read_objects(place, &[&layout.name])?;
        let has_size = objects.iter().any(|object| object.size == layout.size);
        if objects.is_empty() || !has_size {
            bail!("{}: no objects of struct {} with {} bytes", place.display(), layout.name, layout.size);
        }
        let holders = trace::read_holders(place, &layout.name)?;
        let kind = |object: &TraceObject| {
            let end = object.base.saturating_add(object.size);
            let around = holders.iter().filter(|(base, size, _)| *base <= object.base && end <= base + size);
            around.min_by_key(|(_, size, _)| *size).map_or(ALONE, |(.., name)| name).to_owned()
        };
        let kinds = objects.iter().map(kind).collect();
        Ok(Some(Self { trace: trace::open(path)?, objects, kinds }))
    }

    /// Members that objects of one kind never touch, though those of others do.
    fn seeds(&self, layout: &Layout) -> Vec<SplitSeed> {
        let kinds: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        let touched = touches_by_kind(&self.objects, &kinds, self.trace.accesses());
        let seed = |(kind, own): (&&str, &fieldline_plan::simulate::KindTouches)| {
            let members = layout.members.iter().enumerate().filter(|(_, member)| {
                let (start, size) = (member.offset(), member.size());
                let others = touched.iter().filter(|(other, _)| *other != kind);
                own.is_untouched(start, size)
                    && others.into_iter().any(|(_, other)| !other.is_untouched(start, size))
            });
            let members = members.map(|(index, _)| index).collect();
            SplitSeed { why: vec![SplitReason::Kind((*kind).to_owned())], members }
        };
        touched.iter().map(seed).filter(|seed| !seed.members.is_empty()).collect()
    }

    /// Replays the best order and the first splits, and advises the first split that is better than that order.
    fn replay(&self, args: &SplitArgs, layout: &Layout, report: &mut SplitReport) -> Vec<SplitReplay> {
        let declared = Arrangement::new(layout, 0..layout.members.len());
        let (cpus, accesses) = self.trace.accesses().count_cpus_and_accesses();
        let run = |line: u64, layout: &SplitLayout| {
            let machine = SimulatedMachine {
                cpus: cpus.max(1),
                line,
                sizes: [args.l1, args.l2, args.llc].map(|kilobytes| kilobytes << 10),
                gap: args.visit_gap,
                block: accesses.div_ceil(TIME_BLOCKS).max(1),
            };
            let structs = [Rearrangement::split(&declared, layout)];
            simulate(&machine, &self.objects, &structs, &[], &self.trace.accesses())
        };
        let as_declared = SplitLayout { placed: declared.clone(), ..SplitLayout::default() };
        let layouts: Vec<&SplitLayout> = [&as_declared, &report.reorder]
            .into_iter()
            .chain(report.splits.iter().take(REPLAYED).map(|split| &split.layout))
            .collect();
        let runs: Vec<(u64, Vec<Simulation>)> = args
            .lines
            .iter()
            .map(|line| (*line, fieldline_parallel::map(&layouts, |layout| run(*line, layout))))
            .collect();
        let count = layouts.len();
        let rows = |index: usize| -> Vec<(u64, SimulatedRow)> {
            let row = |runs: &Vec<Simulation>| {
                Some(simulate::row(&report.name, None, runs.first()?, runs.get(index)?, &[0]))
            };
            runs.iter().filter_map(|(line, runs)| Some((*line, row(runs)?))).collect()
        };
        let replays: Vec<SplitReplay> =
            (1..count).map(|index| SplitReplay::new(index, rows(index))).collect();
        let reordered = replays.first();
        let better = replays
            .iter()
            .skip(1)
            .position(|split| reordered.is_some_and(|reordered| split.is_better_than(reordered)));
        if count > 2 {
            (report.advised, report.reason) = match better {
                Some(index) => (
                    Some(index),
                    "replayed, it touches fewer lines and misses less than the best order".to_owned(),
                ),
                None => {
                    (None, "replayed, no split is better than the best order of the whole struct".to_owned())
                }
            };
        }
        replays
    }
}
