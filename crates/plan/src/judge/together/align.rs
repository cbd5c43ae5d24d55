//! Alignments of parts within their holder.
//!
//! An order is judged for objects that begin on a line. A part begins where the one before it ends: in the middle of
//! one of the longest lines judged, perhaps. If its holder has room, its declaration can align it to those, and the part
//! touches what it does in an allocation of its own.

use super::judge::pooled_lines;
use super::parts::unit_order;
use super::side::{HeldPart, SideBySide};
use crate::cost::VisitModel;
use crate::judge::confidence::FOLDS;
use crate::judge::forecast::{LEAST_GAIN, OrderEvaluation};
use crate::judge::planner::Planner;
use crate::options::{PlanOptions, PlanRequest};
use crate::progress::{Steps, StructSteps};
use crate::result::{
    AlignedLines, AlignedPart, Arrangement, Forecast, HolderDeclaration, Interval, Plan, StructPlan,
    Together, slab_class,
};
use fieldline_access::AccessProfile;
use fieldline_layout::abi::{ChangedMembers, infer_abi};
use fieldline_layout::constraint::constraints;
use fieldline_layout::{Layout, Member};
use std::collections::BTreeMap;

/// Objects begin at places modulo so many bytes.
const PHASES: u64 = 256;

/// A holder whose parts may be aligned.
pub(super) struct HolderToAlign<'a> {
    pub(super) plan: &'a Plan,
    pub(super) profile: &'a AccessProfile,
    pub(super) requests: &'a [PlanRequest<'a>],
    pub(super) side: &'a SideBySide,
    pub(super) options: &'a PlanOptions,
}

/// A part at two offsets in its holder.
struct MovedPart {
    before: OrderEvaluation,
    after: OrderEvaluation,
    forecasts: Vec<Forecast>,
    /// The change of lines of the longest size in the visits of each fold.
    folds: Vec<f64>,
}

impl HolderToAlign<'_> {
    /// Aligns parts that gain by it, and states that.
    pub(super) fn align(&self, found: &mut Together) {
        let changes = self.plan.structs.iter().any(StructPlan::changes);
        let line = self.longest_line();
        if found.unjudged.is_some() || !changes || line > PHASES {
            return;
        }
        let mut aligned: Vec<(usize, u64)> = Vec::new();
        for part in &self.side.parts {
            let placed = self.placed(&aligned);
            if offset(&placed, part.member).is_multiple_of(line) {
                continue;
            }
            let with_it = [aligned.as_slice(), &[(part.member, line)]].concat();
            let Some(lines) = self.gain(part, &aligned, &with_it) else { continue };
            let member = self.side.holder.members.get(part.member).map_or("", Member::label).to_owned();
            if let Some(reason) = self.refusal() {
                found.unaligned.get_or_insert_with(|| {
                    format!(
                        "{member} would touch fewer lines of {line} B if it were aligned to them: {reason}"
                    )
                });
                continue;
            }
            let padding = self.placed(&with_it).size.saturating_sub(placed.size);
            found.aligned.push(AlignedPart { member, to: line, padding, lines });
            aligned = with_it;
        }
        if aligned.is_empty() {
            return;
        }
        let (declared, chosen) = (&self.side.holder, self.placed(&aligned));
        let all = 0..declared.members.len();
        found.declaration = Some(HolderDeclaration {
            fingerprint: declared.fingerprint(),
            file: declared.file.clone(),
            line: declared.line,
            declared: Arrangement::new(declared, all.clone()),
            chosen: Arrangement::new(&chosen, all),
        });
        self.recount(found, &aligned);
    }

    /// Lines that visits to the holder touch, with the alignments.
    fn recount(&self, found: &mut Together, aligned: &[(usize, u64)]) {
        let holder = ChangedMembers { sizes: &[], aligned }.layout(&self.side.holder);
        let side = SideBySide { holder, ..self.side.clone() };
        let orders = self.side.parts.iter().filter_map(|part| self.plan.structs.get(part.request));
        let orders: Vec<Vec<usize>> = orders.map(StructPlan::order).collect();
        let sides = (self.side, &side);
        let lines = pooled_lines(self.profile, self.requests, sides, self.options, &orders);
        for (row, after) in found.lines.iter_mut().zip(lines.into_iter().flatten()) {
            row.lines.after = after;
        }
    }

    fn longest_line(&self) -> u64 {
        let lines = self.options.lines.iter().copied();
        lines.chain([self.options.build_line]).max().unwrap_or(self.options.build_line)
    }

    /// Why the holder's declaration can't have an alignment.
    fn refusal(&self) -> Option<String> {
        let holder = &self.side.holder;
        if self.plan.find_struct(&holder.name).is_some() {
            return Some(format!("the order of struct {} is planned, too", holder.name));
        }
        if infer_abi(holder).cap == 1 {
            return Some(format!("struct {} is packed", holder.name));
        }
        if holder.align < self.options.build_line {
            // What allocates it may take what any allocation is aligned to for enough.
            return Some(format!("struct {} isn't aligned to a cacheline now", holder.name));
        }
        self.side.unalignable.clone()
    }

    /// The holder with the planned sizes of its parts and alignments of its members.
    fn placed(&self, aligned: &[(usize, u64)]) -> Layout {
        let sizes = self.side.planned_sizes(self.plan);
        ChangedMembers { sizes: &sizes, aligned }.layout(&self.side.holder)
    }

    /// Lines per visit of a part by an alignment that pays: it touches fewer lines of the longest size, no part touches
    /// more of any, and the holder is no larger than declared.
    fn gain(
        &self,
        part: &HeldPart,
        without: &[(usize, u64)],
        with: &[(usize, u64)],
    ) -> Option<Vec<AlignedLines>> {
        let (old, new) = (self.placed(without), self.placed(with));
        let declared = self.side.holder.size;
        let is_larger = new.size > declared || slab_class(new.size) > slab_class(declared);
        if is_larger || self.grows_elsewhere(with) {
            return None;
        }
        let mut gain = None;
        for other in &self.side.parts {
            let places = [&old, &new].map(|layout| offset(layout, other.member) % PHASES);
            if places[0] == places[1] {
                continue;
            }
            let moved = self.moved_part(other, places)?;
            if !moved.after.is_no_worse_than(&moved.before) {
                return None;
            }
            if other.member == part.member {
                gain = self.lines_of_gain(&moved);
            }
        }
        gain
    }

    /// Whether the holder is larger than declared with alignments, compiled for another line size.
    fn grows_elsewhere(&self, aligned: &[(usize, u64)]) -> bool {
        let (holder, build_line) = (&self.side.holder, self.options.build_line);
        let others = self.options.lines.iter().filter(|line| **line != build_line);
        others.copied().any(|line| {
            let sizes = |is_planned: bool| {
                let size = |part: &HeldPart| {
                    let sizes = &self.plan.structs.get(part.request)?.sizes;
                    let own = sizes.iter().find(|size| size.build.is_none() && size.build_line == line)?;
                    Some((part.member, if is_planned { own.after } else { own.before }))
                };
                self.side.parts.iter().filter_map(size).collect::<Vec<(usize, u64)>>()
            };
            let (declared, planned) = (sizes(false), sizes(true));
            let before = ChangedMembers { sizes: &declared, aligned: &[] };
            let after = ChangedMembers { sizes: &planned, aligned };
            let [before, after] = [before, after].map(|all| all.size_for_line(holder, build_line, line));
            after > before || slab_class(after) > slab_class(before)
        })
    }

    /// The planned order of a part where it begins at two places, modulo [`PHASES`].
    fn moved_part(&self, part: &HeldPart, places: [u64; 2]) -> Option<MovedPart> {
        let request = self.requests.get(part.request)?;
        let order = self.plan.structs.get(part.request)?.order();
        let limits = constraints(request.layout, request.requests).ok()?;
        let model = VisitModel::new(self.profile, request.layout, &limits, self.options.build_line);
        let models = places.map(|place| model.clone().with_phases(BTreeMap::from([(place, 1)])));
        let options = PlanOptions { other_builds: Vec::new(), ..self.options.clone() };
        let steps = Steps::new(0, &|_| {});
        let own = StructSteps::new(&steps, 0);
        let planners =
            models.each_ref().map(|model| Planner::new(request.layout, &limits, model, &options, &own));
        let order = unit_order(&limits, &order)?;
        let [before, after] = planners.each_ref().map(|planner| planner.evaluate(&order));
        let forecasts = planners.first()?.forecasts(&before, &after);
        let folds = match options.resamples {
            0 => Vec::new(),
            _ => self.fold_changes(&planners, &order),
        };
        Some(MovedPart { before, after, forecasts, folds })
    }

    fn fold_changes(&self, planners: &[Planner<'_>; 2], order: &[usize]) -> Vec<f64> {
        let longest = self.longest_line();
        let [before, after] = planners.each_ref().map(|planner| {
            let folds = planner.fold_lines(self.profile, order).into_iter().flatten();
            let lines = folds.filter_map(|(lines, _)| lines.into_iter().find(|(line, _)| *line == longest));
            lines.map(|(_, lines)| lines).collect::<Vec<f64>>()
        });
        let changes = before.iter().zip(&after).map(|(before, after)| after / before - 1.0);
        changes.filter(|change| change.is_finite()).collect()
    }

    /// The lines per visit of a part that touches significantly fewer of the longest size; in cross-validation too, if
    /// that is asked for.
    fn lines_of_gain(&self, moved: &MovedPart) -> Option<Vec<AlignedLines>> {
        let (longest, build_line) = (self.longest_line(), self.options.build_line);
        let recorded = |row: &&Forecast| row.build.is_none() && row.build_line == build_line;
        let own = moved.forecasts.iter().filter(recorded).find(|row| row.line == longest)?.together;
        // A part without visits touches no lines in either place.
        let is_gain = own.before > 0.0 && own.after <= own.before * (1.0 - LEAST_GAIN);
        let is_sure = match Interval::half_width(&moved.folds) {
            Some(half) => moved.folds.iter().sum::<f64>() / (moved.folds.len() as f64) + half < 0.0,
            None => self.options.resamples == 0 || self.profile.blocks.len() < FOLDS,
        };
        let rows = moved.forecasts.iter().map(|row| {
            let Forecast { line, build_line, .. } = *row;
            AlignedLines { line, build_line, lines: row.together }
        });
        (is_gain && is_sure).then(|| rows.collect())
    }
}

fn offset(layout: &Layout, member: usize) -> u64 {
    layout.members.get(member).map_or(0, Member::offset)
}
