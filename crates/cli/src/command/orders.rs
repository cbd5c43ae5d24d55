//! Commands on orders: plan, patch, verify, simulate, split.

mod lock_notes;
pub(crate) mod place;
pub(crate) mod propose;
pub(crate) mod simulate;
pub(crate) mod split;
pub(crate) mod verify;

use crate::args::{PatchArgs, PlanArgs, require_vmlinux, require_words};
use crate::input::code::{ProgressMeter, cache_folder, open_build};
use crate::input::recordings::check_profile;
use crate::input::{document, fleet};
use crate::output::{self, CommandOutcome};
use crate::planning::{LimitedStructs, PlanInputs, TreeFacts};
use crate::report::parts::PlanPart;
use crate::report::screen::plan::PlanScreen;
use crate::series;
use anyhow::{Context, Result, bail};
use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::types;
use fieldline_layout::layout::Layout;
use fieldline_plan::result::Together;
use fieldline_plan::{CandidateChoice, Cohort, Outcome as Planned, Plan, PlanOptions, StructPlan, packing};
use fieldline_tree::edits::{self, PatchSet};
use fieldline_tree::limits::{self, SourceInput};
use fieldline_tree::{builds, pins};
use std::path::{Path, PathBuf};

/// `fieldline plan`: a member order that touches fewer cachelines.
pub(crate) fn plan(args: &PlanArgs) -> Result<CommandOutcome> {
    let (program, tree) = (require_vmlinux(args.vmlinux.as_ref())?, args.tree.as_deref());
    let named: Vec<String> = [args.types.clone(), args.together.clone()].concat();
    let types: Vec<String> = named.into_iter().fold(Vec::new(), add_new);
    let types = require_words(&types, "struct")?;
    // Missing inputs are reported before the tree is read.
    let pins = args.search.pins.as_deref().map(pins::read_pins).transpose()?;
    builds::check_files(&args.search.also)?;
    let files = args.profile.iter().filter(|path| !fleet::is_fleet(path));
    for path in files.chain(&args.vmlinux) {
        fieldline_files::open(path).with_context(|| path.display().to_string())?;
    }
    let code = open_build(tree, args.code.build.as_deref(), program)?;
    let meter = ProgressMeter::default();
    let progress = |done| meter.print(done);
    let (kept, allowed) = (cache_folder("words"), args.code.allow.as_deref());
    let kept = kept.as_deref();
    let source = SourceInput { tree, code: code.as_ref(), kept, allowed, progress: &progress };
    let (profile, tree_facts) =
        rayon::join(|| read_profile(args, program), || TreeFacts::new(types, program, &source));
    let (profile, cohorts) = profile?.unzip();
    for (profile, path) in profile.iter().zip(&args.profile) {
        check_profile(profile, path, program)?;
    }
    let pins = pins.as_ref();
    let inputs = PlanInputs { types, program, source, pins, profile: profile.as_ref() };
    let limited = inputs.limit_structs(tree_facts.as_ref())?;
    meter.finish();
    let options = inputs.add_builds(args.search.options(0), &args.search.also)?;
    let (cohorts, no_cohort_worse) = (cohorts.unwrap_or_default(), args.no_cohort_worse);
    let options = PlanOptions { cohorts, no_cohort_worse, ..options };
    let mut plan = match (&profile, args.shuffle) {
        (Some(profile), _) => plan_shown(profile, &limited, &options),
        (None, Some(seed)) => packing::shuffle(&limited.requests(), &options, seed),
        (None, None) => packing::pack(&limited.requests(), &options),
    };
    if let Some(profile) = &profile {
        limited.judge_together(&mut plan, profile, (program, tree), &options)?;
    }
    limited.annotate(&mut plan, &inputs)?;
    check_candidate(&plan, args.search.candidate)?;
    if let (Some(path), Some(profile)) = (&args.lock_stat, &profile) {
        lock_notes::add(&mut plan, profile, program, (path, &args.lock_structs))?;
    }
    document::write_if_named(args.output.as_ref(), &plan)?;
    let (next, parts) = (next_after_plan(args, &plan), shown_parts(&args.show));
    let (plan, profile) = (&plan, profile.as_ref());
    output::print_as(args.format, plan, |out, _| {
        let screen = output::screen();
        let mut foot = screen.rows();
        if args.output.is_none() && !next.is_empty() {
            foot.push("to keep the plan: -o plan.json");
        }
        PlanScreen { plan, profile, next: &next, parts }.draw(out, screen, screen.rows(), foot);
    })?;
    if !are_together(plan, &args.together) {
        output::print_note(&format!("no struct holds {} side by side", args.together.join(" and ")));
        return Ok(CommandOutcome::Negative);
    }
    Ok(command_outcome(plan))
}

/// Adds a name to those known, unless it is among them.
fn add_new(mut names: Vec<String>, name: String) -> Vec<String> {
    if !names.contains(&name) {
        names.push(name);
    }
    names
}

/// Whether one struct holds all of these.
fn are_together(plan: &Plan, asked: &[String]) -> bool {
    let is_held = |found: &Together, name: &str| found.parts.iter().any(|part| part.name == name);
    let asked = || asked.iter().map(|name| types::strip_keyword(name));
    asked().count() == 0 || plan.together.iter().any(|found| asked().all(|name| is_held(found, name)))
}

/// The profile, and those of its cohorts if they are asked for.
fn read_profile(args: &PlanArgs, program: &Path) -> Result<Option<(AccessProfile, Vec<Cohort>)>> {
    let Some(path) = args.profile.as_deref() else { return Ok(None) };
    Ok(Some(match &args.cohorts {
        Some(label) => fleet::read_cohorts(path, program, &args.fleet.options(), label)?,
        None => (document::read_profile_of(path, Some(program), &args.fleet.options())?, Vec::new()),
    }))
}

/// Plans structs, and shows how far that is.
fn plan_shown(profile: &AccessProfile, limited: &LimitedStructs, options: &PlanOptions) -> Plan {
    let stage = output::begin_stage("planning");
    fieldline_plan::plan_observed(profile, &limited.requests(), options, &|progress| {
        stage.set(progress.done as u64, progress.count as u64);
    })
}

/// Parts to print behind the first screen: those asked for, or all.
fn shown_parts(asked: &[PlanPart]) -> &[PlanPart] {
    if output::is_verbose() { &PlanPart::ALL } else { asked }
}

/// The words of the command that follows a plan: of the patch, where members move.
fn next_after_plan(args: &PlanArgs, plan: &Plan) -> Vec<String> {
    if !plan.structs.iter().any(StructPlan::changes) {
        return Vec::new();
    }
    let path = |path: Option<&PathBuf>, other: &str| {
        path.map_or_else(|| other.to_owned(), |path| path.display().to_string())
    };
    let (file, tree) = (path(args.output.as_ref(), "plan.json"), path(args.tree.as_ref(), "TREE"));
    let words = ["fieldline", "patch", "--plan", &file, "--tree", &tree, "-o", "patches"].map(str::to_owned);
    words.to_vec()
}

/// Refuses a number that no candidate of a struct has. Structs without candidates have nothing to choose from.
fn check_candidate(plan: &Plan, choice: CandidateChoice) -> Result<()> {
    let CandidateChoice::Number(number) = choice else { return Ok(()) };
    let short = plan.structs.iter().find(|plan| (1..number).contains(&plan.candidates.len()));
    if let Some(StructPlan { name, candidates, .. }) = short {
        bail!(
            "--candidate {number}: struct {name} has {} candidates; give a smaller number",
            candidates.len()
        );
    }
    Ok(())
}

/// A refused struct gives exit code 1; no gain gives 0.
fn command_outcome(plan: &Plan) -> CommandOutcome {
    let refused = plan.structs.iter().any(|struct_plan| struct_plan.outcome() == Planned::Refused);
    if refused { CommandOutcome::Negative } else { CommandOutcome::Done }
}

/// `fieldline patch`: a plan to patches of the headers.
pub(crate) fn patch(args: &PatchArgs) -> Result<CommandOutcome> {
    let mut plan = read_plan(&args.plan)?;
    let profile = args.profile.as_deref().map(document::read_profile).transpose()?;
    if let (Some(known), Some(path), Some(program)) = (&profile, &args.profile, &args.vmlinux) {
        check_profile(known, path, program)?;
    }
    if args.code.build.is_some() {
        recheck(&mut plan, args)?;
    }
    let mut patched = edits::build_patches(&plan, &args.tree, &args.series.idiom_args.options())?;
    if let Some(request) = args.series.request() {
        patched.patches = series::build_files(&plan, profile.as_ref(), &patched.steps, &request, &args.tree)?;
    }
    write(&patched, &args.output, &[])?;
    output::print(&summary_text(&patched, &args.output))?;
    Ok(if patched.refusals.is_empty() { CommandOutcome::Done } else { CommandOutcome::Negative })
}

/// Holds a plan against what the code of a build asks for.
fn recheck(plan: &mut Plan, args: &PatchArgs) -> Result<()> {
    let program =
        args.vmlinux.as_deref().context("--build needs --vmlinux, the program the plan was made with")?;
    let layouts = types::with_types(program, None, None, |types| {
        let layout = |struct_plan: &StructPlan| {
            let layout = types.layout_with_fingerprint(&struct_plan.name, struct_plan.fingerprint)?;
            Ok(Layout { name: struct_plan.name.clone(), ..layout })
        };
        // What couldn't be read for the plan isn't read now; what moves has to be.
        let known = |struct_plan: &StructPlan| match struct_plan.changes() {
            true => layout(struct_plan).map(Some),
            false => Ok(layout(struct_plan).ok()),
        };
        plan.structs.iter().map(known).collect::<Result<Vec<Option<Layout>>>>()
    })?;
    let code = open_build(Some(&args.tree), args.code.build.as_deref(), program)?;
    let meter = ProgressMeter::default();
    let progress = |done| meter.print(done);
    let (kept, allowed) = (cache_folder("words"), args.code.allow.as_deref());
    let (tree, kept) = (Some(args.tree.as_path()), kept.as_deref());
    let source = SourceInput { tree, code: code.as_ref(), kept, allowed, progress: &progress };
    limits::recheck(plan, &source, &layouts)
}

pub(crate) fn read_plan(path: &Path) -> Result<Plan> {
    document::read(path, fieldline_plan::result::FORMAT, u64::from(fieldline_plan::result::VERSION))
}

/// Writes the patches and other files into a folder, all or none.
fn write(patched: &PatchSet, folder: &Path, others: &[(&str, Vec<u8>)]) -> Result<()> {
    if patched.patches.is_empty() && others.is_empty() {
        return Ok(());
    }
    output::make_folder(folder)?;
    let patches = patched.patches.iter().map(|(name, text)| (folder.join(name), text.as_slice()));
    let others = others.iter().map(|(name, text)| (folder.join(name), text.as_slice()));
    output::write_files(&patches.chain(others).collect::<Vec<_>>())
}

/// The files written, notes and refusals.
fn summary_text(patched: &PatchSet, folder: &Path) -> String {
    let mut out = String::new();
    out.extend(patched.patches.iter().map(|(name, _)| format!("wrote {}\n", folder.join(name).display())));
    out.extend(patched.notes.iter().map(|note| format!("note: {note}\n")));
    let refused = |(name, reason): &(String, String)| format!("refused: struct {name}: {reason}\n");
    out.extend(patched.refusals.iter().map(refused));
    if patched.patches.is_empty() && patched.refusals.is_empty() {
        out.push_str("nothing moves, so there is no patch\n");
    }
    out
}
