//! Inputs of a plan: definitions of structs, constraints on their orders, and options.

use crate::output;
use anyhow::{Context, Result};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::layout::Layout;
use fieldline_plan::judge::together::judge_together;
use fieldline_plan::{Plan, PlanOptions, PlanRequest, StructPlan};
use fieldline_tree::builds::{self, BuildMachine, OtherBuild};
use fieldline_tree::limits::{self, SourceInput, SourceLimits};
use fieldline_tree::pins::PinFile;
use fieldline_tree::{embedding, variants};
use std::path::Path;

#[derive(Clone, Copy)]
pub(crate) struct PlanInputs<'q> {
    pub(crate) types: &'q [String],
    pub(crate) program: &'q Path,
    pub(crate) source: SourceInput<'q>,
    pub(crate) pins: Option<&'q PinFile>,
    /// The profile to plan by; without one, orders are planned by size alone.
    pub(crate) profile: Option<&'q AccessProfile>,
}

/// Structs with constraints on their orders.
pub(crate) struct LimitedStructs {
    layouts: Vec<Layout>,
    limits: Vec<SourceLimits>,
    unreadable: UnreadableStructs,
}

/// Plans of structs that can't be read, with their places among those asked for.
type UnreadableStructs = Vec<(usize, StructPlan)>;

impl LimitedStructs {
    /// The structs as they are declared; those that can't be read are not among them.
    pub(crate) fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    pub(crate) fn requests(&self) -> Vec<PlanRequest<'_>> {
        let pairs = self.layouts.iter().zip(&self.limits);
        pairs.map(|(layout, limits)| PlanRequest { layout, requests: &limits.requests }).collect()
    }

    /// Judges planned structs in those that hold several of them side by side.
    pub(crate) fn judge_together(
        &self,
        plan: &mut Plan,
        profile: &AccessProfile,
        (program, tree): (&Path, Option<&Path>),
        options: &PlanOptions,
    ) -> Result<()> {
        let sides = embedding::find_side_by_side(&self.layouts, program, tree)?;
        judge_together(plan, profile, &self.requests(), &sides, options);
        Ok(())
    }

    /// Adds constraints, variants and embedding structs, from the tree and debug info, to a plan.
    pub(crate) fn annotate(self, plan: &mut Plan, inputs: &PlanInputs<'_>) -> Result<()> {
        limits::apply_limits(plan, self.limits);
        if let Some(tree) = inputs.source.tree {
            variants::note_growth(plan, &self.layouts, tree)?;
        }
        embedding::fill_embeddings(plan, inputs.program)?;
        fieldline_tree::add_shrink_notes(plan, inputs.program)?;
        for (index, refused) in self.unreadable {
            plan.structs.insert(index.min(plan.structs.len()), refused);
        }
        Ok(())
    }
}

impl PlanInputs<'_> {
    /// The structs with constraints of the source and of pins. Facts read before the profile was there are
    /// reused.
    pub(crate) fn limit_structs(&self, tree_facts: Option<&TreeFacts>) -> Result<LimitedStructs> {
        let (layouts, unreadable, others) = self.layouts(tree_facts)?;
        let line = BuildMachine::from_file(self.program)?.line;
        let known_limits = tree_facts.and_then(|facts| facts.limits(&layouts));
        let mut limits = known_limits.map_or_else(|| limits::read_limits(&self.source, &layouts), Ok)?;
        for (limits, (layout, others)) in limits.iter_mut().zip(layouts.iter().zip(&others)) {
            limits.refusal = limits.refusal.take().or_else(|| find_disagreement(layout, others));
        }
        if let Some(pins) = self.pins {
            for (limits, layout) in limits.iter_mut().zip(&layouts) {
                pins.add_to(&mut limits.requests, layout, line)?;
            }
        }
        Ok(LimitedStructs { layouts, limits, unreadable })
    }

    /// The structs' layouts, refusals of those that can't be read, and all definitions of each name.
    /// Fails if none can.
    fn layouts(
        &self,
        tree_facts: Option<&TreeFacts>,
    ) -> Result<(Vec<Layout>, UnreadableStructs, Vec<Vec<Layout>>)> {
        let planned: Vec<&str> = self.types.iter().map(|name| types::strip_keyword(name)).collect();
        let usable = tree_facts.filter(|_| self.pins.is_none());
        if let Some((facts, layouts)) =
            usable.and_then(|facts| Some((facts, facts.layouts(&planned, self.profile)?)))
        {
            note_choices(layouts.iter().zip(facts.definitions.iter().map(Vec::len)));
            return Ok((layouts, UnreadableStructs::new(), facts.definitions.clone()));
        }
        types::with_types(self.program, None, None, |types| {
            let exists = |name: &str| Ok(!types.find(name)?.is_empty());
            self.pins.iter().try_for_each(|pins| pins.check_structs(&planned, exists))?;
            let (layouts, unreadable) =
                split_readable(&planned, |name| find_layout(types, self.profile, name))?;
            let all = layouts.iter().map(|layout| types.layouts(&layout.name)).collect::<Result<Vec<_>>>()?;
            note_choices(layouts.iter().zip(all.iter().map(Vec::len)));
            Ok((layouts, unreadable, all))
        })
    }

    /// Adds the program's machine and other builds to options of the planner.
    pub(crate) fn add_builds(&self, options: PlanOptions, also: &[OtherBuild]) -> Result<PlanOptions> {
        let other_builds = builds::read_builds(also, self.types)?;
        let BuildMachine { line: build_line, pointer, .. } = BuildMachine::from_file(self.program)?;
        Ok(PlanOptions { build_line, pointer, other_builds, ..options })
    }
}

/// Facts about structs that need no profile: their definitions, and the constraints that the tree puts on the
/// first of each.
///
/// They are read while recordings are attributed: the two take little longer than the longer of them. Only
/// the profile shows which definition of a name is meant; if it is another one, its facts are read again.
pub(crate) struct TreeFacts {
    /// For each struct, all definitions of its name, those of most units first.
    definitions: Vec<Vec<Layout>>,
    /// Constraints of the tree on the first definitions.
    limits: Vec<SourceLimits>,
}

impl TreeFacts {
    /// Reads the facts; `None` if anything fails, since reading them again later reports the error.
    pub(crate) fn new(types: &[String], program: &Path, source: &SourceInput<'_>) -> Option<Self> {
        let definitions = types::with_types(program, None, None, |found| {
            types.iter().map(|name| found.layouts(types::strip_keyword(name))).collect::<Result<Vec<_>>>()
        });
        let definitions = definitions.ok()?;
        let firsts = definitions.iter().map(|all| all.first().cloned()).collect::<Option<Vec<Layout>>>()?;
        let limits = limits::read_limits(source, &firsts).ok()?;
        Some(Self { definitions, limits })
    }

    /// The layouts that a profile was made with, as [`find_layout`] finds them; `None` if one is not among
    /// the facts.
    fn layouts(&self, names: &[&str], profile: Option<&AccessProfile>) -> Option<Vec<Layout>> {
        let layout = |(name, all): (&&str, &Vec<Layout>)| {
            let found = match profile.and_then(|profile| find_type_profile(profile, name)) {
                Some(type_profile) if type_profile.name == *name => {
                    all.iter().find(|layout| layout.fingerprint() == type_profile.fingerprint)
                }
                Some(_) => None,
                None => all.first(),
            };
            found.cloned()
        };
        names.iter().zip(&self.definitions).map(layout).collect()
    }

    /// Constraints of the tree on layouts, if these are the first definitions.
    fn limits(&self, layouts: &[Layout]) -> Option<Vec<SourceLimits>> {
        let firsts = self.definitions.iter().filter_map(|all| all.first());
        firsts.eq(layouts).then(|| self.limits.clone())
    }
}

/// The refusal of a struct that another unit of the program compiles with other members, from the same line: objects
/// that both know have those in common in front. Units that give the same members other places share no objects.
fn find_disagreement(layout: &Layout, definitions: &[Layout]) -> Option<String> {
    let place = layout.file.as_ref().zip(layout.line)?;
    let names = |layout: &Layout| -> Vec<Option<String>> {
        layout.members.iter().map(|member| member.name.clone()).collect()
    };
    let is_same = |other: &&Layout| {
        other.name == layout.name
            && other.file.as_ref().zip(other.line) == Some(place)
            && names(other) != names(layout)
    };
    let other = definitions.iter().find(is_same)?;
    let (count, other_count) = (layout.members.len(), other.members.len());
    Some(format!(
        "units of the program compile it differently: with {count} members in {} bytes, and with {other_count} in {}",
        layout.size, other.size
    ))
}

/// Which definition is meant, if a program has several of a struct.
pub(crate) fn describe_choice(layout: &Layout, definitions: usize) -> Option<String> {
    let (name, size) = (&layout.name, layout.size);
    let place = layout.file.as_ref().zip(layout.line);
    let place = place.map(|(file, line)| format!(" of {file}:{line}")).unwrap_or_default();
    let text =
        || format!("struct {name} has {definitions} definitions; the one{place} with {size} bytes is taken");
    (definitions > 1).then(text)
}

/// Notes which definitions are meant, with how many there are of each struct.
fn note_choices<'l>(choices: impl Iterator<Item = (&'l Layout, usize)>) {
    choices
        .filter_map(|(layout, count)| describe_choice(layout, count))
        .for_each(|note| output::print_note(&note));
}

/// The layouts of structs, and a refusal for each that can't be read.
/// Fails with the first error if none can.
fn split_readable(
    names: &[&str],
    read: impl Fn(&str) -> Result<Layout>,
) -> Result<(Vec<Layout>, UnreadableStructs)> {
    let (mut layouts, mut unreadable, mut first) = (Vec::new(), UnreadableStructs::new(), None);
    for (index, name) in names.iter().enumerate() {
        match read(name) {
            Ok(layout) => layouts.push(layout),
            Err(error) => {
                unreadable.push((index, StructPlan::refused(name, format!("{error:#}"))));
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if layouts.is_empty() && !error.is::<types::TemplateName>() => Err(error),
        _ => Ok((layouts, unreadable)),
    }
}

/// The layout the profile was made with; without samples, the one most units share.
pub(crate) fn find_layout(
    types: &Types<'_, '_>,
    profile: Option<&AccessProfile>,
    name: &str,
) -> Result<Layout> {
    match profile.and_then(|profile| find_type_profile(profile, name)) {
        // Named as in the profile: with its namespaces.
        Some(type_profile) => Ok(Layout {
            name: type_profile.name.clone(),
            ..types.layout_with_fingerprint(&type_profile.name, type_profile.fingerprint)?
        }),
        None => types.layouts(name)?.into_iter().next().with_context(|| format!("{name} is no struct")),
    }
}

/// Structs by samples, most first.
pub(crate) fn rank_by_samples(profile: &AccessProfile) -> Vec<&TypeProfile> {
    let mut all: Vec<&TypeProfile> = profile.types.iter().collect();
    all.sort_by_key(|type_profile| std::cmp::Reverse(type_profile.samples()));
    all
}

/// A struct's entry in a profile: the one with most samples of those of that name.
fn find_type_profile<'p>(profile: &'p AccessProfile, name: &str) -> Option<&'p TypeProfile> {
    let named = profile.types.iter().filter(|type_profile| type_profile.name == name);
    named.max_by_key(|type_profile| type_profile.samples()).or_else(|| profile.find_type(name))
}
