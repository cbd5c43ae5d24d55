//! The stages between recording and patch, each a function of the one before.

use crate::args::ChoiceArgs;
use crate::embedding;
use crate::foresight::Foresight;
use crate::matrix::{self, Also};
use crate::pins::PinFile;
use crate::profiled::layout_of;
use crate::series::{About, Step};
use anyhow::{Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::{Elf, FileBytes, types};
use fieldline_layout::layout::Layout;
use fieldline_plan::{Outcome as Planned, Plan, PlanOptions, Request, StructPlan};
use fieldline_tree::header::{self, Change, Declaration};
use fieldline_tree::idiom::options::Options;
use fieldline_tree::idiom::{self, Manner};
use fieldline_tree::{limits, proof, variants};
use std::path::Path;

/// Bytes of a cacheline where a file doesn't tell its machine, as raw BTF.
const USUAL_LINE: u64 = 64;

/// What a plan is made of.
pub(crate) struct PlanInput<'p> {
    pub(crate) types: &'p [String],
    /// What the orders rest on; on size alone if there is none.
    pub(crate) profile: Option<&'p AccessProfile>,
    /// Without a profile: any order instead of a better one, drawn with this number.
    pub(crate) shuffle: Option<u64>,
    pub(crate) vmlinux: &'p Path,
    pub(crate) tree: Option<&'p Path>,
    pub(crate) pins: Option<&'p PinFile>,
    pub(crate) lines: &'p [u64],
    pub(crate) choice: ChoiceArgs,
    /// How often advice is judged on resamples; 0 for not at all.
    pub(crate) resamples: usize,
    pub(crate) also: &'p [Also],
    /// What was read of the structs before the profile was there.
    pub(crate) foresight: Option<Foresight>,
}

/// Plans an order for each struct.
pub(crate) fn plan(input: &PlanInput<'_>) -> Result<Plan> {
    let pins = input.pins;
    let layouts = layouts(input, pins)?;
    let build_line = build_line(input.vmlinux)?;
    let foreseen = input.foresight.as_ref().and_then(|foresight| foresight.limits(&layouts));
    let mut limits = foreseen.map_or_else(|| limits::of(input.tree, &layouts), Ok)?;
    for (limits, layout) in limits.iter_mut().zip(&layouts) {
        pins.iter().try_for_each(|pins| pins.add_to(&mut limits.wishes, layout, build_line))?;
    }
    let requests: Vec<Request<'_>> =
        layouts.iter().zip(&limits).map(|(layout, of)| Request { layout, wishes: &of.wishes }).collect();
    let options = PlanOptions {
        lines: input.lines.to_vec(),
        build_line,
        choice: input.choice.candidate,
        max_moves: input.choice.max_moves,
        resamples: input.resamples,
        adjacent_lines: input.choice.adjacent_lines,
        elsewhere: matrix::read(input.also, input.types)?,
        pointer: matrix::machine(input.vmlinux)?.1,
    };
    let mut plan = match (input.profile, input.shuffle) {
        (Some(profile), _) => fieldline_plan::plan(profile, &requests, &options),
        (None, Some(seed)) => fieldline_plan::packing::shuffle(&requests, &options, seed),
        (None, None) => fieldline_plan::packing::pack(&requests, &options),
    };
    for (of, limits) in plan.structs.iter_mut().zip(limits) {
        of.notes.extend(limits.remarks);
        if let Some(reason) = limits.refusal {
            refuse(of, reason);
        }
    }
    if let Some(tree) = input.tree {
        variants::tell(&mut plan, &layouts, tree)?;
    }
    embedding::fill(&mut plan, input.vmlinux)?;
    Ok(plan)
}

fn layouts(input: &PlanInput<'_>, pins: Option<&PinFile>) -> Result<Vec<Layout>> {
    let planned: Vec<&str> = input.types.iter().map(|name| types::bare(name)).collect();
    let foreseen = input.foresight.as_ref().filter(|_| pins.is_none());
    if let Some(layouts) = foreseen.and_then(|foresight| foresight.layouts(&planned, input.profile)) {
        return Ok(layouts);
    }
    types::with_types(input.vmlinux, None, None, |types| {
        let exists = |name: &str| Ok(!types.find(name)?.is_empty());
        pins.iter().try_for_each(|pins| pins.check_structs(&planned, exists))?;
        planned.iter().map(|name| layout_of(types, input.profile, name)).collect()
    })
}

/// A plan that can't be carried out proposes nothing.
fn refuse(of: &mut StructPlan, reason: String) {
    of.outcome = Planned::Refused;
    of.reason = Some(reason);
    of.chosen = of.declared.clone();
    of.moved.clear();
    of.candidates.clear();
    of.forecasts.clear();
    of.sizes.clear();
    of.builds.clear();
    of.groups.clear();
    of.search = None;
    of.confidence = None;
    of.terms.clear();
}

/// The line size the program's machine compiles for (arch/*/include/asm/cache.h: L1_CACHE_SHIFT).
pub(crate) fn build_line(vmlinux: &Path) -> Result<u64> {
    let file = FileBytes::open(vmlinux)?;
    if types::is_raw_btf(file.bytes()) {
        return Ok(USUAL_LINE);
    }
    Ok(Elf::parse(&file)?.cacheline())
}

/// What came of editing the tree.
#[derive(Default)]
pub(crate) struct Patched {
    /// File name of the patch and its text.
    pub(crate) patches: Vec<(String, Vec<u8>)>,
    /// Remarks, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Structs that were refused, and why.
    pub(crate) refusals: Vec<(String, String)>,
    /// The same changes step by step.
    pub(crate) steps: Vec<Step>,
    /// The changed files as they become.
    pub(crate) files: proof::Patch,
}

/// Turns a plan into patches, one for each file that changes.
pub(crate) fn patch(plan: &Plan, tree: &Path, options: &Options) -> Result<Patched> {
    let manner = Manner::new(options, tree, plan)?;
    let mut changes: Vec<Change> = Vec::new();
    let mut patched = Patched::default();
    patched.notes.extend(manner.note());
    for of in &plan.structs {
        match of.outcome {
            Planned::Moved => add_struct(&mut changes, &mut patched, of, (tree, &manner))?,
            Planned::Refused => {
                patched.refusals.push((of.name.clone(), of.reason.clone().unwrap_or_default()));
            }
            _ => {}
        }
    }
    if patched.steps.iter().any(|step| step.needs_macros) {
        prepare(&mut changes, &mut patched, tree)?;
    }
    for (number, change) in (1..).zip(&changes) {
        let name: String = change
            .header
            .path
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        patched.patches.push((format!("{number:04}-{name}.patch"), change.diff()?));
        patched.files.insert(change.header.path.clone(), change.text()?);
    }
    Ok(patched)
}

/// Adds the macros that conditional alignment needs, before all else.
fn prepare(changes: &mut Vec<Change>, patched: &mut Patched, tree: &Path) -> Result<()> {
    let mut first: Vec<Change> = Vec::new();
    let mut files = Vec::new();
    for (header, edits) in idiom::macros::missing(tree)? {
        files.push(header::add(&mut first, header, &edits)?);
    }
    if !files.is_empty() {
        first.append(changes);
        *changes = first;
        patched.steps.insert(0, Step { about: About::Macros, files, ..Step::default() });
    }
    Ok(())
}

fn add_struct(
    changes: &mut Vec<Change>,
    patched: &mut Patched,
    of: &StructPlan,
    (tree, manner): (&Path, &Manner<'_>),
) -> Result<()> {
    let order = of.order();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..of.declared.members.len()).collect::<Vec<_>>() {
        bail!("the plan of struct {} does not hold each member once", of.name);
    }
    let declaration = Declaration::from(of);
    let header = header::open(tree, &declaration)?;
    let path = header.path.clone();
    let reordered = header::reorder(&header, &declaration, &order);
    let (told, reordering) = match reordered.and_then(|one| Ok((manner.tell(&header, of, &one.edits)?, one)))
    {
        Ok(done) => done,
        Err(refusal) => {
            patched.refusals.push((of.name.clone(), format!("{path}: {refusal}")));
            return Ok(());
        }
    };
    patched.notes.extend(reordering.notes.iter().map(|note| format!("{path}: {note}")));
    let mut step = Step {
        about: About::Struct(of.name.clone()),
        files: vec![header::add(changes, header, &told.edits)?],
        shared: told.remarks,
        needs_macros: told.needs_macros,
        groups: told.groups,
    };
    if !told.assertions.is_empty() {
        let (file, remark) = manner.check(changes, &path, &of.name, &told.assertions)?;
        step.files.extend(file);
        step.shared.push(remark);
    }
    patched.notes.extend(step.shared.iter().map(|remark| format!("{path}: {remark}")));
    patched.steps.push(step);
    Ok(())
}
