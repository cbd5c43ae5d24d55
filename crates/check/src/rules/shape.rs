//! Sizes, holes, alignment.

use super::rule::Rule;
use super::subject::{CheckedStruct, Finding, Settings};
use crate::change::{FigureChange, TypeChange};
use crate::field::{Field, fields};
use crate::matching::match_fields;
use fieldline_layout::{Layout, LayoutItem};

pub(super) fn check(subject: &CheckedStruct<'_>, settings: &Settings) -> Vec<Finding> {
    let mut found = check_budget(subject);
    if let (Some(before), Some(change)) = (subject.before, &subject.change) {
        found.extend(check_growth(subject, change, settings));
        found.extend(check_gaps(subject, before, change, settings));
        found.extend(check_alignments(subject, before));
    }
    found
}

fn check_budget(subject: &CheckedStruct<'_>) -> Vec<Finding> {
    let (size, lines) = (subject.now.size, subject.now.cachelines(subject.line));
    let rows = [
        (size, subject.budget.size, "bytes".to_owned()),
        (lines, subject.budget.cachelines, format!("cachelines of {} B", subject.line)),
    ];
    let exceeded =
        rows.into_iter().filter_map(|(is, may, what)| Some((is, may.filter(|may| is > *may)?, what)));
    let text = |is, may, what| format!("{is} {what}, {may} are allowed");
    exceeded.map(|(is, may, what)| subject.struct_finding(Rule::OverBudget, text(is, may, what))).collect()
}

/// Whether a figure grew beyond the allowance.
fn has_grown(step: FigureChange, allowed: u64) -> bool {
    step.after > step.before.saturating_add(allowed)
}

fn describe_change(figure: FigureChange, what: &str) -> String {
    format!("{} -> {} {what}", figure.before, figure.after)
}

fn check_growth(subject: &CheckedStruct<'_>, change: &TypeChange, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    if has_grown(change.size, settings.allowed(Rule::SizeGrew)) {
        found.push(subject.struct_finding(Rule::SizeGrew, describe_change(change.size, "bytes")));
    }
    let allowed = settings.allowed(Rule::CachelinesGrew);
    for lines in change.cachelines.iter().filter(|lines| has_grown(lines.count, allowed)) {
        let message = describe_change(lines.count, &format!("cachelines of {} B", lines.line));
        found.push(subject.struct_finding(Rule::CachelinesGrew, message));
    }
    if has_grown(change.slab, 0) {
        let message = format!("kmalloc takes {}", describe_change(change.slab, "bytes for it"));
        found.push(subject.struct_finding(Rule::SlabClass, message));
    }
    found
}

fn check_gaps(
    subject: &CheckedStruct<'_>,
    before: &Layout,
    change: &TypeChange,
    settings: &Settings,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let bits = |rule| settings.allowed(rule).saturating_mul(8);
    if has_grown(change.hole_bits, bits(Rule::NewHole)) {
        let places = new_holes(before, subject.now).join(", ");
        let message = format!("{}: {places}", describe_change(change.hole_bits, "bits in holes"));
        found.push(subject.struct_finding(Rule::NewHole, message));
    }
    if has_grown(change.padding_bits, bits(Rule::NewPadding)) {
        let message = describe_change(change.padding_bits, "bits of padding");
        found.push(subject.struct_finding(Rule::NewPadding, message));
    }
    found
}

/// Holes by the member they follow, and their bits.
fn holes(layout: &Layout) -> Vec<(&str, u64)> {
    let (mut after, mut holes) = ("the start", Vec::new());
    for item in &layout.items {
        match item {
            LayoutItem::Members { first, count, .. } => {
                let last = layout.members.get((first + count).saturating_sub(1));
                after = last.map_or(after, fieldline_layout::Member::label);
            }
            LayoutItem::Hole(gap) | LayoutItem::BitHole(gap) => holes.push((after, gap.bit_size)),
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

fn check_alignments(subject: &CheckedStruct<'_>, before: &Layout) -> Vec<Finding> {
    let mut found = Vec::new();
    if subject.now.align < before.align {
        let message =
            format!("the struct is aligned to {} bytes, was to {}", subject.now.align, before.align);
        found.push(subject.struct_finding(Rule::AlignmentLost, message));
    }
    let old = fields(before);
    let pairs = match_fields(&old, &subject.fields);
    for (field, was) in subject.fields.iter().zip(pairs) {
        let was = was.and_then(|index| old.get(index)).and_then(Field::own_align);
        let is = field.own_align().unwrap_or(1);
        if let Some(was) = was.filter(|was| *was > is) {
            let text = format!("{} was written to be aligned to {was} bytes and is not any more", field.path);
            found.push(subject.member_finding(Rule::AlignmentLost, &field.path, text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::check_struct;
    use super::*;
    use crate::rules::SizeBudget;
    use crate::testing::{layout, longs, member};

    fn rules(subject: &CheckedStruct<'_>, settings: &Settings) -> Vec<&'static str> {
        check_struct(subject, settings).iter().map(|finding| finding.rule.id()).collect()
    }

    #[test]
    fn growth_beyond_what_is_allowed_is_found() {
        let before = longs(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        let now = longs(&["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
        let subject = CheckedStruct::new(&now, Some(&before), 64);
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
        let found = check_struct(&CheckedStruct::new(&now, Some(&before), 64), &Settings::default());
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
        let found = check_struct(&CheckedStruct::new(&now, Some(&before), 64), &Settings::default());
        assert_eq!(
            found.iter().map(|finding| finding.member.as_deref()).collect::<Vec<_>>(),
            [None, Some("b")]
        );
        assert!(found.iter().all(|finding| finding.rule == Rule::AlignmentLost));
    }

    #[test]
    fn a_budget_holds_without_an_earlier_layout() {
        let now = longs(&["a", "b", "c"]);
        let mut subject = CheckedStruct::new(&now, None, 16);
        subject.budget = SizeBudget { size: Some(16), cachelines: Some(2) };
        assert_eq!(rules(&subject, &Settings::default()), ["over-budget"]);
    }
}
