//! `fieldline propose`: recordings to report, profile, plan and patches. All stages of the project, in order.

use super::{check_candidate, command_outcome, plan_shown, shown_parts, summary_text, write};
use crate::args::ProposeArgs;
use crate::input::code::{ProgressMeter, cache_folder, open_build};
use crate::input::{document, recordings};
use crate::output::{self, CommandOutcome};
use crate::page::planned::{PlannedPage, ShownStruct, planned};
use crate::planning::{PlanInputs, TreeFacts};
use crate::report::plan::proposal;
use crate::report::profile::coverage;
use crate::report::screen::coverage as coverage_rows;
use crate::report::screen::plan::PlanScreen;
use crate::report::screen::text::{Rows, plural};
use crate::series::{self, evidence};
use anyhow::{Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::Layout;
use fieldline_plan::Plan;
use fieldline_tree::edits::PatchSet;
use fieldline_tree::limits::SourceInput;
use fieldline_tree::{builds, edits, pins};
use std::path::Path;

/// Bootstrap replicates by default: with so many, the standard error of a share of 80 % is 9 %.
const RESAMPLES: usize = 20;

pub(crate) fn run(args: &ProposeArgs) -> Result<CommandOutcome> {
    let recorded = args.recordings.inputs();
    let (program, tree) = (recorded.first_program(), args.tree.as_path());
    require_folder(tree)?;
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

    let (profile, tree_facts) = rayon::join(
        || opened.attribute(|attributed| attributed.profile()),
        || TreeFacts::new(&args.types, program, &source),
    );
    let profile = profile?;

    let (types, pins) = (args.types.as_slice(), pins.as_ref());
    let inputs = PlanInputs { types, program, source, pins, profile: Some(&profile) };
    let limited = inputs.limit_structs(tree_facts.as_ref())?;
    meter.finish();
    let options = inputs.add_builds(args.search.options(RESAMPLES), &args.search.also)?;
    let mut plan = plan_shown(&profile, &limited, &options);
    limited.judge_together(&mut plan, &profile, (program, Some(tree)), &options)?;
    let limited_layouts = limited.layouts().to_vec();
    limited.annotate(&mut plan, &inputs)?;
    check_candidate(&plan, args.search.candidate)?;

    let stage = output::begin_stage("editing the source");
    let mut patched = edits::build_patches(&plan, tree, &args.series.idiom_args.options())?;
    if let Some(request) = args.series.request() {
        patched.patches = series::build_files(&plan, Some(&profile), &patched.steps, &request, tree)?;
    }
    drop(stage);
    output::print_progress("writing");
    let shown = limited_layouts.into_iter().map(|layout| shown_struct(layout, &profile, &plan));
    let page = PlannedPage {
        profile: &profile,
        structs: shown.collect(),
        plan: Some(&plan),
        patched: Some(&patched),
        also: &options.other_builds,
        measured: measured.as_deref(),
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
    let (next, parts) = (next_after_patches(args, &patched), shown_parts(&args.show));
    output::print_as(args.format, &plan, |out, paint| {
        let screen = output::screen();
        let (mut head, mut foot) = (screen.rows(), screen.rows());
        coverage_rows::draw(&mut head, &profile);
        draw_summary(&mut foot, &patched, &args.output);
        let text = PlanScreen { plan: &plan, profile: Some(&profile), next: &next, parts };
        text.draw(out, screen, head, foot);
        if output::is_verbose() {
            coverage::draw(out, &profile, paint);
            out.push_str(&summary_text(&patched, &args.output));
        }
    })?;
    Ok(if patched.refusals.is_empty() { command_outcome(&plan) } else { CommandOutcome::Negative })
}

fn require_folder(tree: &Path) -> Result<()> {
    if !tree.is_dir() {
        bail!("{}: no folder with a source tree", tree.display());
    }
    Ok(())
}

/// A struct for the page, with its accesses and its plan.
fn shown_struct<'p>(layout: Layout, profile: &'p AccessProfile, plan: &'p Plan) -> ShownStruct<'p> {
    let fingerprint = layout.fingerprint();
    let is_same = |known: &&TypeProfile| known.name == layout.name && known.fingerprint == fingerprint;
    let accesses = profile.types.iter().find(is_same);
    ShownStruct { plan: plan.find_struct(&layout.name), accesses, layout }
}

/// Most files, and most notes, that the first screen names.
const NAMED: usize = 3;

/// Files written, notes and refusals, the first of each.
fn draw_summary(rows: &mut Rows, patched: &PatchSet, folder: &Path) {
    let patches: Vec<&str> = patched.patches.iter().map(|(name, _)| name.as_str()).collect();
    let more = patches.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("and {more} more patches, ") } else { String::new() };
    let named: String = patches.iter().take(NAMED).map(|name| format!("{name}, ")).collect();
    let all = format!("{named}{more}report.html, report.md, profile.json, plan.json in {}", folder.display());
    rows.paragraph("wrote: ", &all, 3);
    for (name, reason) in patched.refusals.iter().take(NAMED) {
        rows.paragraph("refused: ", &format!("struct {name}: {reason}"), 2);
    }
    patched.notes.iter().take(NAMED).for_each(|note| rows.paragraph("note: ", note, 2));
    let left = patched.notes.len().saturating_sub(NAMED) + patched.refusals.len().saturating_sub(NAMED);
    if left > 0 {
        rows.push(&format!("and {} more (-v)", plural(left, "note")));
    }
}

/// The words of the command that follows patches: of their proof.
fn next_after_patches(args: &ProposeArgs, patched: &PatchSet) -> Vec<String> {
    if patched.patches.is_empty() {
        return Vec::new();
    }
    let plan = args.output.join("plan.json").display().to_string();
    let build = args.code.build.as_deref().map_or("DIR".to_owned(), |build| build.display().to_string());
    let (tree, build) = (args.tree.display().to_string(), format!("O={build}"));
    ["fieldline", "verify", "--plan", &plan, "--tree", &tree, "--build", &build].map(str::to_owned).to_vec()
}
