//! One build's proof, and what was built against what was predicted.

use super::arguments::{CompileSite, canonical};
use super::compile::{CompileOutcome, check_read, compile};
use super::held;
use super::overlay::{Overlay, Patch, temporary_folder};
use super::units::{CompileUnit, CompileUnits};
use crate::code::check_regular;
use crate::{builds, prediction};
use anyhow::{Context, Result, bail};
use fieldline_check::PredictionVerdict;
use fieldline_debuginfo::{Elf, FileBytes, types};
use fieldline_layout::{Layout, Member};
use fieldline_plan::StructPlan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The patch and the structs to be proven.
#[derive(Clone, Copy, Debug)]
pub struct BuildToProve<'b> {
    /// The source tree.
    pub tree: &'b Path,
    /// The build's folder.
    pub folder: &'b Path,
    /// The files that change.
    pub patch: &'b Patch,
    /// The structs that the patch changes, each with its file from the top of the tree.
    pub structs: &'b [(&'b StructPlan, &'b str)],
    /// Sources that are to be compiled in any case.
    pub units: &'b [String],
}

/// Results of a build.
#[derive(Clone, Debug, Default)]
pub struct BuildProof {
    /// The structs that units show.
    pub shown: Vec<ShownStruct>,
    /// Units that no longer compile, with what the compiler said.
    pub broken: Vec<(String, String)>,
    /// Notes, a sentence each.
    pub notes: Vec<String>,
    /// The machine's name and bytes of its cachelines.
    pub machine: (String, u64),
}

impl BuildProof {
    /// Whether everything is as predicted.
    pub fn holds(&self) -> bool {
        let mut verdicts = self.shown.iter().flat_map(|shown| &shown.verdicts);
        verdicts.all(|layout| layout.verdict.holds()) && self.broken.is_empty()
    }
}

/// A struct of a build.
#[derive(Clone, Debug)]
pub struct ShownStruct {
    /// The struct.
    pub name: String,
    /// The unit that shows it.
    pub unit: String,
    /// Its layout against the predicted one.
    pub verdicts: Vec<LayoutVerdict>,
}

/// A unit compiled without the patch.
struct UnpatchedUnit {
    unit: CompileUnit,
    object: PathBuf,
}

impl BuildToProve<'_> {
    /// Compiles without the patch and with it.
    pub fn prove(&self) -> Result<BuildProof> {
        self.prove_inner().with_context(|| self.folder.display().to_string())
    }

    fn prove_inner(&self) -> Result<BuildProof> {
        let (tree, folder) = (self.tree.canonicalize().context("the tree")?, self.folder.canonicalize()?);
        let site = CompileSite { tree: &tree, build: &folder, overlay: None };
        for folder in [&tree, &folder] {
            check_regular(folder)?;
        }
        let (units, work) = (CompileUnits::open(&tree, &folder)?, temporary_folder("fieldline-build-")?);
        let place = WorkPlace { units: &units, site, folder: work.path() };
        let mut proof = BuildProof::default();
        let mut before = self.compile_changed(place, &mut proof.notes)?;
        before.extend(self.compile_showing(&before, place)?);
        proof.machine = before.first().map(|first| machine(&first.object)).transpose()?.unwrap_or_default();
        self.compare_with_patch(&before, site, &mut proof)?;
        Ok(proof)
    }

    /// Units that must compile: those asked for, and sources that the patch changes where the build has them.
    fn compile_changed(&self, place: WorkPlace<'_>, notes: &mut Vec<String>) -> Result<Vec<UnpatchedUnit>> {
        let units = place.units;
        let mut wanted = Vec::new();
        for name in self.units {
            wanted.push(units.unit_of_source_or_neighbour(name)?);
        }
        for name in self.patch.keys().filter(|name| name.ends_with(".c") && !self.units.contains(name)) {
            match units.unit_of_source(name)? {
                Some(unit) => wanted.push(unit),
                None if self.structs.iter().any(|(_, file)| file == name) => {}
                None => notes.push(format!("{name} was not compiled there, so its patch is not proven")),
            }
        }
        let wanted: Vec<(usize, CompileUnit)> = wanted.into_iter().enumerate().collect();
        let compiled = fieldline_parallel::map(&wanted, |(index, unit)| {
            let object = place.folder.join(format!("changed-{index}.o"));
            match compile(&unit.compiled, place.site, &object)? {
                CompileOutcome::Done(_) => Ok(UnpatchedUnit { unit: unit.clone(), object }),
                CompileOutcome::Failed(why) => {
                    bail!("{} does not compile without the patch:\n{why}", unit.name)
                }
            }
        });
        compiled.into_iter().collect()
    }

    /// Units that show the structs that no unit before shows, one a file that declares some.
    fn compile_showing(&self, known: &[UnpatchedUnit], place: WorkPlace<'_>) -> Result<Vec<UnpatchedUnit>> {
        let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (plan, file) in self.structs {
            let mut is_shown = false;
            for before in known {
                is_shown |= !layouts(&before.object, &plan.name)?.is_empty();
            }
            if !is_shown {
                files.entry(file).or_default().push(&plan.name);
            }
        }
        let files: Vec<(usize, (&str, Vec<&str>))> = files.into_iter().enumerate().collect();
        let found = fieldline_parallel::map(&files, |(index, (file, names))| {
            place.compile_first_showing(file, names, &place.folder.join(format!("shown-{index}.o")))
        });
        found.into_iter().collect()
    }

    /// Compiles with the patch, and holds each struct against the prediction.
    fn compare_with_patch(
        &self,
        before: &[UnpatchedUnit],
        site: CompileSite<'_>,
        proof: &mut BuildProof,
    ) -> Result<()> {
        let sources = before.iter().map(|before| canonical(&before.unit.compiled.file));
        let inner = sources.filter_map(|path| path.strip_prefix(site.tree).map(Path::to_owned).ok());
        let sources: BTreeSet<PathBuf> = inner.collect();
        let overlay = Overlay::new(site.tree, self.patch, &sources)?;
        let site = CompileSite { overlay: Some(overlay.path()), ..site };
        let after = fieldline_parallel::map(before, |before| {
            let object = before.object.with_extension("after.o");
            Ok((compile(&before.unit.compiled, site, &object)?, object))
        });
        let after: Vec<(CompileOutcome, PathBuf)> = after.into_iter().collect::<Result<_>>()?;
        let mut done = Vec::new();
        for (before, (compiled, object)) in before.iter().zip(after) {
            proof.notes.extend(borrowed_note(&before.unit));
            match compiled {
                CompileOutcome::Done(read) => done.push((before, object, read)),
                CompileOutcome::Failed(why) => proof.broken.push((before.unit.name.clone(), why)),
            }
        }
        let plans: Vec<&StructPlan> = self.structs.iter().map(|(plan, _)| *plan).collect();
        let mut all_declared = Vec::new();
        for (before, _, _) in &done {
            all_declared.push(held::declared_layouts(&before.object, &plans)?);
        }
        for (index, (plan, file)) in self.structs.iter().enumerate() {
            for ((before, object, read), declared) in done.iter().zip(&all_declared) {
                let Some(declared) = declared.get(index).filter(|all| !all.is_empty()) else { continue };
                check_read(read, site, &[file], Path::new(&before.unit.name))?;
                let mut verdicts = judge_layouts(plan, Some(declared), &layouts(object, &plan.name)?)?;
                set_sizes_before(&mut verdicts, plan, &layouts(&before.object, &plan.name)?);
                let (name, unit) = (plan.name.clone(), before.unit.name.clone());
                proof.shown.push(ShownStruct { name, unit, verdicts });
                break;
            }
        }
        Ok(())
    }
}

/// Where units are compiled without the patch.
#[derive(Clone, Copy)]
struct WorkPlace<'w> {
    units: &'w CompileUnits<'w>,
    site: CompileSite<'w>,
    /// The folder of the objects.
    folder: &'w Path,
}

impl WorkPlace<'_> {
    /// The first unit that has all the structs of a file.
    fn compile_first_showing(&self, file: &str, names: &[&str], object: &Path) -> Result<UnpatchedUnit> {
        let mut tried = Vec::new();
        for unit in self.units.units_of_header(file)? {
            match compile(&unit.compiled, self.site, object)? {
                CompileOutcome::Failed(why) => tried.push(format!("{} does not compile: {why}", unit.name)),
                CompileOutcome::Done(_) => {
                    let mut lacking = Vec::new();
                    for name in names {
                        if layouts(object, name)?.is_empty() {
                            lacking.push(*name);
                        }
                    }
                    if lacking.is_empty() {
                        return Ok(UnpatchedUnit { unit, object: object.to_owned() });
                    }
                    tried.push(format!("{} has no struct {}", unit.name, lacking.join(", ")));
                }
            }
        }
        let tried =
            if tried.is_empty() { "no unit is known to read it".to_owned() } else { tried.join("\n") };
        bail!("{file}: no unit shows struct {}; --unit names one\n{tried}", names.join(", "))
    }
}

/// A unit that the build never compiled is compiled as another was.
pub(super) fn borrowed_note(unit: &CompileUnit) -> Option<String> {
    let borrowed = unit.borrowed.as_ref()?;
    Some(format!("{} was never compiled there, so it is compiled with the flags of {borrowed}", unit.name))
}

/// All layouts of a name in an object; none if it has none.
fn layouts(object: &Path, name: &str) -> Result<Vec<Layout>> {
    types::with_types(object, None, None, |types| builds::layouts(types, name))
}

fn machine(object: &Path) -> Result<(String, u64)> {
    let file = FileBytes::open(object)?;
    let elf = Elf::parse(&file)?;
    Ok((format!("{:?}", elf.machine()).to_lowercase(), elf.cacheline()))
}

/// One struct of one build.
#[derive(Clone, Debug)]
pub struct LayoutVerdict {
    /// Whether the layout is the predicted one.
    pub verdict: PredictionVerdict,
    /// Bytes predicted.
    pub size: u64,
    /// Bytes without the patch, where that was compiled.
    pub before: Option<u64>,
}

/// Compares the layouts of a struct's name in a build with the prediction: for another build than the plan's,
/// out of the layouts without the patch. Of several structs of the name, the one with the plan's members.
pub fn judge_layouts(
    plan: &StructPlan,
    declared: Option<&[Layout]>,
    built: &[Layout],
) -> Result<Vec<LayoutVerdict>> {
    let declared = declared.and_then(|all| closest_definition(plan, all));
    let predicted = match declared {
        Some(declared) => prediction::predict_build(plan, declared, closest_definition(plan, built))
            .with_context(|| format!("struct {}: a union has no order", plan.name))?,
        None => prediction::predict_plan(plan, closest_definition(plan, built)),
    };
    let mut judged: Vec<&Layout> = built.iter().filter(|built| has_members(&predicted, built)).collect();
    if judged.is_empty() {
        judged.extend(built.first());
    }
    let judged = judged.into_iter().map(|built| LayoutVerdict {
        verdict: PredictionVerdict::new(&predicted, built),
        size: predicted.size,
        before: declared.map(|layout| layout.size),
    });
    Ok(judged.collect())
}

/// Takes sizes without the patch from the layouts there: what is predicted from may have what it holds in other sizes.
pub fn set_sizes_before(verdicts: &mut [LayoutVerdict], plan: &StructPlan, before: &[Layout]) {
    let size = closest_definition(plan, before).map(|layout| layout.size);
    verdicts.iter_mut().for_each(|verdict| verdict.before = size);
}

/// The definition that has most members of the plan's, the one most units share first.
fn closest_definition<'l>(plan: &StructPlan, layouts: &'l [Layout]) -> Option<&'l Layout> {
    let known = |layout: &Layout| {
        let is_known = |member: &&Member| plan.declared.members.iter().any(|own| own.name == member.name);
        layout.members.iter().filter(|member| member.name.is_some()).filter(is_known).count()
    };
    layouts.iter().rev().max_by_key(|layout| known(layout))
}

fn has_members(predicted: &Layout, built: &Layout) -> bool {
    let names = |layout: &Layout| {
        let mut names: Vec<_> = layout.members.iter().map(|member| member.name.clone()).collect();
        names.sort();
        names
    };
    names(predicted) == names(built)
}
