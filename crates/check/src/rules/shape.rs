//! Sizes, holes, alignment.

use super::moves::{Mover, changed_members, grown_members};
use super::rule::Rule;
use super::subject::{CheckedStruct, Finding, Settings, join_names};
use crate::change::{FigureChange, TypeChange, hole_bits, padding_bits};
use crate::field::{Field, fields};
use crate::matching::match_fields;
use fieldline_layout::{Layout, LayoutItem, Member, slab_class};

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
    let (budget, now, line) = (subject.budget, subject.now, subject.line);
    let rows = [(now.size, budget.size, "bytes"), (now.cachelines(line), budget.cachelines, "cachelines")];
    let exceeded =
        rows.into_iter().filter_map(|(is, may, what)| Some((is, may.filter(|may| is > *may)?, what)));
    let is_within = |layout: &Layout| {
        budget.size.is_none_or(|may| layout.size <= may)
            && budget.cachelines.is_none_or(|may| layout.cachelines(line) <= may)
    };
    let found = exceeded.map(|(is, may, what)| {
        let found = subject.struct_finding(Rule::OverBudget, format!("{is} {what}, {may} are allowed"));
        found.with_fix(find_fix(subject, is_within))
    });
    found.collect()
}

/// A move of a changed member after which the layout is as it should be.
fn find_fix(subject: &CheckedStruct<'_>, is_right: impl Fn(&Layout) -> bool) -> Option<String> {
    let changed = changed_members(subject);
    Mover::new(subject)?.find(&changed, |moved| is_right(&moved.layout))
}

/// Whether a figure grew beyond the allowance.
fn has_grown(step: FigureChange, allowed: u64) -> bool {
    step.after > step.before.saturating_add(allowed)
}

fn describe_change(figure: FigureChange, what: &str) -> String {
    format!("{} -> {} {what}", figure.before, figure.after)
}

/// Bits in bytes where both figures are whole ones, so that a sentence has one unit.
fn describe_bits(figure: FigureChange, what: &str) -> String {
    match (figure.before % 8, figure.after % 8) {
        (0, 0) => {
            let bytes = FigureChange { before: figure.before / 8, after: figure.after / 8 };
            describe_change(bytes, &format!("bytes {what}"))
        }
        _ => describe_change(figure, &format!("bits {what}")),
    }
}

/// A finding that a struct grew, at the first member that made it grow.
fn growth_finding(subject: &CheckedStruct<'_>, change: &TypeChange, rule: Rule, message: String) -> Finding {
    let grown = grown_members(subject, change);
    let cause = grown.first().and_then(|name| subject.find_field(name));
    subject.struct_finding(rule, message).declared_at(subject, cause)
}

fn check_growth(subject: &CheckedStruct<'_>, change: &TypeChange, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut report = |rule, message, is_right: &dyn Fn(&Layout) -> bool| {
        let finding = growth_finding(subject, change, rule, message);
        found.push(finding.with_fix(find_fix(subject, is_right)));
    };
    let allowed = settings.allowed(Rule::SizeGrew);
    if has_grown(change.size, allowed) {
        let grown = grown_members(subject, change);
        let cause = match grown.len() {
            0 => String::new(),
            1 => format!(": {} is new or larger", join_names(&grown)),
            _ => format!(": {} are new or larger", join_names(&grown)),
        };
        let message = describe_change(change.size, "bytes") + &cause;
        let most = change.size.before.saturating_add(allowed);
        report(Rule::SizeGrew, message, &|layout| layout.size <= most);
    }
    let allowed = settings.allowed(Rule::CachelinesGrew);
    for lines in change.cachelines.iter().filter(|lines| has_grown(lines.count, allowed)) {
        let most = lines.count.before.saturating_add(allowed);
        let message = describe_change(lines.count, "cachelines");
        report(Rule::CachelinesGrew, message, &|layout| layout.cachelines(lines.line) <= most);
    }
    if has_grown(change.slab, 0) {
        let message = format!("kmalloc takes {}", describe_change(change.slab, "bytes for it"));
        report(Rule::SlabClass, message, &|layout| slab_class(layout.size) <= change.slab.before);
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
        found.extend(hole_findings(subject, before, change));
    }
    if has_grown(change.padding_bits, bits(Rule::NewPadding)) {
        let message = describe_bits(change.padding_bits, "of padding");
        let most = change.padding_bits.before.saturating_add(bits(Rule::NewPadding));
        let finding = growth_finding(subject, change, Rule::NewPadding, message);
        found.push(finding.with_fix(find_fix(subject, |layout| padding_bits(layout) <= most)));
    }
    found
}

/// A finding for each new hole, at the member in front of it.
fn hole_findings(subject: &CheckedStruct<'_>, before: &Layout, change: &TypeChange) -> Vec<Finding> {
    let is_whole = |bits: u64| bits.is_multiple_of(8);
    let total = describe_bits(change.hole_bits, "in holes");
    let new = new_holes(before, subject.now);
    if new.is_empty() {
        return vec![subject.struct_finding(Rule::NewHole, total)];
    }
    let found = new.into_iter().map(|(after, bits)| {
        // In the unit of the total.
        let in_bytes =
            is_whole(bits) && is_whole(change.hole_bits.before) && is_whole(change.hole_bits.after);
        let size = if in_bytes { format!("{} bytes", bits / 8) } else { format!("{bits} bits") };
        let name = after.map_or("the start", fieldline_layout::Member::label);
        let message = format!("{total}, {size} of them new behind {name}");
        let most = hole_bits(subject.now).saturating_sub(bits);
        let fix = find_fix(subject, |layout| hole_bits(layout) <= most);
        let field =
            after.and_then(|after| subject.fields.iter().find(|field| std::ptr::eq(field.member, after)));
        let finding =
            subject.struct_finding(Rule::NewHole, message).declared_at(subject, field).with_fix(fix);
        Finding { member: field.map(|field| field.path.clone()), ..finding }
    });
    found.collect()
}

/// Holes by the member they follow, and their bits.
fn holes(layout: &Layout) -> Vec<(Option<&Member>, u64)> {
    let (mut after, mut holes) = (None, Vec::new());
    for item in &layout.items {
        match item {
            LayoutItem::Members { first, count, .. } => {
                after = layout.members.get((first + count).saturating_sub(1)).or(after);
            }
            LayoutItem::Hole(gap) | LayoutItem::BitHole(gap) => holes.push((after, gap.bit_size)),
            _ => {}
        }
    }
    holes
}

fn new_holes<'l>(before: &Layout, now: &'l Layout) -> Vec<(Option<&'l Member>, u64)> {
    let label = |member: Option<&Member>| member.map(|member| member.label().to_owned());
    let old: Vec<_> = holes(before).into_iter().map(|(after, bits)| (label(after), bits)).collect();
    let is_new = |(after, bits): &(Option<&Member>, u64)| {
        let after = label(*after);
        !old.iter().any(|(place, had)| *place == after && had >= bits)
    };
    holes(now).into_iter().filter(is_new).collect()
}

fn check_alignments(subject: &CheckedStruct<'_>, before: &Layout) -> Vec<Finding> {
    let mut found = Vec::new();
    if subject.now.align < before.align {
        let message =
            format!("the struct is aligned to {} bytes, was to {}", subject.now.align, before.align);
        let fix = format!("write __aligned({}) at the struct", before.align);
        found.push(subject.struct_finding(Rule::AlignmentLost, message).with_fix(Some(fix)));
    }
    let old = fields(before);
    let pairs = match_fields(&old, &subject.fields);
    for (field, was) in subject.fields.iter().zip(pairs) {
        let was = was.and_then(|index| old.get(index)).and_then(Field::own_align);
        let is = field.own_align().unwrap_or(1);
        if let Some(was) = was.filter(|was| *was > is) {
            let text = format!("{} was written to be aligned to {was} bytes and is not any more", field.path);
            let fix = format!("write __aligned({was}) at {} again", field.path);
            let finding = subject.member_finding(Rule::AlignmentLost, &field.path, text);
            found.push(finding.with_fix(Some(fix)));
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
        assert_eq!(texts[0], "16 -> 24 bytes: c is new or larger");
        assert_eq!(texts[2], "0 -> 4 bytes in holes, 4 bytes of them new behind a");
        assert_eq!(texts[3], "0 -> 4 bytes of padding");
        assert_eq!(found[2].member.as_deref(), Some("a"));
        let fix = Some("move c behind a, into the hole there");
        assert!(found.iter().all(|finding| finding.fix.as_deref() == fix), "{found:?}");
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
