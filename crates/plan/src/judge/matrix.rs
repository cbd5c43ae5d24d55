//! The configurations (line sizes, builds, phases) in which orders are judged, and their weights.

use crate::cost::other_build::{BuildMismatch, MatchedStruct};
use crate::cost::{AlternateBuild, BuildPlacement, LineConfig, VisitModel};
use crate::options::PlanOptions;
use crate::result::{BuildJudged, BuildNote};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;
use std::collections::BTreeMap;

/// Weight of the recorded machine's line size; the others together weigh half as much.
const WEIGHT: u64 = 2_000;
/// Weight of all configurations on pairs of adjacent lines: a fifth of a line. A pair lost to another CPU
/// costs a fifth of a lost line, as not every fetch brings both; a pair touched weighs no more, for the
/// second line of a pair is often but not always there.
const PAIR_WEIGHT: u64 = WEIGHT / 5;
/// Phases with fewer of the objects are left out.
const RARE_PHASE: u64 = 20;

/// Objects by where they begin, in bytes.
type Phases = BTreeMap<u64, u64>;

/// The configurations in which the orders of one struct are judged.
pub(crate) struct ConfigurationMatrix {
    /// The recorded machine's build first, then those of other line sizes, then those of other files.
    pub(crate) builds: Vec<BuildPlacement>,
    pub(crate) configs: Vec<LineConfig>,
    /// By build, the file's name unless it is the recorded one.
    pub(crate) build_names: Vec<Option<String>>,
    pub(crate) notes: Vec<BuildNote>,
    /// The recorded build without the members of one condition each: an order may take no more bytes in them.
    smaller: Vec<BuildPlacement>,
}

impl ConfigurationMatrix {
    pub(crate) fn new(
        layout: &Layout,
        constraints: &Constraints,
        model: &VisitModel,
        options: &PlanOptions,
    ) -> Self {
        let builds = BuildPlacement::for_lines(layout, constraints, options.build_line, &options.lines);
        let mut matrix = Self {
            configs: line_configs(&builds, &model.phases, options),
            build_names: vec![None; builds.len()],
            builds,
            notes: Vec::new(),
            smaller: smaller_builds(layout, constraints, options.build_line),
        };
        for other_build in &options.other_builds {
            let note = matrix.add_build(layout, constraints, model, options, other_build);
            matrix.notes.push(note);
        }
        matrix.add_other_configs(layout, model, options);
        matrix
    }

    /// All builds, in the order that configurations count them, then those of which only the size is judged.
    pub(crate) fn all_builds(&self) -> Vec<BuildPlacement> {
        self.builds.iter().chain(&self.smaller).cloned().collect()
    }

    /// Adds a file's build of the struct, unless it can't be judged or is equivalent to a known one.
    fn add_build(
        &mut self,
        layout: &Layout,
        constraints: &Constraints,
        model: &VisitModel,
        options: &PlanOptions,
        other_build: &AlternateBuild,
    ) -> BuildNote {
        let other = other_build.layouts.iter().find(|other| other.name == layout.name);
        let mut note = BuildNote {
            build: other_build.name.clone(),
            line: other_build.line,
            size: other.map(|other| other.size),
            judged: BuildJudged::No,
            reason: None,
            absent: Vec::new(),
            extra: Vec::new(),
        };
        let other = other.ok_or_else(|| BuildMismatch::Missing(layout.name.clone()));
        let matched =
            other.and_then(|other| MatchedStruct::new(layout, options.build_line, other, other_build.line));
        let matched = match matched {
            Ok(matched) => matched,
            Err(mismatch) => return BuildNote { reason: Some(mismatch.to_string()), ..note },
        };
        (note.absent, note.extra) = (matched.absent(), matched.extra());
        let build = matched.build(constraints, &model.ranges, other_build.line);
        if let Some(index) = self.builds.iter().position(|known| build.is_equivalent(known, &model.ranges)) {
            let known = self.build_names[index].clone();
            let recorded = || format!("the recorded one for {} B", other_build.line);
            note.reason = Some(known.unwrap_or_else(recorded));
            return BuildNote { judged: BuildJudged::Equivalent, ..note };
        }
        self.build_names.push(Some(other_build.name.clone()));
        self.builds.push(build);
        BuildNote { judged: BuildJudged::Yes, ..note }
    }

    /// Views on the builds of other files, each at its own line size. All of them together weigh as much as
    /// the recorded build does at another line size than its own. Objects begin where recorded ones do if
    /// line size and size of the struct are the same; otherwise they are taken to begin on a line.
    fn add_other_configs(&mut self, layout: &Layout, model: &VisitModel, options: &PlanOptions) {
        let first = self.build_names.iter().take_while(|name| name.is_none()).count();
        let weight = WEIGHT / 2 / (self.builds.len() - first).max(1) as u64;
        for (index, build) in self.builds.iter().enumerate().skip(first) {
            let has_equal_placement = build.line == options.build_line && build.size_limit == layout.size;
            let phases = if has_equal_placement { &model.phases } else { &Phases::new() };
            let weights = weights_by_phase(phases, build.line, weight).into_iter();
            let config = |(phase, weight)| LineConfig::new(index, build.line, phase, weight);
            self.configs.extend(weights.map(config));
        }
    }

    pub(crate) fn builds_with_pointer_sizes(&self, options: &PlanOptions) -> Vec<(&BuildPlacement, u64)> {
        let pointer = |name: &Option<String>| {
            let named = options.other_builds.iter().find(|build| Some(&build.name) == name.as_ref());
            named.map_or(options.pointer, |build| build.pointer)
        };
        self.builds.iter().zip(self.build_names.iter().map(pointer)).collect()
    }
}

fn smaller_builds(layout: &Layout, constraints: &Constraints, line: u64) -> Vec<BuildPlacement> {
    let without = |absent: &Vec<usize>| BuildPlacement::without(layout, constraints, absent, line);
    constraints.configurations.iter().map(|configuration| without(&configuration.absent)).collect()
}

/// Lines of the recorded machine's layout at every size, and of every other build at its own size.
fn line_configs(builds: &[BuildPlacement], phases: &Phases, options: &PlanOptions) -> Vec<LineConfig> {
    let mut configs = Vec::new();
    // The first configuration is the one whose lines CPUs take from each other: that of the recorded machine.
    let (own, others): (Vec<_>, Vec<_>) = options.lines.iter().partition(|line| **line == options.build_line);
    for line in own.iter().chain(&others) {
        let own = *line == options.build_line;
        let other = builds.iter().position(|build| build.line == *line && !own);
        let weight = match (own, other) {
            (true, _) => WEIGHT,
            (false, None) => WEIGHT / 2,
            (false, Some(_)) => WEIGHT / 4,
        };
        let weights = weights_by_phase(phases, *line, weight).into_iter();
        configs.extend(weights.map(|(phase, weight)| LineConfig::new(0, *line, phase, weight)));
        configs.extend(other.map(|build| LineConfig::new(build, *line, 0, weight)));
    }
    if options.adjacent_lines {
        let line = options.build_line;
        let weights = weights_by_phase(phases, line.saturating_mul(2), PAIR_WEIGHT).into_iter();
        configs.extend(weights.map(|(phase, weight)| LineConfig::on_pairs(0, line, phase, weight)));
    }
    configs
}

/// Where objects begin within a line of `line` bytes, and the weight of those; on a line if nothing is known.
fn weights_by_phase(phases: &Phases, line: u64, weight: u64) -> Vec<(u64, u64)> {
    let mut within = Phases::new();
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
