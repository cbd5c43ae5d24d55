//! Uses of a class's base classes: from the address of one, code comes to the members behind it.
//!
//! Whoever has all bytes of a base class, reads on behind it, or reads as many bytes as a virtual function says, depends
//! on the order of what is declared in the derived class. So base classes are searched for like the class itself.

use super::by_file::UsesByFile;
use super::scope::{DeclaredStruct, Definition, LARGEST, read_up_to};
use crate::header::{self, Declaration};
use fieldline_layout::types::split_namespace;
use fieldline_layout::{Layout, Member};
use fieldline_source::uses::{StructUse, UseDemand};
use fieldline_source::{DefinitionQuery, SourceText};
use memchr::memmem;
use std::path::Path;

/// A base class of a struct, itself or of another base class.
struct BaseClass {
    /// The number of the struct that is derived from it.
    derived: usize,
    layout: Layout,
    /// The files that define a class of its name.
    headers: Vec<String>,
}

/// Adds the uses of the base classes of structs. `find`: the uses of structs in all files.
pub(super) fn add_uses(
    tree: &Path,
    files: &[String],
    structs: &[DeclaredStruct<'_>],
    found: &mut [UsesByFile],
    find: impl Fn(&[DeclaredStruct<'_>]) -> Vec<UsesByFile>,
) {
    let mut bases = Vec::new();
    for (derived, declared) in structs.iter().enumerate() {
        collect(derived, &declared.layout.members, &mut bases);
    }
    if bases.is_empty() {
        return;
    }
    find_headers(tree, files, &mut bases);
    for base in bases.iter().filter(|base| base.headers.is_empty()) {
        let Some(declared) = structs.get(base.derived) else { continue };
        if !is_standard(tree, declared, &base.layout.name) {
            let what = "is declared outside of this tree".to_owned();
            add_whole(found, base, (declared.header.to_owned(), declared.layout.line.unwrap_or(0), what));
        }
    }
    let declared = bases.iter().flat_map(|base| {
        base.headers.iter().map(move |header| (base, DeclaredStruct { layout: &base.layout, header }))
    });
    let (owners, declared): (Vec<&BaseClass>, Vec<DeclaredStruct<'_>>) = declared.unzip();
    let uses = find(&declared);
    for (base, uses) in owners.into_iter().zip(uses) {
        for (path, used) in uses.0.into_iter().filter(|(_, used)| depends_on_places(used.demand)) {
            add_whole(found, base, (path, used.line, used.description));
        }
    }
    for uses in found {
        uses.1.sort();
        uses.1.dedup();
    }
}

/// Whether a use of a base class may be one of what stands behind it.
fn depends_on_places(demand: UseDemand) -> bool {
    !matches!(demand, UseDemand::Size | UseDemand::Note | UseDemand::Assembler)
}

fn add_whole(found: &mut [UsesByFile], base: &BaseClass, (path, line, what): (String, u32, String)) {
    let description = format!("its base class {}: {what}", base.layout.name);
    let used = StructUse { line, demand: UseDemand::Whole, members: Vec::new(), description };
    if let Some(uses) = found.get_mut(base.derived) {
        uses.1.push((path, used));
    }
}

/// The base classes among some members, and theirs.
fn collect(derived: usize, members: &[Member], found: &mut Vec<BaseClass>) {
    for member in members.iter().filter(|member| member.is_inherited() && member.name.is_none()) {
        collect(derived, &member.members, found);
        found.push(BaseClass { derived, layout: layout(member), headers: Vec::new() });
    }
}

/// A base class for itself; of a template the name of that.
fn layout(base: &Member) -> Layout {
    let name = base.type_name.rsplit_once("::").filter(|_| !base.type_name.contains('<'));
    let spelled = name.map_or(base.type_name.as_str(), |(_, name)| name);
    let plain = ["struct ", "class "].iter().find_map(|kind| spelled.strip_prefix(kind)).unwrap_or(spelled);
    let plain = plain.split('<').next().unwrap_or(plain);
    let place = |member: &Member| Member {
        bit_offset: member.bit_offset.saturating_sub(base.bit_offset),
        ..member.clone()
    };
    let template = Layout {
        kind: "struct".to_owned(),
        name: split_namespace(plain).1.to_owned(),
        align: base.align,
        ..Layout::default()
    };
    Layout::from_members(&template, base.members.iter().map(place).collect(), base.bit_size / 8)
}

/// Finds the files that define classes of the names of base classes.
fn find_headers(tree: &Path, files: &[String], bases: &mut [BaseClass]) {
    let names: Vec<String> = bases.iter().map(|base| base.layout.name.clone()).collect();
    let defined = fieldline_parallel::map(files, |path| {
        // A file that vanishes or can't be read says nothing; the header itself was read before.
        let text = read_up_to(&tree.join(path), LARGEST).unwrap_or_default();
        let is_said = names.iter().any(|name| memmem::find(&text, name.as_bytes()).is_some());
        let source = is_said.then(|| SourceText::new(&text));
        let is_defined = |name: &String| {
            let has =
                |source: &SourceText<'_>| !source.candidates(&DefinitionQuery::for_name(name)).is_empty();
            Definition::find(&text, name) != Definition::default() || source.as_ref().is_some_and(has)
        };
        names.iter().map(is_defined).collect::<Vec<bool>>()
    });
    for (path, defined) in files.iter().zip(defined) {
        for (base, _) in bases.iter_mut().zip(defined).filter(|(_, is_defined)| *is_defined) {
            base.headers.push(path.clone());
        }
    }
}

/// Whether the head of a class names a base class as one of the standard library.
fn is_standard(tree: &Path, declared: &DeclaredStruct<'_>, base: &str) -> bool {
    let Ok(text) = fieldline_files::read(&tree.join(declared.header)) else { return false };
    let source = SourceText::new(&text);
    let query = header::definition_query(&Declaration::from(declared.layout));
    let Ok(definition) = source.find(&query) else { return false };
    let head = text.get(definition.range(&source)).unwrap_or_default();
    let head =
        String::from_utf8_lossy(head.split(|byte| *byte == b'{').next().unwrap_or_default()).into_owned();
    let is_word = |byte: char| byte.is_alphanumeric() || byte == '_';
    let is_named = |name: &str| name.strip_prefix(base).is_some_and(|rest| !rest.starts_with(is_word));
    head.split("std::").skip(1).any(is_named)
}
