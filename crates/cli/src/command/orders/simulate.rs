//! `fieldline simulate`: replays recorded accesses, or visits drawn from samples, through modelled caches.

use super::read_plan;
use crate::args::{SimulateArgs, SimulateInput};
use crate::input::document;
use crate::input::recordings::check_profile;
use crate::input::trace::{self, Trace};
use crate::output::{self, CommandOutcome};
use crate::report::plan::simulate_text::{
    self, CostlierVisits, SimulatedMetric, SimulatedRow, SimulationTable,
};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_layout::constraint::{PlacementRequests, constraints};
use fieldline_plan::cost::VisitModel;
use fieldline_plan::simulate::{
    GAP, Population, Rearrangement, ReplayCounts, SharedAllocation, SimulatedMachine, SimulatedStruct,
    Simulation, TraceObject, bootstrap_change, sample_trace, simulate,
};
use fieldline_plan::{Plan, StructPlan};
use std::path::Path;

/// Time blocks of a trace, for the bootstrap.
pub(super) const TIME_BLOCKS: u64 = 64;

pub(crate) fn run(args: &SimulateArgs) -> Result<CommandOutcome> {
    let plan = read_plan(&args.plan)?;
    let input = ReplayInput::read(args, &plan)?;
    let (cpus, accesses) = input.trace.accesses().count_cpus_and_accesses();
    let declared: Vec<Rearrangement> = plan.structs.iter().map(Rearrangement::declared).collect();
    let chosen: Vec<Rearrangement> = plan.structs.iter().map(Rearrangement::chosen).collect();
    let machine = |line| SimulatedMachine {
        cpus: cpus.max(1),
        line,
        sizes: [args.l1, args.l2, args.llc].map(|kilobytes| kilobytes << 10),
        gap: input.gap,
        block: accesses.div_ceil(TIME_BLOCKS).max(1),
    };
    let index = |name: &str| plan.structs.iter().position(|planned| planned.name == name);
    let (held, held_then) = SharedAllocation::of_plan(&plan.together, index);
    let run = |line, structs: &[Rearrangement], shared: &[SharedAllocation]| {
        simulate(&machine(line), &input.objects, structs, shared, &input.trace.accesses())
    };
    let tables = fieldline_parallel::map(&args.lines, |line| {
        let (before, after) =
            rayon::join(|| run(*line, &declared, &held), || run(*line, &chosen, &held_then));
        table(&machine(*line), &plan, &before, &after)
    });
    let document = simulate_text::document(&tables, input.note.as_deref());
    document::write_if_named(args.output.as_ref(), &document)?;
    output::print_as(args.format, &document, |out, paint| {
        out.extend(input.note.iter().map(|note| format!("{note}\n\n")));
        simulate_text::draw(out, &tables, paint);
    })
}

struct ReplayInput {
    trace: Trace,
    objects: Vec<TraceObject>,
    gap: u64,
    /// The source of the accesses, if they were not recorded.
    note: Option<String>,
}

impl ReplayInput {
    fn read(args: &SimulateArgs, plan: &Plan) -> Result<Self> {
        let from = &args.from;
        match (&from.trace, &from.objects, &from.profile, &from.vmlinux) {
            (Some(trace), Some(objects), ..) => Self::recorded(args.visit_gap, plan, trace, objects),
            (_, _, Some(profile), Some(vmlinux)) => Self::sampled(from, plan, profile, vmlinux),
            _ => bail!("give --trace and --objects, or --profile and --vmlinux"),
        }
    }

    fn recorded(gap: u64, plan: &Plan, path: &Path, place: &Path) -> Result<Self> {
        let names: Vec<&str> = plan.structs.iter().map(|struct_plan| struct_plan.name.as_str()).collect();
        let objects = trace::read_objects(place, &names)?;
        if objects.is_empty() {
            bail!("{}: no objects of struct {}", place.display(), names.join(", "));
        }
        check_sizes(place, &plan.structs, &objects)?;
        Ok(Self { trace: trace::open(path)?, objects, gap, note: None })
    }

    /// Visits drawn from a profile.
    fn sampled(from: &SimulateInput, plan: &Plan, profile: &Path, vmlinux: &Path) -> Result<Self> {
        let access_profile = document::read_profile(profile)?;
        check_profile(&access_profile, profile, vmlinux)?;
        let layouts = types::with_types(vmlinux, None, None, |types| {
            let layout = |held: &StructPlan| types.layout_with_fingerprint(&held.name, held.fingerprint);
            plan.structs.iter().map(layout).collect::<Result<Vec<Layout>>>()
        })?;
        let subject = |layout| -> Result<_> {
            let units = constraints(layout, &PlacementRequests::default());
            let units = units.with_context(|| format!("struct {}", layout.name))?;
            Ok((VisitModel::new(&access_profile, layout, &units, plan.build_line), layout))
        };
        let subjects = layouts.iter().map(subject).collect::<Result<Vec<_>>>()?;
        let subjects: Vec<SimulatedStruct<'_>> =
            subjects.iter().map(|(model, layout)| (model, *layout)).collect();
        let population = Population { objects: from.population as usize, visits: from.visits as usize };
        let drawn = sample_trace(&access_profile, &subjects, population);
        if drawn.accesses.is_empty() {
            bail!("{}: no samples of the planned structs", profile.display());
        }
        let note = format!(
            "FROM SAMPLED VISITS, not from a trace: {} visits drawn from {} to {} objects of each struct, all equally \
             popular,\nby {} CPUs as recorded; nothing else is accessed between visits. The plan rests on the same \
             samples, so this is no\nindependent evidence: it shows what the predicted lines mean for caches.",
            population.visits,
            profile.display(),
            population.objects,
            drawn.cpus,
        );
        Ok(Self { trace: Trace::Text(drawn.accesses), objects: drawn.objects, gap: GAP, note: Some(note) })
    }
}

/// Refuses objects of another size: they are of another kernel than the plan. Some may be shorter, if others are not: a
/// struct whose end depends on the machine is allocated without what the machine lacks.
fn check_sizes(place: &Path, structs: &[StructPlan], objects: &[TraceObject]) -> Result<()> {
    for (struct_index, struct_plan) in structs.iter().enumerate() {
        let planned = struct_plan.declared.size;
        let mut of_struct = objects.iter().filter(|object| object.struct_index == struct_index);
        let has_whole = of_struct.clone().any(|object| object.size == planned);
        let other = of_struct.find(|object| object.size > planned || !has_whole);
        if let Some(TraceObject { base, size, .. }) = other {
            let (place, name) = (place.display(), &struct_plan.name);
            bail!("{place}: the {name} at {base:#x} has {size} bytes, but the plan's has {planned}");
        }
    }
    Ok(())
}

fn table(
    machine: &SimulatedMachine,
    plan: &Plan,
    before: &Simulation,
    after: &Simulation,
) -> SimulationTable {
    let structs = &plan.structs;
    let [then, now] = [before, after].map(Simulation::totals);
    let of_struct = |(index, struct_plan): (usize, &StructPlan)| {
        let sizes = (struct_plan.declared.size, struct_plan.chosen.size);
        let mut held = plan.together.iter().flat_map(|found| &found.parts);
        let counts =
            then.get(index).zip(now.get(index)).filter(|_| held.any(|part| part.name == struct_plan.name));
        let costlier =
            counts.map(|(before, after)| CostlierVisits { before: before.costlier, after: after.costlier });
        SimulatedRow { costlier, ..row(&struct_plan.name, Some(sizes), before, after, &[index]) }
    };
    let mut rows: Vec<SimulatedRow> = structs.iter().enumerate().map(of_struct).collect();
    if structs.len() > 1 {
        let all: Vec<usize> = (0..structs.len()).collect();
        rows.push(row("all of them", None, before, after, &all));
    }
    rows.push(row("everything else", None, before, after, &[structs.len()]));
    let SimulatedMachine { cpus, line, sizes: cache_bytes, gap, .. } = *machine;
    SimulationTable { line, cpus, cache_bytes, gap, rows }
}

/// The counts of some structs, by index, before and after.
pub(super) fn row(
    name: &str,
    sizes: Option<(u64, u64)>,
    before: &Simulation,
    after: &Simulation,
    indexes: &[usize],
) -> SimulatedRow {
    let sum = |block: &Vec<ReplayCounts>| {
        let mut sum = ReplayCounts::default();
        indexes.iter().filter_map(|index| block.get(*index)).for_each(|counts| sum.add(counts));
        sum
    };
    let block_counts = [before, after].map(|over| over.blocks.iter().map(sum).collect::<Vec<ReplayCounts>>());
    let totals = [before, after].map(|over| sum(&over.totals()));
    let metric = |name: &'static str, count: fn(&ReplayCounts) -> (f64, f64)| {
        let blocks: Vec<[(f64, f64); 2]> =
            block_counts[0].iter().zip(&block_counts[1]).map(|(old, new)| [count(old), count(new)]).collect();
        // The same replicates for the same metric, whatever else is printed.
        let seed = name.bytes().fold(1u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let value = |index: usize| {
            let (count, over) = count(&totals[index]);
            if over > 1.0 { count / over } else { count }
        };
        SimulatedMetric { name, before: value(0), after: value(1), interval: bootstrap_change(&blocks, seed) }
    };
    // Misses are counted over nothing: each block weighs what it holds.
    let metrics = vec![
        metric("lines per visit", |counts| (counts.lines as f64, counts.visits as f64)),
        metric("L1 misses", |counts| (counts.first_misses, 1.0)),
        metric("L2 misses", |counts| (counts.private_misses, 1.0)),
        metric("LLC misses", |counts| (counts.memory, 1.0)),
        metric("HITM", |counts| (counts.modified, 1.0)),
    ];
    let ReplayCounts { accesses, visits, .. } = totals[0];
    SimulatedRow { name: name.to_owned(), sizes, accesses, visits, metrics, costlier: None }
}
