//! Sizes, holes, alignment.

use super::rule::Rule;
use super::subject::{Finding, Settings, Subject};
use crate::change::{FigureChange, TypeChange};
use crate::field::{Field, fields};
use crate::matching::pairs;
use fieldline_layout::{Item, Layout};

pub(super) fn judge(subject: &Subject<'_>, settings: &Settings) -> Vec<Finding> {
    let mut found = over_budget(subject);
    if let (Some(before), Some(change)) = (subject.before, &subject.change) {
        found.extend(grown(subject, change, settings));
        found.extend(gaps(subject, before, change, settings));
        found.extend(alignments(subject, before));
    }
    found
}

fn over_budget(subject: &Subject<'_>) -> Vec<Finding> {
    let (size, lines) = (subject.now.size, subject.now.cachelines(subject.line));
    let rows = [
        (size, subject.budget.size, "bytes".to_owned()),
        (lines, subject.budget.cachelines, format!("cachelines of {} B", subject.line)),
    ];
    let over = rows.into_iter().filter_map(|(is, may, what)| Some((is, may.filter(|may| is > *may)?, what)));
    let text = |is, may, what| format!("{is} {what}, {may} are allowed");
    over.map(|(is, may, what)| subject.finding(Rule::OverBudget, text(is, may, what))).collect()
}

/// By how much a figure grew beyond what is allowed.
fn grew(step: FigureChange, allowed: u64) -> bool {
    step.after > step.before.saturating_add(allowed)
}

fn step(of: FigureChange, what: &str) -> String {
    format!("{} -> {} {what}", of.before, of.after)
}

fn grown(subject: &Subject<'_>, change: &TypeChange, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    if grew(change.size, settings.allowed(Rule::SizeGrew)) {
        found.push(subject.finding(Rule::SizeGrew, step(change.size, "bytes")));
    }
    let allowed = settings.allowed(Rule::CachelinesGrew);
    for lines in change.cachelines.iter().filter(|lines| grew(lines.count, allowed)) {
        let message = step(lines.count, &format!("cachelines of {} B", lines.line));
        found.push(subject.finding(Rule::CachelinesGrew, message));
    }
    if grew(change.slab, 0) {
        let message = format!("kmalloc takes {}", step(change.slab, "bytes for it"));
        found.push(subject.finding(Rule::SlabClass, message));
    }
    found
}

fn gaps(subject: &Subject<'_>, before: &Layout, change: &TypeChange, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    let bits = |rule| settings.allowed(rule).saturating_mul(8);
    if grew(change.hole_bits, bits(Rule::NewHole)) {
        let places = new_holes(before, subject.now).join(", ");
        let message = format!("{}: {places}", step(change.hole_bits, "bits in holes"));
        found.push(subject.finding(Rule::NewHole, message));
    }
    if grew(change.padding_bits, bits(Rule::NewPadding)) {
        found.push(subject.finding(Rule::NewPadding, step(change.padding_bits, "bits of padding")));
    }
    found
}

/// Holes by the member they follow, and their bits.
fn holes(layout: &Layout) -> Vec<(&str, u64)> {
    let (mut after, mut holes) = ("the start", Vec::new());
    for item in &layout.items {
        match item {
            Item::Members { first, count, .. } => {
                let last = layout.members.get((first + count).saturating_sub(1));
                after = last.map_or(after, fieldline_layout::Member::label);
            }
            Item::Hole(gap) | Item::BitHole(gap) => holes.push((after, gap.bit_size)),
            _ => {}
        }
    }
    holes
}

fn new_holes(before: &Layout, now: &Layout) -> Vec<String> {
    let old = holes(before);
    let is_new = |(after, bits): &(&str, u64)| !old.iter().any(|(place, had)| place == after && had >= bits);
    let new = holes(now).into_iter().filter(is_new);
    new.map(|(after, bits)| match bits % 8 {
        0 => format!("{} bytes behind {after}", bits / 8),
        _ => format!("{bits} bits behind {after}"),
    })
    .collect()
}

fn alignments(subject: &Subject<'_>, before: &Layout) -> Vec<Finding> {
    let mut found = Vec::new();
    if subject.now.align < before.align {
        let (is, was) = (subject.now.align, before.align);
        let message = format!("the struct is aligned to {is} bytes, was to {was}");
        found.push(subject.finding(Rule::AlignmentLost, message));
    }
    let old = fields(before);
    let pairs = pairs(&old, &subject.fields);
    for (field, was) in subject.fields.iter().zip(pairs) {
        let was = was.and_then(|index| old.get(index)).and_then(Field::own_align);
        let is = field.own_align().unwrap_or(1);
        if let Some(was) = was.filter(|was| *was > is) {
            let message =
                format!("{} was written to be aligned to {was} bytes and is not any more", field.path);
            found.push(subject.about(Rule::AlignmentLost, &field.path, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::*;
    use crate::rules::Budget;
    use crate::testing::{layout, longs, member};

    fn rules(subject: &Subject<'_>, settings: &Settings) -> Vec<&'static str> {
        judge(subject, settings).iter().map(|finding| finding.rule.id()).collect()
    }

    #[test]
    fn growth_beyond_what_is_allowed_is_found() {
        let before = longs(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        let now = longs(&["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
        let subject = Subject::new(&now, Some(&before), 64);
        let mut settings = Settings::default();
        assert_eq!(rules(&subject, &settings), ["size-grew", "cachelines-grew", "slab-class"]);
        settings.allowed = [(Rule::SizeGrew, 8), (Rule::CachelinesGrew, 1)].into();
        settings.levels = [(Rule::SlabClass, crate::rules::FindingLevel::Off)].into();
        assert!(rules(&subject, &settings).is_empty());
    }

    #[test]
    fn new_holes_and_padding_are_found_with_their_place() {
        let before = longs(&["a", "b"]);
        let now =
            layout(24, vec![member(Some("a"), 0, 4), member(Some("b"), 8, 8), member(Some("c"), 16, 4)]);
        let found = judge(&Subject::new(&now, Some(&before), 64), &Settings::default());
        let texts: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(texts[2], "0 -> 32 bits in holes: 4 bytes behind a");
        assert_eq!(texts[3], "0 -> 32 bits of padding");
    }

    #[test]
    fn lost_alignments_are_found() {
        let mut before = longs(&["a", "b"]);
        before.align = 64;
        before.members[1].explicit_align = Some(8);
        let now = longs(&["a", "b"]);
        let found = judge(&Subject::new(&now, Some(&before), 64), &Settings::default());
        assert_eq!(found.iter().map(|of| of.member.as_deref()).collect::<Vec<_>>(), [None, Some("b")]);
        assert!(found.iter().all(|finding| finding.rule == Rule::AlignmentLost));
    }

    #[test]
    fn a_budget_holds_without_an_earlier_layout() {
        let now = longs(&["a", "b", "c"]);
        let mut subject = Subject::new(&now, None, 16);
        subject.budget = Budget { size: Some(16), cachelines: Some(2) };
        assert_eq!(rules(&subject, &Settings::default()), ["over-budget"]);
    }
}
