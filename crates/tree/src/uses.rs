//! Code elsewhere in the tree that depends on the order of members: constraints and notes.

mod macro_uses;
mod scope;

use anyhow::{Context, Result};
pub(crate) use scope::{DeclaredStruct, read_up_to};

use fieldline_layout::constraint::{PinnedMember, PlacementRequests};
use fieldline_layout::{Layout, Member};
use fieldline_source::uses::{FileUses, StructUse, UseDemand, UsedStruct, find_uses};
use macro_uses::PendingMacro;
use scope::{LARGEST, is_in_scope, leads_to_scope};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Uses of one struct by file, in order of paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsesByFile(Vec<(String, StructUse)>);

pub(crate) fn find_in_tree(tree: &Path, structs: &[DeclaredStruct<'_>]) -> Result<Vec<UsesByFile>> {
    let subjects: Vec<UsedStruct> = structs.iter().map(|declared| used_struct(declared.layout)).collect();
    let mut files = files_below(tree, "", structs).with_context(|| tree.display().to_string())?;
    files.sort_unstable();
    let by_file = fieldline_parallel::map(&files, |path| {
        // A file that vanishes or can't be read says nothing; the header itself was read before.
        let text = read_up_to(&tree.join(path), LARGEST).unwrap_or_default();
        let wanted = structs.iter().zip(&subjects).map(|(declared, subject)| {
            match is_in_scope(path, declared.header) {
                true => find_uses(path, &text, subject),
                false => FileUses::default(),
            }
        });
        wanted.collect::<Vec<FileUses>>()
    });
    let mut found = vec![UsesByFile::default(); structs.len()];
    let mut waiting = Vec::new();
    for (path, findings) in files.iter().zip(by_file) {
        for (struct_index, (struct_uses, findings)) in found.iter_mut().zip(findings).enumerate() {
            struct_uses.0.extend(findings.uses.into_iter().map(|used| (path.clone(), used)));
            let pending = |unresolved| PendingMacro { struct_index, path: path.clone(), unresolved };
            waiting.extend(findings.unresolved.into_iter().map(pending));
        }
    }
    for (index, path, used) in macro_uses::follow_macros(tree, &files, (structs, &subjects), waiting) {
        if let Some(struct_uses) = found.get_mut(index) {
            struct_uses.0.push((path, used));
        }
    }
    for struct_uses in &mut found {
        struct_uses.0.sort();
        struct_uses.0.dedup();
    }
    Ok(found)
}

/// C files below a folder of the tree that any of the structs can be known in.
fn files_below(tree: &Path, folder: &str, structs: &[DeclaredStruct<'_>]) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let may_know = |declared: &DeclaredStruct<'_>| kind.is_dir() || is_in_scope(&path, declared.header);
        if path.starts_with('.') || !structs.iter().any(may_know) {
            continue;
        }
        if kind.is_dir() && structs.iter().any(|declared| leads_to_scope(&path, declared.header)) {
            folders.push(path);
        } else if kind.is_file() && [".c", ".h"].iter().any(|end| path.ends_with(end)) {
            files.push(path);
        }
    }
    let below = fieldline_parallel::map(&folders, |folder| files_below(tree, folder, structs));
    for more in below {
        files.extend(more?);
    }
    Ok(files)
}

fn used_struct(layout: &Layout) -> UsedStruct {
    let members = layout.members.iter().enumerate().flat_map(|(number, member)| {
        names(std::slice::from_ref(member)).into_iter().map(move |name| (name.to_owned(), number))
    });
    let (tag, prefix_tags) = (layout.name.clone(), prefix_tags(&layout.members));
    UsedStruct { tag, members: members.collect(), prefix_tags }
}

/// Names that code can say: of unnamed structs and unions those inside.
pub(crate) fn names(members: &[Member]) -> Vec<&str> {
    let names = members.iter().flat_map(|member| match &member.name {
        Some(name) => vec![name.as_str()],
        None => names(&member.members),
    });
    names.collect()
}

/// Tags of the structs that begin with the first byte.
fn prefix_tags(members: &[Member]) -> Vec<String> {
    let Some(first) = members.iter().find(|member| member.bit_size > 0) else { return Vec::new() };
    let is_leading = first.bit_offset == 0 && first.name.is_some();
    let own = first.type_name.strip_prefix("struct ").filter(|_| is_leading);
    let tag = own.filter(|tag| tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let mut leads: Vec<String> = tag.into_iter().map(str::to_owned).collect();
    if tag.is_some() || first.name.is_none() && !first.is_union {
        leads.extend(self::prefix_tags(&first.members));
    }
    leads
}

impl UsesByFile {
    /// Adds constraints to the requests; gives notes, a sentence each.
    pub(crate) fn add_to(&self, requests: &mut PlacementRequests, layout: &Layout) -> Vec<String> {
        let mut limits: BTreeMap<(usize, bool), Vec<String>> = BTreeMap::new();
        let mut notes = Vec::new();
        let (mut files, mut members) = (BTreeSet::new(), BTreeSet::new());
        for (path, used) in &self.0 {
            let place = format!("{path}:{}", used.line);
            match used.demand {
                UseDemand::Assembler => {
                    files.insert(path.as_str());
                    members.extend(used.members.iter().map(String::as_str));
                }
                UseDemand::Size => {
                    requests.size_is_asserted = true;
                    notes.push(format_note(&place, used));
                }
                UseDemand::Note => notes.push(format_note(&place, used)),
                demand => {
                    for member in limited_members(demand, used, layout) {
                        let limit = limits.entry((member, demand == UseDemand::Offset)).or_default();
                        limit.push(format!("{} ({place})", used.description));
                    }
                }
            }
        }
        for ((member, keeps_offset), reasons) in limits {
            let pins = if keeps_offset { &mut requests.keep } else { &mut requests.fixed };
            pins.push(PinnedMember { member, reason: summarize_reasons(&reasons) });
        }
        notes.extend(assembler(&files, &members));
        notes
    }
}

/// That assembler code follows the members by constants made anew from these files.
fn assembler(files: &BTreeSet<&str>, members: &BTreeSet<&str>) -> Option<String> {
    let first = files.first()?;
    let more = match files.len() {
        1 => String::new(),
        count => format!(" and {} more files", count - 1),
    };
    let members: Vec<&str> = members.iter().copied().collect();
    let members = members.join(", ");
    Some(format!("{first}{more}: assembler code reads {members}; the build generates their offsets anew"))
}

fn format_note(place: &str, used: &StructUse) -> String {
    match used.members.is_empty() {
        true => format!("{place}: {}", used.description),
        false => format!("{place}: {}: {}", used.members.join(", "), used.description),
    }
}

/// Members that a use limits, by declared index.
fn limited_members(demand: UseDemand, used: &StructUse, layout: &Layout) -> Vec<usize> {
    let named = |name: &String| layout.members.iter().position(|member| has_name(member, name));
    match demand {
        UseDemand::First => Vec::from_iter(layout.members.iter().position(|member| member.bit_size > 0)),
        UseDemand::Positions(count) => (0..count.min(layout.members.len())).collect(),
        _ => used.members.iter().filter_map(named).collect(),
    }
}

/// Whether code says a name for a member or, if that is unnamed, for something in it.
pub(crate) fn has_name(member: &Member, name: &str) -> bool {
    match &member.name {
        Some(own) => own == name,
        None => member.members.iter().any(|inner| has_name(inner, name)),
    }
}

/// The first reason, and how many more there are.
fn summarize_reasons(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}, likewise in {} more places", rest.len()),
    }
}
