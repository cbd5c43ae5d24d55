//! Groups between `__cacheline_group_begin` and `_end`: which, under what names, and how aligned.

use super::configurations;
use crate::header::{self, Declaration, Header};
use crate::idiom::options::{AlignGroups, GroupName, IdiomOptions};
use crate::idiom::wording::{group_comment, group_word, meant_groups};
use anyhow::{Result, bail};
use fieldline_plan::result::{Group, GroupAlignment, GroupKind, Padding};
use fieldline_plan::{Plan, StructPlan};
use fieldline_source::startup::GroupAssertion;
use fieldline_source::{Edit, Edits, GroupToMark, SourceRefusal};

/// A struct's edits, its groups marked.
#[derive(Default)]
pub struct MarkedGroups {
    /// The order, with its groups marked.
    pub edits: Edits,
    /// Notes, a sentence each.
    pub notes: Vec<String>,
    /// Assertions about the groups.
    pub assertions: Vec<GroupAssertion>,
    /// Names of groups that are marked, by index into the plan's.
    pub groups: Vec<(usize, String)>,
    /// Whether macros are used that align on some machines only.
    pub needs_macros: bool,
}

struct NamedGroup<'g> {
    /// Its index in the plan.
    index: usize,
    group: &'g Group,
    name: String,
    comment: String,
    align: MarkerAlignment,
}

/// How its markers align it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkerAlignment {
    Never,
    Always,
    /// Where a cacheline has so many bytes.
    Where(u64),
}

impl MarkerAlignment {
    fn markers(self, name: &str) -> (String, String) {
        let marker = |edge: &str| match self {
            Self::Never => format!("__cacheline_group_{edge}({name});"),
            Self::Always => format!("__cacheline_group_{edge}_aligned({name});"),
            Self::Where(bytes) => format!("__cacheline_group_{edge}_aligned_cond({name}, {bytes});"),
        };
        (marker("begin"), marker("end"))
    }
}

/// Checks what the user says of groups against the plan.
pub(super) fn check_args(args: &IdiomOptions, plan: &Plan) -> Result<()> {
    let line = plan.build_line;
    if let AlignGroups::Where(bytes) = args.align_groups
        && bytes != line
    {
        bail!("--align-groups cond:{bytes}: the plan says what alignment costs for lines of {line} B only");
    }
    let words: Vec<String> =
        plan.structs.iter().flat_map(meant_groups).map(|(_, group)| group_word(group, &[])).collect();
    if let Some(GroupName { from, .. }) = args.group_names.iter().find(|name| !words.contains(&name.from)) {
        let known = if words.is_empty() {
            "none is marked".to_owned()
        } else {
            format!("there are {}", words.join(", "))
        };
        bail!("--group-name {from}: the plan has no such group; {known}");
    }
    Ok(())
}

/// Puts markers around the groups of a struct in its new order.
pub(super) fn mark_groups(
    args: &IdiomOptions,
    line: u64,
    moved: &Header,
    declaration: &Declaration,
    plan: &StructPlan,
) -> Result<(Edits, MarkedGroups), SourceRefusal> {
    let mut outcome = MarkedGroups::default();
    let mut named = name_groups(args, line, plan, &mut outcome.notes);
    if args.align_groups == AlignGroups::Plan {
        let guards = header::read_guards(moved, declaration)?;
        drop_costly_alignments(plan, &guards, line, &mut named, &mut outcome.notes);
    }
    let markings: Vec<_> = named.iter().filter_map(|named| group_to_mark(plan, named)).collect();
    if markings.is_empty() {
        return Ok((Edits::default(), outcome));
    }
    let marked = header::with_join(moved, declaration, |join| join.mark(&markings))?;
    for (named, result) in named.iter().zip(marked.groups) {
        match result {
            Ok(members) => {
                outcome.groups.push((named.index, named.name.clone()));
                outcome.needs_macros |= matches!(named.align, MarkerAlignment::Where(_));
                let (group, comment) = (named.name.clone(), named.comment.clone());
                outcome.assertions.push(GroupAssertion { group, comment, members });
            }
            Err(reason) => outcome.notes.push(format!("{} is not marked: {reason}.", named.name)),
        }
    }
    let is_marked = |named: &&NamedGroup<'_>| outcome.groups.iter().any(|(index, _)| *index == named.index);
    let done: Vec<&NamedGroup<'_>> = named.iter().filter(is_marked).collect();
    outcome.notes.extend(describe_aligned(&done, MarkerAlignment::Always));
    outcome.notes.extend(describe_aligned(&done, MarkerAlignment::Where(line)));
    outcome.assertions.retain(|assertion| !assertion.members.is_empty());
    let mut edits = marked.edits;
    if !outcome.groups.is_empty() {
        include_markers(&mut edits, moved, &mut outcome.notes);
    }
    Ok((edits, outcome))
}

/// Includes the header that defines markers where a file knows nothing of it. That one includes none of the
/// kernel's own beside the machine's, so that no circle comes of it.
fn include_markers(edits: &mut Edits, moved: &Header, notes: &mut Vec<String>) {
    const LINE: &str = "#include <linux/cache.h>";
    const START: &[u8] = b"#include <linux/";
    let text = &moved.text;
    let has = |part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
    if has("cacheline_") || has(LINE) {
        return;
    }
    let mut at = 0;
    let mut place = None;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(START) {
            place = Some(if line < LINE.as_bytes() { at + line.len() } else { at });
            if line > LINE.as_bytes() {
                break;
            }
        }
        at += line.len();
    }
    let edit = |at: usize| Edit { range: at..at, replacement: format!("{LINE}\n").into_bytes() };
    // Markers stand in the struct's body, where no include does.
    if place.is_none_or(|at| edits.insert(edit(at)).is_err()) {
        notes.push("The file includes no <linux/cache.h>, which defines the markers.".to_owned());
    }
}

/// Takes alignments that cost bytes in a configuration without some members, least visited groups first.
fn drop_costly_alignments(
    plan: &StructPlan,
    guards: &[Vec<String>],
    line: u64,
    named: &mut [NamedGroup<'_>],
    notes: &mut Vec<String>,
) {
    let mut order = Vec::from_iter(0..named.len());
    order.retain(|at| named[*at].align != MarkerAlignment::Never);
    order.sort_by(|left, right| named[*right].group.visits.total_cmp(&named[*left].group.visits));
    let mut taken: Vec<&Group> = Vec::new();
    for at in order {
        taken.push(named[at].group);
        if let Some((case, bytes)) = configurations::find_cost(plan, guards, line, &taken) {
            taken.pop();
            named[at].align = MarkerAlignment::Never;
            let reason = format!("{case} the struct would grow by {bytes} B");
            notes.push(format!("{} is not aligned to the cacheline: {reason}.", named[at].name));
        }
    }
}

fn group_to_mark(plan: &StructPlan, named: &NamedGroup<'_>) -> Option<GroupToMark> {
    let place = |index: &usize| plan.chosen.members.iter().position(|placed| placed.index == *index);
    let (first, last) = (named.group.members.first()?, named.group.members.last()?);
    let (begin, end) = named.align.markers(&named.name);
    let (name, comment) = (named.name.clone(), named.comment.clone());
    Some(GroupToMark { name, members: place(first)?..place(last)? + 1, comment, begin, end })
}

fn name_groups<'g>(
    args: &IdiomOptions,
    line: u64,
    plan: &'g StructPlan,
    notes: &mut Vec<String>,
) -> Vec<NamedGroup<'g>> {
    let groups = meant_groups(plan);
    let access = |group: &Group| if group.kind == GroupKind::HotReadMostly { "read" } else { "write" };
    let stem =
        |group: &Group| format!("{}_{}_{}", plan.name, access(group), group_word(group, &args.group_names));
    let stems: Vec<String> = groups.iter().map(|(_, group)| stem(group)).collect();
    let always = find_always_aligned(plan, args.align_groups);
    let named = groups.iter().zip(&stems).enumerate().map(|(at, ((index, group), stem))| {
        let count_same = |stems: &[String]| stems.iter().filter(|other| *other == stem).count();
        let number = count_same(stems.get(..=at).unwrap_or_default());
        let name = if count_same(&stems) > 1 { format!("{stem}{number}") } else { stem.clone() };
        let is_always = always == Some(*index);
        let (align, note) = choose_alignment(args.align_groups, line, plan, group, is_always);
        notes.extend(note.map(|reason| format!("{name} is not aligned to the cacheline: {reason}.")));
        NamedGroup { index: *index, group, name, comment: group_comment(group, &args.group_names), align }
    });
    named.collect()
}

/// The one group of a struct that is aligned on all machines: the most visited of those that it costs nothing
/// for any line size. What several cost together the plan doesn't say.
fn find_always_aligned(plan: &StructPlan, asked: AlignGroups) -> Option<usize> {
    let is_free = |group: &&(usize, &Group)| {
        group.1.alignment == GroupAlignment::Aligned && group.1.padding.iter().all(|row| row.aligned == 0)
    };
    let free = meant_groups(plan).into_iter().filter(|group| is_free(&group));
    let best = free.max_by(|left, right| left.1.visits.total_cmp(&right.1.visits));
    best.map(|(index, _)| index).filter(|_| asked == AlignGroups::Plan)
}

/// How a group is aligned, or why it isn't though an option asks for it.
fn choose_alignment(
    asked: AlignGroups,
    line: u64,
    plan: &StructPlan,
    group: &Group,
    is_always: bool,
) -> (MarkerAlignment, Option<String>) {
    let never = (MarkerAlignment::Never, None);
    let wanted = match asked {
        AlignGroups::None => return never,
        _ if group.alignment == GroupAlignment::None && asked == AlignGroups::Plan => return never,
        AlignGroups::Plan if is_always => MarkerAlignment::Always,
        AlignGroups::Plan => MarkerAlignment::Where(line),
        AlignGroups::Where(bytes) => MarkerAlignment::Where(bytes),
    };
    match alignment_refusal(line.max(1), plan, group) {
        Some(reason) => (MarkerAlignment::Never, Some(reason)),
        None => (wanted, None),
    }
}

/// Why aligning a group would move a member from where the plan has it, or cost bytes.
fn alignment_refusal(line: u64, plan: &StructPlan, group: &Group) -> Option<String> {
    let costs = |row: &&Padding| row.conditional > 0;
    let last = group.members.last();
    let last = plan.chosen.members.iter().position(|placed| Some(&placed.index) == last);
    let next = last.and_then(|last| plan.chosen.members.get(last + 1));
    let end = next.map_or(plan.chosen.size, |next| next.offset);
    if group.first_offset == 0 {
        Some("it begins the struct, whose own alignment says where that is".to_owned())
    } else if !group.first_offset.is_multiple_of(line) || !end.is_multiple_of(line) {
        Some(format!("it doesn't fill lines of {line} B, so that other members would move"))
    } else {
        let row = group.padding.iter().find(costs)?;
        Some(format!("the struct would grow by {} B for lines of {} B", row.conditional, row.line))
    }
}

/// A sentence on the groups of one alignment.
fn describe_aligned(all: &[&NamedGroup<'_>], align: MarkerAlignment) -> Option<String> {
    let aligned = all.iter().filter(|group| group.align == align);
    let names: Vec<&str> = aligned.map(|group| group.name.as_str()).collect();
    let verb = match names.len() {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    let how = match align {
        MarkerAlignment::Never => return None,
        MarkerAlignment::Always => {
            "to the cacheline, which costs no byte in this configuration for lines of 32 to 256 B".to_owned()
        }
        MarkerAlignment::Where(bytes) => format!(
            "to the cacheline on machines where that has {bytes} B, where it moves no member in the build that was recorded; \
             machines with other lines pay nothing"
        ),
    };
    Some(format!("{} {verb} aligned {how}.", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn included(text: &str) -> (String, usize) {
        let (mut edits, mut notes) = (Edits::default(), Vec::new());
        let header = Header { path: "s.h".to_owned(), text: text.as_bytes().to_vec() };
        include_markers(&mut edits, &header, &mut notes);
        (String::from_utf8(edits.apply(text.as_bytes())).unwrap(), notes.len())
    }

    #[test]
    fn the_header_of_markers_is_included_in_order_and_once() {
        let text = "#include <asm/a.h>\n#include <linux/atomic.h>\n#include <linux/types.h>\nstruct s;\n";
        let new = text.replace("<linux/types.h>", "<linux/cache.h>\n#include <linux/types.h>");
        assert_eq!(included(text), (new.clone(), 0));
        assert_eq!(included(&new), (new.clone(), 0));
        let last = "#include <linux/bug.h>\nstruct s;\n";
        assert_eq!(included(last).0, "#include <linux/bug.h>\n#include <linux/cache.h>\nstruct s;\n");
        assert_eq!(included("struct s { int a ____cacheline_aligned; };\n").1, 0);
        assert_eq!(included("struct s;\n"), ("struct s;\n".to_owned(), 1));
    }
}
