//! Under which line sizes, builds and phases orders are judged, and with which weight.

use crate::cost::elsewhere::{BuildMismatch, Joined};
use crate::cost::{BuildSlots, Elsewhere, Model, View};
use crate::options::PlanOptions;
use crate::result::{BuildJudged, BuildNote};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;
use std::collections::BTreeMap;

/// Weight of the recorded machine's line size; the others together weigh half as much.
const WEIGHT: u64 = 2_000;
/// Weight of all views on pairs of adjacent lines: a fifth of a line. A pair lost to another CPU costs a fifth of a lost
/// line, as not every fetch brings both; a pair touched weighs no more, for the second line of a pair is often but not
/// always there.
const PAIR_WEIGHT: u64 = WEIGHT / 5;
/// Phases with fewer of the objects are left out.
const RARE_PHASE: u64 = 20;

/// All under which the orders of one struct are judged.
pub(crate) struct Matrix {
    /// The recorded machine's build first, then those of other line sizes, then those of other files.
    pub(crate) builds: Vec<BuildSlots>,
    pub(crate) views: Vec<View>,
    /// By build, the file's name unless it is the recorded one.
    pub(crate) names: Vec<Option<String>>,
    pub(crate) notes: Vec<BuildNote>,
}

impl Matrix {
    pub(crate) fn new(
        layout: &Layout,
        constraints: &Constraints,
        model: &Model,
        options: &PlanOptions,
    ) -> Self {
        let builds = BuildSlots::of_lines(layout, constraints, options.build_line, &options.lines);
        let mut matrix = Self {
            views: views(&builds, &model.phases, options),
            names: vec![None; builds.len()],
            builds,
            notes: Vec::new(),
        };
        for elsewhere in &options.elsewhere {
            let note = matrix.judge(layout, constraints, model, options, elsewhere);
            matrix.notes.push(note);
        }
        matrix.look_elsewhere(layout, model, options);
        matrix
    }

    /// Adds a file's build of the struct, unless it can't be judged or is like one there already is.
    fn judge(
        &mut self,
        layout: &Layout,
        constraints: &Constraints,
        model: &Model,
        options: &PlanOptions,
        elsewhere: &Elsewhere,
    ) -> BuildNote {
        let other = elsewhere.layouts.iter().find(|other| other.name == layout.name);
        let mut note = BuildNote {
            build: elsewhere.name.clone(),
            line: elsewhere.line,
            size: other.map(|other| other.size),
            judged: BuildJudged::No,
            reason: None,
            absent: Vec::new(),
            extra: Vec::new(),
        };
        let other = other.ok_or_else(|| BuildMismatch::Missing(layout.name.clone()));
        let joined = other.and_then(|other| Joined::new(layout, options.build_line, other, elsewhere.line));
        let joined = match joined {
            Ok(joined) => joined,
            Err(mismatch) => return BuildNote { reason: Some(mismatch.to_string()), ..note },
        };
        (note.absent, note.extra) = (joined.absent(), joined.extra());
        let build = joined.build(constraints, &model.cells, elsewhere.line);
        if let Some(index) = self.builds.iter().position(|known| build.is_like(known, &model.cells)) {
            let known = self.names[index].clone();
            note.reason = Some(known.unwrap_or_else(|| format!("the recorded one for {} B", elsewhere.line)));
            return BuildNote { judged: BuildJudged::Alike, ..note };
        }
        self.names.push(Some(elsewhere.name.clone()));
        self.builds.push(build);
        BuildNote { judged: BuildJudged::Yes, ..note }
    }

    /// Views on the builds of other files, each at its own line size. All of them together weigh as much as the
    /// recorded build does at another line size than its own. Objects begin where recorded ones do if line size and
    /// size of the struct are the same; elsewhere they are taken to begin on a line.
    fn look_elsewhere(&mut self, layout: &Layout, model: &Model, options: &PlanOptions) {
        let first = self.names.iter().take_while(|name| name.is_none()).count();
        let weight = WEIGHT / 2 / (self.builds.len() - first).max(1) as u64;
        for (index, build) in self.builds.iter().enumerate().skip(first) {
            let is_placed_alike = build.line == options.build_line && build.size_limit == layout.size;
            let phases = if is_placed_alike { &model.phases } else { &BTreeMap::new() };
            let views = phased(phases, build.line, weight).into_iter();
            self.views.extend(views.map(|(phase, weight)| View::new(index, build.line, phase, weight)));
        }
    }

    pub(crate) fn with_pointers(&self, options: &PlanOptions) -> Vec<(&BuildSlots, u64)> {
        let pointer = |name: &Option<String>| {
            let named = options.elsewhere.iter().find(|elsewhere| Some(&elsewhere.name) == name.as_ref());
            named.map_or(options.pointer, |elsewhere| elsewhere.pointer)
        };
        self.builds.iter().zip(self.names.iter().map(pointer)).collect()
    }
}

/// Lines of the recorded machine's layout at every size, and of every other build at its own size.
fn views(builds: &[BuildSlots], phases: &BTreeMap<u64, u64>, options: &PlanOptions) -> Vec<View> {
    let mut views = Vec::new();
    // The first view is the one whose lines CPUs take from each other: that of the recorded machine.
    let (own, others): (Vec<u64>, Vec<u64>) =
        options.lines.iter().partition(|line| **line == options.build_line);
    for line in own.iter().chain(&others) {
        let own = *line == options.build_line;
        let other = builds.iter().position(|build| build.line == *line && !own);
        let weight = match (own, other) {
            (true, _) => WEIGHT,
            (false, None) => WEIGHT / 2,
            (false, Some(_)) => WEIGHT / 4,
        };
        let phased = phased(phases, *line, weight).into_iter();
        views.extend(phased.map(|(phase, weight)| View::new(0, *line, phase, weight)));
        views.extend(other.map(|build| View::new(build, *line, 0, weight)));
    }
    if options.adjacent_lines {
        let line = options.build_line;
        let phased = phased(phases, line.saturating_mul(2), PAIR_WEIGHT).into_iter();
        views.extend(phased.map(|(phase, weight)| View::on_pairs(0, line, phase, weight)));
    }
    views
}

/// Where objects begin within a line of `line` bytes, and the weight of those; on a line if nothing is known.
fn phased(phases: &BTreeMap<u64, u64>, line: u64, weight: u64) -> Vec<(u64, u64)> {
    let mut within: BTreeMap<u64, u64> = BTreeMap::new();
    for (phase, objects) in phases {
        *within.entry(phase % line.max(1)).or_default() += objects;
    }
    let all: u64 = within.values().sum();
    within.retain(|_, objects| *objects * RARE_PHASE >= all && *objects > 0);
    let kept: u64 = within.values().sum();
    if kept == 0 {
        return vec![(0, weight)];
    }
    let share = |objects: u64| objects as f64 / kept as f64;
    within.into_iter().map(|(phase, objects)| (phase, (weight as f64 * share(objects)) as u64)).collect()
}
