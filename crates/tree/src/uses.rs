//! What elsewhere in the tree depends on the order of members, as limits of the plan and remarks on it.

mod elsewhere;
mod scope;

use anyhow::{Context, Result};
pub(crate) use scope::{Declared, read_up_to};

use elsewhere::Waiting;
use fieldline_layout::constraint::{Pin, Wishes};
use fieldline_layout::{Layout, Member};
use fieldline_source::uses::{Demand, Findings, Use, UsedStruct, uses};
use rayon::prelude::*;
use scope::{LARGEST, is_in_scope, is_on_the_way};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Uses of one struct by file, in order of paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found(Vec<(String, Use)>);

pub(crate) fn find(tree: &Path, structs: &[Declared<'_>]) -> Result<Vec<Found>> {
    let subjects: Vec<UsedStruct> = structs.iter().map(|of| subject(of.layout)).collect();
    let mut files = files_below(tree, "", structs).with_context(|| tree.display().to_string())?;
    files.sort_unstable();
    let by_file = files.par_iter().map(|path| {
        // A file that vanishes or can't be read says nothing; the header itself was read before.
        let text = read_up_to(&tree.join(path), LARGEST).unwrap_or_default();
        let wanted = structs.iter().zip(&subjects).map(|(of, subject)| match is_in_scope(path, of.header) {
            true => uses(path, &text, subject),
            false => Findings::default(),
        });
        wanted.collect::<Vec<Findings>>()
    });
    let mut found = vec![Found::default(); structs.len()];
    let mut waiting = Vec::new();
    for (path, findings) in files.iter().zip(by_file.collect::<Vec<_>>()) {
        for (number, (of, findings)) in found.iter_mut().zip(findings).enumerate() {
            of.0.extend(findings.uses.into_iter().map(|of| (path.clone(), of)));
            let awaited = findings.awaited.into_iter();
            waiting.extend(awaited.map(|awaited| Waiting { of: number, path: path.clone(), awaited }));
        }
    }
    for (of, path, found_there) in elsewhere::follow(tree, &files, (structs, &subjects), waiting) {
        if let Some(of) = found.get_mut(of) {
            of.0.push((path, found_there));
        }
    }
    for of in &mut found {
        of.0.sort();
        of.0.dedup();
    }
    Ok(found)
}

/// C files below a folder of the tree that any of the structs can be known in.
fn files_below(tree: &Path, folder: &str, structs: &[Declared<'_>]) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let may_know = |of: &Declared<'_>| kind.is_dir() || is_in_scope(&path, of.header);
        if path.starts_with('.') || !structs.iter().any(may_know) {
            continue;
        }
        if kind.is_dir() && structs.iter().any(|of| is_on_the_way(&path, of.header)) {
            folders.push(path);
        } else if kind.is_file() && [".c", ".h"].iter().any(|end| path.ends_with(end)) {
            files.push(path);
        }
    }
    let below = folders.par_iter().map(|folder| files_below(tree, folder, structs));
    for more in below.collect::<std::io::Result<Vec<Vec<String>>>>()? {
        files.extend(more);
    }
    Ok(files)
}

fn subject(layout: &Layout) -> UsedStruct {
    let members = layout.members.iter().enumerate().flat_map(|(number, member)| {
        names(std::slice::from_ref(member)).into_iter().map(move |name| (name.to_owned(), number))
    });
    UsedStruct { tag: layout.name.clone(), members: members.collect(), leads: leads(&layout.members) }
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
fn leads(members: &[Member]) -> Vec<String> {
    let Some(first) = members.iter().find(|member| member.bit_size > 0) else { return Vec::new() };
    let own =
        first.type_name.strip_prefix("struct ").filter(|_| first.bit_offset == 0 && first.name.is_some());
    let tag = own.filter(|tag| tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let mut leads: Vec<String> = tag.into_iter().map(str::to_owned).collect();
    if tag.is_some() || first.name.is_none() && !first.is_union {
        leads.extend(self::leads(&first.members));
    }
    leads
}

impl Found {
    /// Adds limits to what is wished; gives remarks, a sentence each.
    pub(crate) fn add_to(&self, wishes: &mut Wishes, layout: &Layout) -> Vec<String> {
        let mut limits: BTreeMap<(usize, bool), Vec<String>> = BTreeMap::new();
        let mut remarks = Vec::new();
        let (mut files, mut members) = (BTreeSet::new(), BTreeSet::new());
        for (path, of) in &self.0 {
            let place = format!("{path}:{}", of.line);
            match of.demand {
                Demand::Assembler => {
                    files.insert(path.as_str());
                    members.extend(of.members.iter().map(String::as_str));
                }
                Demand::Size => {
                    wishes.is_sized = true;
                    remarks.push(remark(&place, of));
                }
                Demand::Remark => remarks.push(remark(&place, of)),
                demand => {
                    for member in limited(demand, of, layout) {
                        let limit = limits.entry((member, demand == Demand::Offset)).or_default();
                        limit.push(format!("{} ({place})", of.what));
                    }
                }
            }
        }
        for ((member, keeps_offset), reasons) in limits {
            let pins = if keeps_offset { &mut wishes.keep } else { &mut wishes.held };
            pins.push(Pin { member, reason: in_short(&reasons) });
        }
        remarks.extend(assembler(&files, &members));
        remarks
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

fn remark(place: &str, of: &Use) -> String {
    match of.members.is_empty() {
        true => format!("{place}: {}", of.what),
        false => format!("{place}: {}: {}", of.members.join(", "), of.what),
    }
}

/// Members that a use limits, by declared index.
fn limited(demand: Demand, of: &Use, layout: &Layout) -> Vec<usize> {
    let named = |name: &String| layout.members.iter().position(|member| has_name(member, name));
    match demand {
        Demand::First => layout.members.iter().position(|member| member.bit_size > 0).into_iter().collect(),
        Demand::Positions(count) => (0..count.min(layout.members.len())).collect(),
        _ => of.members.iter().filter_map(named).collect(),
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
fn in_short(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}, likewise in {} more places", rest.len()),
    }
}
