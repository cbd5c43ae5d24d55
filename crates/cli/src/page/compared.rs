//! The page of structs in two files, or of one file that is checked.

use super::accesses::FunctionNames;
use super::facts::RecordedFacts;
use super::file::Page;
use super::model::{BuildData, MemberData, OrderData, PageData, Places, StructData};
use super::orders::text;
use super::planned::title;
use super::section::Section;
use super::{accesses, sharing};
use crate::report::layout::diff_text::describe_change;
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_check::matching::match_fields;
use fieldline_check::{ChangeKind, TypeChange, fields};
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// A struct of a file, and of an earlier one if it is there.
pub(crate) struct ComparedStruct<'c> {
    pub(crate) before: Option<&'c Layout>,
    pub(crate) now: &'c Layout,
    /// Tells it from others of its name; mostly empty.
    pub(crate) suffix: String,
    /// Bytes of a cacheline.
    pub(crate) line: u64,
    /// Accesses that were recorded with one of the two layouts.
    pub(crate) accesses: Option<(&'c AccessProfile, &'c TypeProfile)>,
    /// The change, or the findings, in a sentence.
    pub(crate) verdict: String,
    /// Sentences below a heading.
    pub(crate) remarks: Vec<(&'static str, Vec<String>)>,
    /// The change from the earlier one, if there is any.
    pub(crate) change: Option<&'c TypeChange>,
}

/// The page of structs in two files.
pub(crate) fn compared(
    subtitle: &str,
    structs: &[ComparedStruct<'_>],
    (lines, notes): (&[u64], Vec<String>),
) -> Page {
    let mut functions = FunctionNames::default();
    let mut data = PageData { lines: lines.to_vec(), who: "CPUs", ..PageData::default() };
    let mut sections = Vec::new();
    for (index, compared) in structs.iter().enumerate() {
        let Layout { name, kind, file, line, .. } = compared.now;
        let place = file.as_ref().zip(*line).map(|(file, line)| format!("{file}:{line}"));
        let (name, kind) = (format!("{name}{}", compared.suffix), kind.clone());
        let (verdict, remarks) = (compared.verdict.clone(), compared.remarks.clone());
        sections.push(Section { index, name, kind, place, verdict, remarks, ..Section::default() });
        data.structs.push(struct_data(compared, &mut functions, lines));
    }
    data.functions = functions.into_names();
    let profile = structs.iter().find_map(|compared| compared.accesses);
    Page {
        title: title(&sections),
        subtitle: subtitle.to_owned(),
        recorded: profile.map(|(profile, _)| RecordedFacts::new(profile)),
        patches: Vec::new(),
        measured: None,
        notes,
        sections,
        data,
    }
}

fn struct_data(compared: &ComparedStruct<'_>, functions: &mut FunctionNames, lines: &[u64]) -> StructData {
    let (now, before) = (compared.now, compared.before);
    let matched = Matched::new(now, before);
    let changes = compared.change.map(changes_by_member).unwrap_or_default();
    let mut orders = Vec::new();
    orders.extend(before.map(|before| order("before", "before", before, &matched.before, compared.line)));
    orders.push(order("now", "now", now, &matched.now, compared.line));
    if let (Some(order), Some(change)) = (orders.last_mut(), compared.change) {
        order.moved = moved(now, change);
    }
    let member = |layout: &Layout, at: usize| {
        let member = layout.members.get(at);
        let name = member.map_or("?", |member| member.label()).to_owned();
        let type_name = member.map(|member| member.type_name.clone()).unwrap_or_default();
        let change = member.and_then(|member| changes.get(member.label())).map(|says| says.join("; "));
        MemberData { name, type_name, change, ..MemberData::default() }
    };
    let mut members: Vec<MemberData> = (0..now.members.len()).map(|at| member(now, at)).collect();
    members.extend(matched.gone.iter().filter_map(|at| before.map(|before| member(before, *at))));
    let build = BuildData { label: "as compiled".to_owned(), drawn: true, ..BuildData::default() };
    let mut data = StructData {
        name: now.name.clone(),
        kind: now.kind.clone(),
        members,
        shown: orders.len() - 1,
        orders,
        builds: vec![build],
        ..StructData::default()
    };
    if let Some((profile, type_profile)) = compared.accesses {
        // Accesses belong to the layout they were recorded with.
        let layouts: Vec<&Layout> = before.into_iter().chain([now]).collect();
        let fits = layouts.iter().position(|layout| layout.fingerprint() == type_profile.fingerprint);
        if let Some((at, layout)) = fits.and_then(|at| Some((at, layouts.get(at)?))) {
            accesses::add(&mut data, functions, (profile, type_profile), layout);
            data.lost = sharing::lost_members(type_profile, layout, lines);
            data.recorded = at;
        }
    }
    data
}

fn order(id: &str, label: &str, layout: &Layout, indexes: &[usize], line: u64) -> OrderData {
    OrderData {
        id: id.to_owned(),
        label: label.to_owned(),
        places: vec![Places::new(0, layout, indexes)],
        moved: Vec::new(),
        text: text(layout, indexes, line),
    }
}

/// Members that changed places among the others.
fn moved(now: &Layout, change: &TypeChange) -> Vec<usize> {
    let moved = change.members.iter().filter(|member| member.what.contains(&ChangeKind::Moved));
    let names: Vec<&str> = moved.map(|member| member.member.as_str()).collect();
    let members = now.members.iter().enumerate().filter(|(_, member)| names.contains(&member.label()));
    members.map(|(index, _)| index).collect()
}

/// Changes of members in words, by name. Of those that others only shifted, the drawing says enough.
fn changes_by_member(change: &TypeChange) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for member in change.members.iter().filter(|member| member.what != [ChangeKind::Shifted]) {
        let top = member.member.split('.').next().unwrap_or_default();
        found.entry(top).or_default().push(describe_change(member));
    }
    found
}

/// Members of two layouts with common indices: those of the later one, then those that are gone.
struct Matched {
    now: Vec<usize>,
    before: Vec<usize>,
    /// Members of the earlier layout that are gone.
    gone: Vec<usize>,
}

impl Matched {
    fn new(now: &Layout, before: Option<&Layout>) -> Self {
        let count = now.members.len();
        let mut later: BTreeMap<usize, usize> = BTreeMap::new();
        if let Some(before) = before {
            let (old, new) = (fields(before), fields(now));
            for (field, old) in new.iter().zip(match_fields(&old, &new).into_iter().map(|at| old.get(at?))) {
                // A member is matched by the first of what it holds.
                let is_free = |top: usize| !later.values().any(|known| *known == top);
                if let Some(old) = old.filter(|old| !later.contains_key(&old.top) && is_free(field.top)) {
                    later.insert(old.top, field.top);
                }
            }
        }
        let (mut of_before, mut gone) = (Vec::new(), Vec::new());
        for at in 0..before.map_or(0, |before| before.members.len()) {
            of_before.push(later.get(&at).copied().unwrap_or(count + gone.len()));
            gone.extend((!later.contains_key(&at)).then_some(at));
        }
        Self { now: (0..count).collect(), before: of_before, gone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::testing::{layout, member};

    #[test]
    fn members_have_one_index_in_both_layouts() {
        let old = layout(
            "queue",
            24,
            vec![member("gone", 0, 8, 8), member("id", 8, 8, 8), member("last", 16, 8, 8)],
        );
        let new = layout(
            "queue",
            24,
            vec![member("last", 0, 8, 8), member("id", 8, 8, 8), member("new", 16, 4, 4)],
        );
        let matched = Matched::new(&new, Some(&old));
        assert_eq!((matched.now, matched.before, matched.gone), (vec![0, 1, 2], vec![3, 1, 0], vec![0]));
    }
}
