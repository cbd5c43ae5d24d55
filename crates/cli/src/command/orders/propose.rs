//! `fieldline propose`: recordings to report, profile, plan and patches. All stages of the project, in order.

use super::{check_candidate, command_outcome, summary_text, write};
use crate::args::ProposeArgs;
use crate::input::code::{ProgressMeter, cache_folder, open_build};
use crate::input::{document, recordings};
use crate::output::{self, CommandOutcome};
use crate::page::planned::{PlannedPage, ShownStruct, planned};
use crate::planning::{PlanInputs, TreeFacts};
use crate::report::plan::{plan_text, proposal};
use crate::report::profile::coverage;
use crate::series::{self, evidence};
use anyhow::{Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::Layout;
use fieldline_plan::Plan;
use fieldline_tree::limits::SourceInput;
use fieldline_tree::{builds, edits, pins};

/// Bootstrap replicates by default: with so many, the standard error of a share of 80 % is 9 %.
const RESAMPLES: usize = 20;

pub(crate) fn run(args: &ProposeArgs) -> Result<CommandOutcome> {
    let recorded = args.recordings.inputs();
    let (program, tree) = (recorded.first_program(), args.tree.as_path());
    if !tree.is_dir() {
        bail!("{}: no folder with a source tree", tree.display());
    }
    // Missing inputs are reported before anything takes time.
    let pins = args.search.pins.as_deref().map(pins::read_pins).transpose()?;
    builds::check_files(&args.search.also)?;
    let measured = args.series.evidence.as_deref().map(evidence::cover_text).transpose()?;
    let opened = recordings::OpenedRecordings::new(&recorded)?;

    let code = open_build(Some(tree), args.code.build.as_deref(), program)?;
    let meter = ProgressMeter::default();
    let progress = |done| meter.print(done);
    let allowed = args.code.allow.as_deref();
    let kept = cache_folder("words");
    let source = SourceInput {
        tree: Some(tree),
        code: code.as_ref(),
        kept: kept.as_deref(),
        allowed,
        progress: &progress,
    };

    output::print_progress("attributing samples");
    let (profile, tree_facts) = rayon::join(
        || opened.attribute(|attributed| attributed.profile()),
        || TreeFacts::new(&args.types, program, &source),
    );
    let profile = profile?;

    output::print_progress("planning");
    let (types, pins) = (args.types.as_slice(), pins.as_ref());
    let inputs = PlanInputs { types, program, source, pins, profile: Some(&profile) };
    let limited = inputs.limit_structs(tree_facts.as_ref())?;
    let options = inputs.add_builds(args.search.options(RESAMPLES), &args.search.also)?;
    let mut plan = fieldline_plan::plan(&profile, &limited.requests(), &options);
    let limited_layouts = limited.layouts().to_vec();
    limited.annotate(&mut plan, &inputs)?;
    check_candidate(&plan, args.search.candidate)?;

    output::print_progress("editing the source");
    let mut patched = edits::build_patches(&plan, tree, &args.series.idiom_args.options())?;
    if let Some(request) = args.series.request() {
        patched.patches = series::build_files(&plan, Some(&profile), &patched.steps, &request, tree)?;
    }

    output::print_progress("writing");
    let shown = limited_layouts.into_iter().map(|layout| shown_struct(layout, &profile, &plan));
    let page = PlannedPage {
        profile: &profile,
        structs: shown.collect(),
        plan: Some(&plan),
        patched: Some(&patched),
        lines: &plan.lines,
        build_line: plan.build_line,
    };
    let files = [
        ("report.html", planned(&page).html()?.into_bytes()),
        ("report.md", proposal::markdown(&profile, &plan, &patched, measured.as_deref()).into_bytes()),
        ("profile.json", document::to_json(&profile)?),
        ("plan.json", document::to_json(&plan)?),
    ];
    write(&patched, &args.output, &files)?;
    output::print_as(args.format, &plan, |out, paint| {
        coverage::draw(out, &profile, paint);
        plan_text::draw(out, &plan, paint);
        out.push_str(&summary_text(&patched, &args.output));
    })?;
    Ok(if patched.refusals.is_empty() { command_outcome(&plan) } else { CommandOutcome::Negative })
}

/// A struct for the page, with its accesses and its plan.
fn shown_struct<'p>(layout: Layout, profile: &'p AccessProfile, plan: &'p Plan) -> ShownStruct<'p> {
    let fingerprint = layout.fingerprint();
    let is_same = |known: &&TypeProfile| known.name == layout.name && known.fingerprint == fingerprint;
    let accesses = profile.types.iter().find(is_same);
    ShownStruct { plan: plan.find_struct(&layout.name), accesses, layout }
}
