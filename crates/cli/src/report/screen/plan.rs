//! The first screen of a plan: what would move, what that buys, and what to look at before taking it.

use super::bars::{self, LineBars, MoveSign};
use super::text::{Rows, count, fold, plural};
use super::{Screen, benefit, movers, next};
use crate::report::color::Palette;
use crate::report::parts::PlanPart;
use crate::report::plan::{plan_text, together_text};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_plan::result::{Basis, BuildJudged, Mark};
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::collections::BTreeSet;

/// Rows of the reason why nothing moves.
const REASON_ROWS: usize = 4;
/// Rows of what to look at.
const LOOK_ROWS: usize = 3;
/// From so many free rows on, blank ones set the parts apart.
const ROOMY: usize = 14;

/// A plan and what its screen says besides.
#[derive(Clone, Copy)]
pub(crate) struct PlanScreen<'p> {
    pub(crate) plan: &'p Plan,
    /// The profile it rests on, if any.
    pub(crate) profile: Option<&'p AccessProfile>,
    /// The words of the command to type next, if there is one.
    pub(crate) next: &'p [String],
    /// Parts that follow in full.
    pub(crate) parts: &'p [PlanPart],
}

impl PlanScreen<'_> {
    /// Appends the screens of all structs between what stands before and behind them, and then the parts.
    pub(crate) fn draw(&self, out: &mut String, screen: Screen, head: Rows, mut foot: Rows) {
        if !self.next.is_empty() {
            next::draw(&mut foot, "next: ", self.next);
        }
        if self.parts.is_empty() {
            let names = PlanPart::ALL.map(PlanPart::name).join(",");
            foot.push(&format!("more: -v, or --show {names}"));
        }
        out.push_str(&screen.assemble((head, foot), &self.plan.structs, |rows, struct_plan, most| {
            draw_struct(rows, self.plan, struct_plan, self.profile, most);
        }));
        if !self.parts.is_empty() {
            out.push('\n');
            plan_text::draw(out, self.plan, self.parts, screen.paint);
        }
    }
}

/// Appends the screen of a struct, in so many rows at most.
fn draw_struct(
    rows: &mut Rows,
    plan: &Plan,
    struct_plan: &StructPlan,
    profile: Option<&AccessProfile>,
    most: usize,
) {
    let sampled = profile.and_then(|profile| find_samples(profile, struct_plan));
    draw_title(rows, plan, struct_plan, sampled);
    if let Some(reason) = struct_plan.reason() {
        rows.paragraph("  ", reason, REASON_ROWS);
    }
    let is_known = struct_plan.outcome() != Outcome::Refused && !struct_plan.sizes.is_empty();
    if is_known {
        benefit::draw(rows, struct_plan, sampled);
        draw_basis(rows, plan, struct_plan);
        draw_cohorts(rows, struct_plan);
    }
    let points = look_at(struct_plan);
    let beside = together_text::describe_holders(plan, &struct_plan.name);
    let foot = usize::from(struct_plan.changes()) + look_rows(rows, &points) + look_rows(rows, &beside) + 1;
    draw_members(rows, (plan, struct_plan), sampled, most.saturating_sub(rows.len() + foot));
    draw_proof(rows, struct_plan);
    if !points.is_empty() {
        rows.paragraph("  look at: ", &points.join("; "), LOOK_ROWS);
    }
    if !beside.is_empty() {
        rows.paragraph("  side by side: ", &beside.join("; "), LOOK_ROWS);
    }
    rows.blank();
}

/// The samples a struct was planned by.
fn find_samples<'p>(profile: &'p AccessProfile, plan: &StructPlan) -> Option<&'p TypeProfile> {
    let is_same = |known: &&TypeProfile| known.name == plan.name && known.fingerprint == plan.fingerprint;
    profile.types.iter().find(is_same)
}

fn draw_title(rows: &mut Rows, plan: &Plan, struct_plan: &StructPlan, sampled: Option<&TypeProfile>) {
    let members = struct_plan.declared.members.len();
    let verdict = match struct_plan.outcome() {
        Outcome::Moved => format!(": {} of {} move", struct_plan.moved.len(), plural(members, "member")),
        Outcome::NoGain => ": no gain, nothing moves".to_owned(),
        Outcome::Refused => ": refused, nothing moves".to_owned(),
        Outcome::TooFewSamples => ": too few samples, nothing moves".to_owned(),
    };
    let basis = match plan.basis {
        Basis::Profile => {
            let samples = sampled.map_or(struct_plan.samples, TypeProfile::samples);
            format!("{} samples", count(samples))
        }
        Basis::Layout => "by size alone, without a profile".to_owned(),
    };
    rows.title("struct ", &struct_plan.name, &verdict, &basis);
}

/// The best order beside the chosen one, and which samples the figures are of.
fn draw_basis(rows: &mut Rows, plan: &Plan, struct_plan: &StructPlan) {
    if plan.basis == Basis::Layout || !struct_plan.changes() {
        return;
    }
    let confidence = struct_plan.confidence.as_ref();
    let chosen = benefit::chosen(struct_plan);
    let best = struct_plan.candidates.iter().find(|candidate| candidate.marks.contains(&Mark::Best));
    if let (Some(best), Some(chosen)) = (best, chosen.filter(|chosen| !chosen.marks.contains(&Mark::Best))) {
        let least = chosen.kept.iter().map(|kept| kept.lines).reduce(f64::min);
        let kept = confidence.and_then(|confidence| confidence.kept_gain).or(least);
        let kept = kept.map(|kept| format!("; this one keeps {:.0} % of its gain", 100.0 * kept));
        let moved = plural(best.moved, "member");
        rows.push(&format!("  best order found: {moved} move{}", kept.unwrap_or_default()));
    }
    match confidence.map(|confidence| &confidence.missing) {
        Some(Some(missing)) => rows.push(&format!("  no intervals: {missing}")),
        Some(None) => rows.push("  lines/visit are cross-validated: judged on samples not planned on"),
        None => rows.push("  in-sample figures; --confidence 20 adds cross-validation with intervals"),
    }
}

/// Lines that visits of cohorts touch, a row each.
fn draw_cohorts(rows: &mut Rows, struct_plan: &StructPlan) {
    for found in &struct_plan.cohorts {
        let own = found.forecasts.iter().filter(|forecast| forecast.build.is_none());
        let lines: Vec<String> = own
            .map(|forecast| {
                let build = match forecast.line == forecast.build_line {
                    true => String::new(),
                    false => format!(" ({} B build)", forecast.build_line),
                };
                let change = forecast.together;
                format!("{} B{build} {:.3} -> {:.3}", forecast.line, change.before, change.after)
            })
            .collect();
        let verdict = match (found.samples < found.needed, found.is_worse) {
            (true, _) => format!(", too few to judge by ({} needed)", count(found.needed)),
            (false, true) => ", WORSE than declared in some figure".to_owned(),
            (false, false) => String::new(),
        };
        let (name, samples) = (&found.cohort, count(found.samples));
        rows.push(&format!("  {name}: lines/visit {}; {samples} samples{verdict}", lines.join(", ")));
    }
}

/// Cachelines now and then, and the members that move, in so many rows at most.
fn draw_members(
    rows: &mut Rows,
    (plan, struct_plan): (&Plan, &StructPlan),
    sampled: Option<&TypeProfile>,
    most: usize,
) {
    let gap = usize::from(most >= ROOMY);
    let sampled = sampled.filter(|sampled| sampled.samples() > 0 && !struct_plan.declared.members.is_empty());
    let lines = sampled.map(|sampled| line_bars(plan, struct_plan, sampled));
    let wanted = movers::rows(struct_plan);
    let free = most.saturating_sub(if struct_plan.changes() { 2 * gap } else { gap });
    let for_lines = lines.as_ref().map_or(0, |(now, then)| match then {
        Some(then) => bars::pair_rows(now, then, rows.width, free * 2 / 3),
        None => now.rows(),
    });
    let for_movers = match wanted {
        0 => 0,
        wanted => wanted.min(free.saturating_sub(for_lines + gap).max(free / 3).max(1)),
    };
    if let Some((now, then)) = &lines {
        let between = if for_movers > 0 { gap } else { 0 };
        let free = free.saturating_sub(for_movers + between);
        (0..gap).for_each(|_| rows.blank());
        match then {
            Some(then) => bars::draw_pair(rows, now, then, free),
            None => bars::draw_one(rows, now, free),
        }
    }
    if for_movers > 0 {
        (0..gap).for_each(|_| rows.blank());
        movers::draw(rows, struct_plan, for_movers);
    }
    if struct_plan.changes() {
        (0..gap).for_each(|_| rows.blank());
    }
}

/// The cachelines as declared, and as chosen if members move.
fn line_bars(plan: &Plan, struct_plan: &StructPlan, sampled: &TypeProfile) -> (LineBars, Option<LineBars>) {
    let line = plan.build_line;
    let moved: BTreeSet<usize> = struct_plan.moved.iter().map(|member| member.index).collect();
    let (declared, chosen) = (&struct_plan.declared, &struct_plan.chosen);
    let bars = |title: &str, order, sign| {
        let mark = MoveSign { sign, moved: &moved };
        LineBars::new(title.to_owned(), (sampled, sampled.layout.as_ref()), (declared, order), line, mark)
    };
    match struct_plan.changes() {
        true => (
            bars(&format!("  now: accesses by {line} B line, - leaves"), declared, "-"),
            Some(bars("  then, + arrives", chosen, "+")),
        ),
        false => (bars(&format!("  accesses by {line} B line"), declared, ""), None),
    }
}

/// The proof that nothing depends on the order.
fn draw_proof(rows: &mut Rows, plan: &StructPlan) {
    if plan.changes() {
        let none = "none: with --tree, uses of the struct in the source are read".to_owned();
        rows.push(&format!("  proof: {}", plan.proof_sentence().unwrap_or(none)));
    }
}

/// Rows that a list of what to look at takes.
fn look_rows(rows: &Rows, points: &[String]) -> usize {
    if points.is_empty() {
        return 0;
    }
    let mut drawn = Rows::new(rows.width, Palette::new(false));
    drawn.paragraph("  look at: ", &points.join("; "), LOOK_ROWS);
    drawn.len()
}

/// Points that a person has to look at, a phrase each.
fn look_at(plan: &StructPlan) -> Vec<String> {
    let mut points = Vec::new();
    if let Some(insistence) = &plan.insistence {
        let uses = plural(insistence.uses.len(), "use");
        points.push(format!("{uses} that depend on the order, allowed ({})", insistence.reason));
    }
    let broken: Vec<&str> = plan.pins.iter().filter(|pin| !pin.chosen).map(|pin| pin.pin.as_str()).collect();
    if !broken.is_empty() {
        points.push(format!("{} not kept: {}", plural(broken.len(), "pin"), fold(&broken, ", ", 60)));
    }
    points.extend(plan.grows.first().map(|first| and_more(first, plan.grows.len())));
    if let Some(first) = plan.comments.first() {
        let place = format!("{}:{}", first.file, first.line);
        points.push(format!(
            "{} beside members that move ({})",
            plural(plan.comments.len(), "comment"),
            and_more(&place, plan.comments.len())
        ));
    }
    if let Some(chosen) = benefit::chosen(plan) {
        if chosen.split_blocks > 0 {
            points.push(format!("{} split", plural(chosen.split_blocks, "preprocessor block")));
        }
        if chosen.parted > 0 {
            let pairs = plural(chosen.parted, "pair");
            points.push(format!("{pairs} of neighbours parted that belong together"));
        }
    }
    let resized: Vec<String> = plan
        .embedded_in
        .iter()
        .filter(|held| held.before != held.after)
        .map(|held| {
            let all = held.after_all.map(|after| format!(" ({after} with all)")).unwrap_or_default();
            format!("{} {} -> {} bytes{all}", held.name, held.before, held.after)
        })
        .collect();
    if !resized.is_empty() {
        points.push(format!("structs that hold it: {}", fold(&resized, ", ", 70)));
    }
    let worse = plan.forecasts.iter().filter(|forecast| {
        forecast.build.is_some() && forecast.together.after > forecast.together.before + 0.000_5
    });
    if plan.changes() && worse.clone().count() > 0 {
        points.push(format!("{} of other builds get worse", plural(worse.count(), "figure")));
    }
    points.extend(plan.notes.iter().filter(|note| note.starts_with("could shrink")).cloned());
    let unjudged = plan.builds.iter().filter(|note| note.judged == BuildJudged::No).count();
    if unjudged > 0 {
        points.push(format!("{} not evaluated", plural(unjudged, "build")));
    }
    points
}

fn and_more(first: &str, all: usize) -> String {
    if all > 1 { format!("{first} and {} more", all - 1) } else { first.to_owned() }
}
