//! Patches by mail: the layouts that each of them changes, judged by the rules.

use super::config::{Config, Target};
use super::targets::LoadedTarget;
use super::verdict::{CheckReport, judge_targets};
use crate::input::layout_set::{self, LayoutSet};
use crate::input::select::{is_glob, matches_type};
use anyhow::{Context, Result, bail};
use fieldline_access::AccessProfile;
use fieldline_check::change::TypeChange;
use fieldline_check::set::pair_by_name;
use fieldline_debuginfo::types::DebugFormat;
use fieldline_layout::{Layout, Member};
use fieldline_mail::{FileDiff, PatchMail, PatchSeries, parse_diff};
use fieldline_tree::proof::{
    Patch, PatchBuild, PatchedUnit, ShownPatch, TouchedStruct, TreeState, apply, current_texts,
    find_declared_holders, find_holders, find_touched, structs_not_in,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The patches of a series, each judged.
pub(crate) struct MailedReport<'m> {
    pub(crate) patches: Vec<JudgedPatch<'m>>,
    /// Mails that were left out, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// A patch, what it changes, and what the rules find.
pub(crate) struct JudgedPatch<'m> {
    pub(crate) mail: &'m PatchMail,
    pub(crate) files: Vec<FileDiff>,
    /// The texts of its files before and after.
    pub(crate) before: Patch,
    pub(crate) after: Patch,
    pub(crate) touched: Vec<TouchedStruct>,
    /// One a target.
    pub(crate) targets: Vec<TargetChanges>,
    pub(crate) check: CheckReport,
}

/// Changes of a patch to the layouts of one target.
pub(crate) struct TargetChanges {
    pub(crate) target: String,
    /// Structs that are touched or hold one that is.
    pub(crate) structs: Vec<ShownChange>,
    /// Structs that the build doesn't show: name, file and reason.
    pub(crate) missing: Vec<(String, String, String)>,
    /// Units that no longer compile, with what the compiler said.
    pub(crate) broken: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
}

/// A struct before and after.
pub(crate) struct ShownChange {
    pub(crate) name: String,
    /// The unit that shows it.
    pub(crate) unit: String,
    /// Whether the configuration names it.
    pub(crate) is_judged: bool,
    /// Whether its own declaration changes.
    pub(crate) is_touched: bool,
    pub(crate) size_before: Option<u64>,
    pub(crate) size_after: Option<u64>,
    /// The difference, if there is one.
    pub(crate) change: Option<TypeChange>,
}

impl JudgedPatch<'_> {
    /// Whether it is to be refused: an error of the rules, or code that no longer compiles.
    pub(crate) fn is_refused(&self) -> bool {
        self.check.count(fieldline_check::FindingLevel::Error) > 0
            || self.targets.iter().any(|target| !target.broken.is_empty())
    }
}

/// The tree and builds that patches are judged with.
pub(crate) struct MailGate<'g> {
    pub(crate) config: &'g Config,
    pub(crate) profile: Option<&'g AccessProfile>,
    pub(crate) tree: &'g Path,
    pub(crate) builds: Vec<(&'g Target, PathBuf)>,
}

impl MailGate<'_> {
    /// Applies the patches of a series one after the other and judges each.
    pub(crate) fn judge<'m>(&self, series: &'m PatchSeries) -> Result<MailedReport<'m>> {
        let opened =
            self.builds.iter().map(|(target, folder)| Ok((*target, PatchBuild::open(self.tree, folder)?)));
        let opened: Vec<(&Target, PatchBuild)> = opened.collect::<Result<_>>()?;
        let mut patches = Vec::new();
        let mut before = Patch::new();
        for (number, mail) in series.patches.iter().enumerate() {
            let judged = self.judge_patch(mail, number, &before, &opened);
            let judged = judged.with_context(|| mail.subject.clone())?;
            before.clone_from(&judged.after);
            patches.push(judged);
        }
        Ok(MailedReport { patches, notes: series.left_out.clone() })
    }

    fn judge_patch<'m>(
        &self,
        mail: &'m PatchMail,
        number: usize,
        before: &Patch,
        builds: &[(&Target, PatchBuild)],
    ) -> Result<JudgedPatch<'m>> {
        let files = parse_diff(&mail.diff);
        let names: BTreeSet<String> =
            files.iter().flat_map(|file| file.old.iter().chain(&file.new)).cloned().collect();
        let names: Vec<String> = names.into_iter().collect();
        let after = apply(self.tree, before, &mail.diff, &names)?;
        let touched = find_touched(self.tree, before, &after, &names)?;
        let states = [TreeState { number, files: before }, TreeState { number: number + 1, files: &after }];
        let (mut targets, mut loaded) = (Vec::new(), Vec::new());
        for (target, build) in builds {
            let mut shown = build.show(states[0], states[1], &touched)?;
            self.check_literal_types(target, &shown)?;
            let holders = self.find_further_holders(&shown, &touched)?;
            shown.add(build.show(states[0], states[1], &holders)?);
            let layouts = self.read_layouts(build, &shown)?;
            targets.push(self.compare(target, &shown, &layouts, &touched));
            loaded.extend(self.load(target, layouts));
        }
        let check = self.check(&loaded)?;
        let before = current_texts(self.tree, before, &names)?;
        Ok(JudgedPatch { mail, files, before, after, touched, targets, check })
    }

    fn is_judged(&self, name: &str) -> bool {
        self.config.types.iter().any(|pattern| matches_type(pattern, name))
    }

    /// Refuses to judge without a type that the configuration names.
    fn check_literal_types(&self, target: &Target, shown: &ShownPatch) -> Result<()> {
        let is_optional = |name: &str| target.optional.iter().any(|optional| matches_type(optional, name));
        let named = shown.missing.iter().filter(|(name, _, _)| self.config.types.contains(name));
        match named.into_iter().find(|(name, _, _)| !is_optional(name)) {
            Some((name, file, why)) => bail!(
                "target {}: {file}: no unit shows struct {name}; if it may be absent, write optional = [\"{name}\"]: \
                 {why}",
                target.name
            ),
            None => Ok(()),
        }
    }

    /// Structs that the configuration names and no unit so far shows, which hold a touched one or what holds it. None
    /// where all are shown: the tree is read for them.
    fn find_further_holders(
        &self,
        shown: &ShownPatch,
        touched: &[TouchedStruct],
    ) -> Result<Vec<TouchedStruct>> {
        let objects: Vec<&Path> = shown.units.iter().map(|unit| unit.after.as_path()).collect();
        let is_plain = |name: &&String| !is_glob(name) && !touched.iter().any(|entry| entry.name == **name);
        let named: Vec<String> = self.config.types.iter().filter(is_plain).cloned().collect();
        let unseen = structs_not_in(&objects, &named)?;
        if unseen.is_empty() || objects.is_empty() {
            return Ok(Vec::new());
        }
        let mut held: Vec<String> = touched.iter().map(|entry| entry.name.clone()).collect();
        for object in objects {
            held.extend(find_holders(object, &held, |_| true)?);
        }
        Ok(find_declared_holders(self.tree, &unseen, &held))
    }

    /// The layouts of the touched structs, and of those of the configuration that hold one.
    fn read_layouts(&self, build: &PatchBuild, shown: &ShownPatch) -> Result<PatchedLayouts> {
        let touched: Vec<String> = shown.units.iter().flat_map(|unit| unit.structs.clone()).collect();
        let read = fieldline_parallel::map(&shown.units, |unit| self.read_unit(build, unit, &touched));
        let mut all = PatchedLayouts::default();
        for layouts in read {
            all.add(layouts?);
        }
        Ok(all)
    }

    fn read_unit(
        &self,
        build: &PatchBuild,
        unit: &PatchedUnit,
        touched: &[String],
    ) -> Result<PatchedLayouts> {
        let mut names: BTreeSet<String> = unit.structs.iter().cloned().collect();
        for object in [&unit.before, &unit.after] {
            names.extend(find_holders(object, touched, |name| self.is_judged(name))?);
        }
        let names: Vec<String> = names.into_iter().collect();
        let read = |object: &Path| -> Result<LayoutSet> {
            let mut layouts = layout_set::read(object, &names, Some(DebugFormat::Dwarf))?;
            layouts.layouts.iter_mut().for_each(|layout| name_files(layout, build));
            Ok(layouts)
        };
        let mut all = PatchedLayouts { before: Some(read(&unit.before)?), ..PatchedLayouts::default() };
        all.after = Some(read(&unit.after)?);
        all.units = names.into_iter().map(|name| (name, unit.name.clone())).collect();
        Ok(all)
    }

    fn compare(
        &self,
        target: &Target,
        shown: &ShownPatch,
        layouts: &PatchedLayouts,
        touched: &[TouchedStruct],
    ) -> TargetChanges {
        let sides = layouts.before.as_ref().zip(layouts.after.as_ref());
        let mut structs: Vec<ShownChange> = Vec::new();
        for (old, new) in sides.iter().flat_map(|(old, new)| pair_by_name(&old.layouts, &new.layouts)) {
            let Some(either) = new.or(old) else { continue };
            let line = target.line.or(layouts.after.as_ref().map(|set| set.line)).unwrap_or(64);
            let change = old.zip(new).and_then(|(old, new)| TypeChange::between(old, new, &[line]));
            let unit =
                layouts.units.iter().find(|(name, _)| *name == either.name).map(|(_, unit)| unit.clone());
            structs.push(ShownChange {
                is_judged: self.is_judged(&either.name),
                is_touched: touched.iter().any(|entry| entry.name == either.name),
                name: either.name.clone(),
                unit: unit.unwrap_or_default(),
                size_before: old.map(|layout| layout.size),
                size_after: new.map(|layout| layout.size),
                change,
            });
        }
        // Those that the patch declares, in its order, then what holds them.
        let place = |change: &ShownChange| touched.iter().position(|entry| entry.name == change.name);
        structs.sort_by_key(|change| (place(change).unwrap_or(usize::MAX), change.name.clone()));
        TargetChanges {
            target: target.name.clone(),
            structs,
            missing: shown.missing.clone(),
            broken: shown.broken.clone(),
            notes: shown.notes.clone(),
        }
    }

    /// The layouts to be judged, those of the configuration.
    fn load<'c>(&self, target: &'c Target, layouts: PatchedLayouts) -> Option<LoadedTarget<'c>> {
        let (mut before, mut now) = (layouts.before?, layouts.after?);
        for set in [&mut before, &mut now] {
            set.layouts.retain(|layout| self.is_judged(&layout.name));
            set.missing.clear();
        }
        if now.layouts.is_empty() {
            return None;
        }
        (before.file, now.file) = ("the tree without the patch".to_owned(), "the tree with it".to_owned());
        let line = target.line.unwrap_or(now.line);
        Some(LoadedTarget { config: target, line, now, before: Some(before) })
    }

    /// Findings of the rules that they don't have without the patch.
    fn check(&self, loaded: &[LoadedTarget<'_>]) -> Result<CheckReport> {
        let mut config = self.config.clone();
        let names: BTreeSet<&str> =
            loaded.iter().flat_map(|target| &target.now.layouts).map(|layout| layout.name.as_str()).collect();
        config.ends.retain(|name, _| names.contains(name.as_str()));
        config.budgets.retain(|name, _| names.contains(name.as_str()));
        let mut report = judge_targets(&config, loaded, self.profile, &[])?;
        let old = loaded.iter().filter_map(|target| {
            let mut before = target.before.clone()?;
            before.layouts.retain(|layout| names.contains(layout.name.as_str()));
            let (line, config) = (target.line, target.config);
            (!before.layouts.is_empty()).then_some(LoadedTarget { config, line, now: before, before: None })
        });
        let old: Vec<LoadedTarget<'_>> = old.collect();
        let known: BTreeSet<&str> =
            old.iter().flat_map(|target| &target.now.layouts).map(|layout| layout.name.as_str()).collect();
        config.ends.retain(|name, _| known.contains(name.as_str()));
        config.budgets.retain(|name, _| known.contains(name.as_str()));
        let earlier = judge_targets(&config, &old, self.profile, &[])?.findings;
        report.findings.retain(|found| {
            let key =
                (&found.target, &found.ty, found.finding.rule, &found.finding.member, &found.finding.message);
            !earlier.iter().any(|was| {
                (&was.target, &was.ty, was.finding.rule, &was.finding.member, &was.finding.message) == key
            })
        });
        Ok(report)
    }
}

/// Layouts of several units together.
#[derive(Default)]
struct PatchedLayouts {
    before: Option<LayoutSet>,
    after: Option<LayoutSet>,
    /// Which unit shows a struct.
    units: Vec<(String, String)>,
}

impl PatchedLayouts {
    /// Adds the layouts of another unit that aren't known yet.
    fn add(&mut self, other: Self) {
        let own: BTreeSet<String> = self.units.iter().map(|(name, _)| name.clone()).collect();
        for (known, more) in [(&mut self.before, other.before), (&mut self.after, other.after)] {
            match (known, more) {
                (Some(known), Some(more)) => {
                    known
                        .layouts
                        .extend(more.layouts.into_iter().filter(|layout| !own.contains(&layout.name)));
                }
                (known, more) => *known = more,
            }
        }
        self.units.extend(other.units.into_iter().filter(|(name, _)| !own.contains(name)));
    }
}

/// Files as they are named in the tree, not in folders that are removed.
fn name_files(layout: &mut Layout, build: &PatchBuild) {
    fn name_members(members: &mut [Member], build: &PatchBuild) {
        for member in members {
            if let Some(file) = &mut member.file {
                *file = build.path_in_tree(file).to_owned();
            }
            name_members(&mut member.members, build);
        }
    }
    if let Some(file) = &mut layout.file {
        *file = build.path_in_tree(file).to_owned();
    }
    name_members(&mut layout.members, build);
}
