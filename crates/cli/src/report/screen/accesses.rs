//! The first screen of a report: the members with most accesses, the cachelines, and what CPUs take from each other.

use super::bars::{self, LineBars, MoveSign, share};
use super::text::{Rows, columns, count, fold, plural, shorten};
use crate::report::profile::heat::{MemberHeat, TypeHeat};
use crate::report::profile::sharing_text::label;
use crate::report::profile::turns_text::{false_turns, touched_in_turns};
use fieldline_access::access::TypeProfile;
use fieldline_layout::layout::Layout;
use fieldline_plan::cost::false_sharing::find_contended;
use fieldline_plan::result::Arrangement;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Pairs of members named that lie on two lines.
const MAX_PAIRS: usize = 3;
/// From this width on a member's row names functions.
const WITH_FUNCTIONS: usize = 90;

/// A struct's accesses, and the line size to show.
pub(crate) struct ReportedStruct<'r> {
    pub(crate) heat: &'r TypeHeat,
    pub(crate) profile: &'r TypeProfile,
    pub(crate) layout: Option<&'r Layout>,
    pub(crate) line: u64,
    /// The name for CPUs: of some recordings they are threads.
    pub(crate) who: &'r str,
}

impl ReportedStruct<'_> {
    /// Appends the screen, in so many rows at most.
    pub(crate) fn draw(&self, rows: &mut Rows, most: usize) {
        let heat = self.heat;
        let size = format!(": {} bytes", count(heat.size));
        rows.title("struct ", &heat.name, &size, &format!("{} samples", count(heat.samples())));
        if heat.samples() == 0 {
            return rows.blank();
        }
        let functions: Vec<String> = heat
            .functions
            .iter()
            .map(|(name, samples)| format!("{name} {}", share(*samples, heat.samples())))
            .collect();
        let left = rows.width.saturating_sub(6);
        rows.push(&format!("  by: {}", fold(&functions, ", ", left)));
        let mut foot = Rows::new(rows.width, rows.paint());
        self.draw_pairs(&mut foot);
        self.draw_sharing(&mut foot);
        foot.blank();
        let free = most.saturating_sub(rows.len() + foot.len());
        let lines = self.line_bars();
        let for_lines = lines.as_ref().map_or(0, |bars| bars.rows().min(free / 2));
        self.draw_members(rows, free - for_lines);
        if let Some(bars) = &lines {
            bars::draw_one(rows, bars, for_lines);
        }
        rows.append(foot);
    }

    /// The cachelines, if the layout is known.
    fn line_bars(&self) -> Option<LineBars> {
        let layout = self.layout?;
        let order = Arrangement::new(layout, 0..layout.members.len());
        let mark = MoveSign { sign: "", moved: &BTreeSet::new() };
        let title = format!("  accesses by {} B line of an object that begins on one", self.line);
        Some(LineBars::new(title, (self.profile, Some(layout)), (&order, &order), self.line, mark))
    }

    fn draw_members(&self, rows: &mut Rows, most: usize) {
        let mut ranked: Vec<&MemberHeat> = self.heat.members.iter().collect();
        ranked.sort_by_key(|member| (Reverse(member.samples()), member.offset));
        let shown = if ranked.len() < most { ranked.len() } else { most.saturating_sub(2) };
        let names: Vec<String> =
            ranked.iter().take(shown).map(|member| shorten(&member.label, rows.width / 4)).collect();
        let width = names.iter().map(|name| columns(name)).max().unwrap_or(0).max(8);
        let has_latency = ranked.iter().any(|member| member.latency > 0);
        let who = self.who;
        let by = if rows.width >= WITH_FUNCTIONS { "  functions" } else { "" };
        let cycles = if has_latency { format!(" {:>6}", "cycles") } else { String::new() };
        rows.head(&format!(
            "  {:>6}  {:<width$} {:>6} {:>7} {:>7}{cycles} {who:>7} write{by}",
            "offset", "member", "share", "loads", "stores"
        ));
        for (name, member) in names.iter().zip(&ranked) {
            let MemberHeat { offset, loads, stores, cpus, writers, functions, .. } = member;
            let part = share(member.samples(), self.heat.samples());
            let gap = " ".repeat(width.saturating_sub(columns(name)));
            let cycles = if has_latency { format!(" {:>6}", member.mean_latency()) } else { String::new() };
            let (cpus, writers) = (cpus.len(), writers.len());
            let head = format!(
                "  {offset:>6}  {name}{gap} {part:>6} {loads:>7} {stores:>7}{cycles} {cpus:>7} {writers:>5}"
            );
            let left = rows.width.saturating_sub(columns(&head) + 2);
            let functions: Vec<&str> = functions.iter().map(|(name, _)| name.as_str()).collect();
            let by = if rows.width >= WITH_FUNCTIONS { fold(&functions, ", ", left) } else { String::new() };
            rows.push(&format!("{head}  {by}"));
        }
        if let Some(next) = ranked.get(shown) {
            let next = share(next.samples(), self.heat.samples());
            let left = plural(ranked.len() - shown, "member");
            rows.push(&format!("  and {left} more, none above {next}"));
        }
    }

    /// Members that the same functions touch, but on two lines.
    fn draw_pairs(&self, rows: &mut Rows) {
        let line = self.line.max(1);
        let members = &self.heat.members;
        let split = self.heat.pairs.iter().filter_map(|pair| {
            let (left, right) = (members.get(pair.left)?, members.get(pair.right)?);
            (left.offset / line != right.offset / line).then_some((left, right, pair.together))
        });
        let named: Vec<String> = split
            .take(MAX_PAIRS)
            .map(|(left, right, together)| format!("{} + {} ({together})", left.label, right.label))
            .collect();
        if !named.is_empty() {
            let label = format!("  together, on two {line} B lines: ");
            let left = rows.width.saturating_sub(columns(&label));
            rows.push(&format!("{label}{}", fold(&named, ", ", left)));
        }
    }

    /// Members that lose their line to writes of others.
    fn draw_sharing(&self, rows: &mut Rows) {
        let (profile, line) = (self.profile, self.line);
        if profile.shows_lost_lines() {
            let mut found = find_contended(profile, line);
            found.retain(|place| place.is_false());
            found.sort_by(|left, right| right.false_losses.total_cmp(&left.false_losses));
            let named: Vec<String> = found
                .iter()
                .map(|place| {
                    let writers = place
                        .writers
                        .first()
                        .map_or("unknown".to_owned(), |writer| self.label(writer.offset));
                    let (lost, all) = (place.false_losses.round() as u64, place.lost);
                    format!(
                        "{}, lost to writes of {writers} ({lost} of {all} losses)",
                        self.label(place.offset)
                    )
                })
                .collect();
            if !named.is_empty() {
                rows.paragraph("  false sharing: ", &fold(&named, "; ", rows.width * 2 - 40), 2);
            }
        } else if let Some(turns) = false_turns(profile, line) {
            let touched = touched_in_turns(turns);
            let named: Vec<String> = touched.iter().map(|member| self.label(member.offset)).collect();
            let text = format!(
                "{} {} use different members of a line in turns, {} times: {}",
                turns.cpus,
                self.who,
                turns.false_turns,
                fold(&named, ", ", rows.width)
            );
            rows.paragraph("  false sharing: ", &text, 2);
        }
    }

    fn label(&self, offset: u64) -> String {
        label(self.layout, offset)
    }
}
