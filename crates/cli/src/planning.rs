//! What a plan is made of: which definitions of structs it is about, what limits their orders, and how one is chosen.

use crate::args::ChoiceArgs;
use anyhow::{Context, Result};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::layout::Layout;
use fieldline_plan::{Plan, PlanOptions, Request};
use fieldline_tree::builds::{self, BuildMachine};
use fieldline_tree::limits::{self, Limits};
use fieldline_tree::pins::PinFile;
use fieldline_tree::{embedding, variants};
use std::path::Path;

#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    pub(crate) types: &'q [String],
    pub(crate) program: &'q Path,
    pub(crate) tree: Option<&'q Path>,
    pub(crate) pins: Option<&'q PinFile>,
    /// What the orders rest on; on size alone if there is none.
    pub(crate) profile: Option<&'q AccessProfile>,
}

/// Structs and what limits their orders.
pub(crate) struct Limited {
    layouts: Vec<Layout>,
    limits: Vec<Limits>,
}

impl Limited {
    pub(crate) fn requests(&self) -> Vec<Request<'_>> {
        let pairs = self.layouts.iter().zip(&self.limits);
        pairs.map(|(layout, of)| Request { layout, wishes: &of.wishes }).collect()
    }

    /// Adds to a plan what the tree and debug info say about it.
    pub(crate) fn tell(self, plan: &mut Plan, question: &Question<'_>) -> Result<()> {
        limits::tell(plan, self.limits);
        if let Some(tree) = question.tree {
            variants::tell(plan, &self.layouts, tree)?;
        }
        embedding::fill(plan, question.program)
    }
}

impl Question<'_> {
    /// The structs, limited by the source and by pins. `foresight` is what was read of them before there was a profile.
    pub(crate) fn limited(&self, foresight: Option<&Foresight>) -> Result<Limited> {
        let layouts = self.layouts(foresight)?;
        let line = BuildMachine::of(self.program)?.line;
        let foreseen = foresight.and_then(|foresight| foresight.limits(&layouts));
        let mut limits = foreseen.map_or_else(|| limits::of(self.tree, &layouts), Ok)?;
        if let Some(pins) = self.pins {
            for (limits, layout) in limits.iter_mut().zip(&layouts) {
                pins.add_to(&mut limits.wishes, layout, line)?;
            }
        }
        Ok(Limited { layouts, limits })
    }

    fn layouts(&self, foresight: Option<&Foresight>) -> Result<Vec<Layout>> {
        let planned: Vec<&str> = self.types.iter().map(|name| types::bare(name)).collect();
        let foreseen = foresight.filter(|_| self.pins.is_none());
        if let Some(layouts) = foreseen.and_then(|foresight| foresight.layouts(&planned, self.profile)) {
            return Ok(layouts);
        }
        types::with_types(self.program, None, None, |types| {
            let exists = |name: &str| Ok(!types.find(name)?.is_empty());
            self.pins.iter().try_for_each(|pins| pins.check_structs(&planned, exists))?;
            planned.iter().map(|name| layout_of(types, self.profile, name)).collect()
        })
    }

    /// How orders are judged: here and in other builds. Advice is judged on `resamples` unless the user says otherwise.
    pub(crate) fn options(
        &self,
        lines: &[u64],
        choice: &ChoiceArgs,
        resamples: usize,
    ) -> Result<PlanOptions> {
        let elsewhere = builds::read(&choice.also, self.types)?;
        let machine = BuildMachine::of(self.program)?;
        Ok(PlanOptions {
            lines: lines.to_vec(),
            build_line: machine.line,
            choice: choice.candidate,
            max_moves: choice.max_moves,
            resamples: choice.confidence.map_or(resamples, usize::from),
            adjacent_lines: choice.adjacent_lines,
            elsewhere,
            pointer: machine.pointer,
        })
    }
}

/// What can be read about structs before there is a profile: their definitions and what the tree says about the first of
/// each.
///
/// Reading recordings leaves a processor idle here and there, and reading a tree waits for disks; side by side they take
/// little longer than the longer of the two. Which definition of a name counts is only known from the profile: what was
/// read of another one is read again.
pub(crate) struct Foresight {
    /// By struct asked for, all definitions of its name, those of most units first.
    definitions: Vec<Vec<Layout>>,
    /// What the tree says about the first definitions.
    limits: Vec<Limits>,
}

impl Foresight {
    /// Reads what is there; nothing if anything fails: who needs it then reads it again and tells what is wrong.
    pub(crate) fn new(types: &[String], program: &Path, tree: Option<&Path>) -> Option<Self> {
        let definitions = types::with_types(program, None, None, |found| {
            types.iter().map(|name| found.layouts(types::bare(name))).collect::<Result<Vec<_>>>()
        });
        let definitions = definitions.ok()?;
        let firsts: Vec<Layout> = definitions.iter().filter_map(|all| all.first().cloned()).collect();
        let limits = limits::of(tree, &firsts).ok()?;
        (firsts.len() == definitions.len()).then_some(Self { definitions, limits })
    }

    /// The layouts that a profile was made with, as [`layout_of`] finds them; `None` if any can't be told by what was read.
    fn layouts(&self, names: &[&str], profile: Option<&AccessProfile>) -> Option<Vec<Layout>> {
        let layout = |(name, all): (&&str, &Vec<Layout>)| {
            let found = match profile.and_then(|profile| sampled(profile, name)) {
                Some(of) if of.name == *name => all.iter().find(|one| one.fingerprint() == of.fingerprint),
                Some(_) => None,
                None => all.first(),
            };
            found.cloned()
        };
        names.iter().zip(&self.definitions).map(layout).collect()
    }

    /// What the tree says about layouts, if they are those it was asked about.
    fn limits(&self, layouts: &[Layout]) -> Option<Vec<Limits>> {
        let firsts = self.definitions.iter().filter_map(|all| all.first());
        firsts.eq(layouts).then(|| self.limits.clone())
    }
}

/// The layout the profile was made with; without samples, the one most units share.
pub(crate) fn layout_of(
    types: &Types<'_, '_>,
    profile: Option<&AccessProfile>,
    name: &str,
) -> Result<Layout> {
    match profile.and_then(|profile| sampled(profile, name)) {
        // As the profile calls it: with the namespaces around it.
        Some(of) => Ok(Layout { name: of.name.clone(), ..types.layout_like(&of.name, of.fingerprint)? }),
        None => types.layouts(name)?.into_iter().next().with_context(|| format!("{name} is no struct")),
    }
}

/// Structs by samples, most first.
pub(crate) fn by_samples(profile: &AccessProfile) -> Vec<&TypeProfile> {
    let mut all: Vec<&TypeProfile> = profile.types.iter().collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.samples()));
    all
}

/// What a profile knows of a struct: most samples of those of that name.
fn sampled<'p>(profile: &'p AccessProfile, name: &str) -> Option<&'p TypeProfile> {
    let named = profile.types.iter().filter(|of| of.name == name);
    named.max_by_key(|of| of.samples()).or_else(|| profile.type_named(name))
}
