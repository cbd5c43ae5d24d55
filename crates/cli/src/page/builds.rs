//! Other builds of the source: where each places the members of a struct in all orders.

use super::model::{BuildData, MemberData, PartOfMember, Places, StructData};
use super::orders::{DECLARED, NamedOrder, text};
use crate::report::plan::builds_text::build_label;
use fieldline_layout::{Layout, Member};
use fieldline_plan::StructPlan;
use fieldline_plan::cost::AlternateBuild;
use fieldline_plan::cost::other_build::MatchedStruct;
use fieldline_plan::result::{Arrangement, BuildJudged, BuildNote};
use fieldline_plan::search::moved_units;
use fieldline_tree::prediction::predict_order;

/// How deep members of other sizes are compared.
const MAX_DEPTH: u32 = 16;

/// Other builds: files that were given, and those that a plan speaks of.
pub(super) struct OtherBuilds<'b> {
    pub(super) files: &'b [AlternateBuild],
    pub(super) plan: Option<&'b StructPlan>,
}

impl OtherBuilds<'_> {
    /// Adds them to a struct, with their places of all orders. A build that can't be drawn, or that only the plan speaks
    /// of, is added with the reason.
    pub(super) fn add_to(
        &self,
        data: &mut StructData,
        (layout, build_line): (&Layout, u64),
        orders: &[NamedOrder],
    ) {
        let declared = layout.members.len();
        for build in self.files {
            let found = build.layouts.iter().find(|other| other.name == layout.name);
            let matched = found.ok_or_else(|| format!("it has no {} {}", layout.kind, layout.name));
            let matched = matched.and_then(|other| {
                let matched = MatchedStruct::new(layout, build_line, other, build.line);
                Ok((other, matched.map_err(|mismatch| mismatch.to_string())?))
            });
            let mut says = BuildData { label: self.label(&build.name), ..BuildData::default() };
            match matched {
                Ok((other, matched)) => {
                    let drawing = Drawing { declared: layout, other, matched: &matched, line: build.line };
                    drawing.add_to(data, orders);
                    says.drawn = true;
                    says.absent = matched.absent();
                    says.parts = drawing.parts();
                    says.notes = self.notes(build, (other, matched.extra()));
                }
                Err(reason) => says.notes = vec![format!("can't be drawn, {reason}")],
            }
            data.builds.push(says);
        }
        let notes = self.plan.iter().flat_map(|plan| &plan.builds);
        let is_given = |note: &&BuildNote| self.files.iter().any(|build| build.name == note.build);
        data.builds
            .extend(notes.filter(|note| !is_given(note)).map(|note| self.without_file(note, declared)));
    }

    fn label(&self, name: &str) -> String {
        format!("{}{name}", self.plan.map(|plan| build_label(plan, Some(name))).unwrap_or_default())
    }

    /// A build that only the plan speaks of: it has its figures, and which members it lacks, but no places.
    fn without_file(&self, note: &BuildNote, declared: usize) -> BuildData {
        let mut says = facts(note.line, note.size, &note.extra);
        says.push(judged(note));
        says.push("--also with its file draws it; here the recorded build is drawn".to_owned());
        let absent = note.absent.iter().copied().filter(|index| *index < declared).collect();
        BuildData { label: self.label(&note.build), absent, notes: says, ..BuildData::default() }
    }

    fn notes(&self, build: &AlternateBuild, (other, extra): (&Layout, Vec<String>)) -> Vec<String> {
        let mut says = facts(build.line, Some(other.size), &extra);
        if let Some(plan) = self.plan {
            let note = plan.builds.iter().find(|note| note.build == build.name);
            says.push(note.map_or_else(|| "the plan was made without it".to_owned(), judged));
        }
        says
    }
}

/// Whether other builds have the text of an order.
fn is_copied(order: &NamedOrder) -> bool {
    order.is_chosen || order.id == DECLARED
}

fn facts(line: u64, size: Option<u64>, extra: &[String]) -> Vec<String> {
    let mut says = vec![format!("compiled for lines of {line} B")];
    says.extend(size.map(|size| format!("{size} bytes as declared")));
    if !extra.is_empty() {
        says.push(format!("also with {}", extra.join(", ")));
    }
    says
}

fn judged(note: &BuildNote) -> String {
    let reason = note.reason.as_deref().unwrap_or_default();
    match note.judged {
        BuildJudged::Yes => "its figures are in the table above".to_owned(),
        BuildJudged::Equivalent => {
            format!("it places every order like {reason}, so its figures are the same")
        }
        BuildJudged::No => format!("not evaluated, {reason}"),
    }
}

/// A struct in another build.
struct Drawing<'d> {
    declared: &'d Layout,
    other: &'d Layout,
    matched: &'d MatchedStruct<'d>,
    /// Line size in bytes it was compiled for.
    line: u64,
}

impl Drawing<'_> {
    /// Adds its places of all orders, as the next build.
    fn add_to(&self, data: &mut StructData, orders: &[NamedOrder]) {
        let indexes = self.indexes(&mut data.members);
        let declared = Arrangement::new(self.declared, 0..self.declared.members.len());
        let build = data.builds.len();
        for (order, into) in orders.iter().zip(&mut data.orders) {
            let as_compiled = || ((0..self.other.members.len()).collect(), self.other.clone());
            let placed = match order.id == DECLARED {
                true => Some(as_compiled()),
                false => predict_order(&declared, &order.order, self.other),
            };
            let Some((there, layout)) = placed else { continue };
            let named = |there: &[usize]| there.iter().filter_map(|at| indexes.get(*at).copied()).collect();
            let members: Vec<usize> = named(&there);
            into.places.push(Places {
                moved: Some(named(&moved_units(&there))),
                // Of all orders it would be most of the page.
                text: is_copied(order).then(|| text(&layout, &there, self.line)),
                ..Places::new(build, &layout, &members)
            });
        }
    }

    /// By member there its index on the page. Those that are there only are added to the page's members.
    fn indexes(&self, members: &mut Vec<MemberData>) -> Vec<usize> {
        let here = |there: usize| self.matched.pairs().iter().position(|pair| *pair == Some(there));
        let declared = self.declared.members.len();
        let index = |(there, member): (usize, &Member)| {
            here(there).unwrap_or_else(|| {
                let (name, type_name) = (member.label(), &member.type_name);
                let is_known = |known: &MemberData| known.name == name && known.type_name == *type_name;
                let mut added = members.iter().skip(declared);
                // A third build may have it, too.
                match added.position(is_known).filter(|_| member.name.is_some()) {
                    Some(at) => declared + at,
                    None => {
                        let (name, type_name) = (name.to_owned(), type_name.clone());
                        members.push(MemberData { name, type_name, ..MemberData::default() });
                        members.len() - 1
                    }
                }
            })
        };
        self.other.members.iter().enumerate().map(index).collect()
    }

    /// Members of another size there, with the parts that correspond.
    fn parts(&self) -> Vec<(usize, Vec<PartOfMember>)> {
        let pairs = self.matched.pairs().iter().enumerate();
        let pairs = pairs.filter_map(|(index, there)| {
            Some((index, self.declared.members.get(index)?, self.other.members.get((*there)?)?))
        });
        let differing = pairs.filter(|(_, here, there)| here.bit_size != there.bit_size);
        let parts = differing.map(|(index, here, there)| {
            let bases = (here.bit_offset, there.bit_offset);
            let mut found = Vec::new();
            add_parts(&mut found, (here, there), bases, MAX_DEPTH);
            (index, found)
        });
        parts.collect()
    }
}

/// Adds the bits of a member here and those of the same there: all of it if it is equally large or holds no members,
/// else by what it holds. Places are relative to those of the outermost ones.
fn add_parts(
    parts: &mut Vec<PartOfMember>,
    (here, there): (&Member, &Member),
    bases: (u64, u64),
    depth: u32,
) {
    let inner = here.members.iter().filter_map(|inner| {
        Some((inner, there.members.iter().find(|other| other.name.is_some() && other.name == inner.name)?))
    });
    let inner: Vec<(&Member, &Member)> = inner.collect();
    if depth == 0 || inner.is_empty() || here.bit_size == there.bit_size {
        let relative = |member: &Member, base: u64| (member.bit_offset.saturating_sub(base), member.bit_size);
        let ((from, bits), (to, bits_there)) = (relative(here, bases.0), relative(there, bases.1));
        parts.push((from, bits, to, bits_there));
        return;
    }
    inner.into_iter().for_each(|pair| add_parts(parts, pair, bases, depth - 1));
}
