//! Which types of a unit are subjects, and their members.

pub(crate) mod positions;

use crate::clang::{Cursor, Identity, Kind, Place, Type, TypeKind};
use crate::demand::Subject;
use crate::tree::{Index, Tree};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Most records that begin with one another.
const DEEPEST: usize = 16;

/// A declared member.
#[derive(Clone, Debug)]
pub(crate) struct Member<'u> {
    pub(crate) cursor: Cursor<'u>,
    /// A name that code has for it; of unnamed ones the first inside.
    pub(crate) name: String,
    pub(crate) ty: Type<'u>,
    /// Bits in front of it.
    pub(crate) offset: u64,
}

/// A subject's member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) subject: usize,
    pub(crate) member: String,
}

/// The records of a unit.
#[derive(Debug)]
pub(crate) struct Records<'s, 'u> {
    subjects: &'s [Subject],
    directory: &'s Path,
    by_record: RefCell<FxHashMap<Identity, Option<usize>>>,
    members: RefCell<FxHashMap<Identity, Rc<Vec<Member<'u>>>>>,
    /// Nodes that define records with bases.
    derived: FxHashMap<Identity, Vec<Type<'u>>>,
}

impl<'s, 'u> Records<'s, 'u> {
    pub(crate) fn new(subjects: &'s [Subject], directory: &'s Path, tree: &Tree<'u>) -> Self {
        let (mut typedefs, mut derived) = (Vec::new(), FxHashMap::<Identity, Vec<Type<'u>>>::default());
        for index in 0..tree.len() {
            let Some(node) = tree.get(index) else { continue };
            match node.kind {
                Kind::Typedef => typedefs.push(node.cursor),
                Kind::Base => {
                    let holder = tree.parent(index).and_then(|parent| tree.get(parent));
                    let bases = holder.map(|holder| derived.entry(holder.cursor.identity()).or_default());
                    bases.into_iter().for_each(|bases| bases.push(node.cursor.ty()));
                }
                _ => {}
            }
        }
        let records =
            Self { subjects, directory, by_record: RefCell::default(), members: RefCell::default(), derived };
        typedefs.into_iter().for_each(|typedef| records.follow_typedef(typedef));
        records
    }

    /// Knows the record behind a typedef that a subject is named by.
    fn follow_typedef(&self, typedef: Cursor<'u>) {
        let name = typedef.name();
        let ty = typedef.ty().canonical();
        if ty.kind() != TypeKind::Record || !self.subjects.iter().any(|subject| subject.name == name) {
            return;
        }
        let Some(record) = ty.declaration() else { return };
        let found = self.matching(record, &name).or_else(|| self.matching(record, &record.name()));
        self.by_record.borrow_mut().insert(record.identity(), found);
    }

    /// The subject that a type is.
    pub(crate) fn subject(&self, ty: Type<'u>) -> Option<usize> {
        (ty.kind() == TypeKind::Record).then(|| self.declared(ty.canonical().declaration()?)).flatten()
    }

    /// The subject that a declaration is.
    pub(crate) fn declared(&self, record: Cursor<'u>) -> Option<usize> {
        let identity = record.identity();
        if let Some(known) = self.by_record.borrow().get(&identity) {
            return *known;
        }
        let found = self.matching(record, &record.name());
        self.by_record.borrow_mut().insert(identity, found);
        found
    }

    /// How many members a subject has, where the unit uses one.
    pub(crate) fn subject_size(&self, subject: usize) -> Option<usize> {
        let (by_record, members) = (self.by_record.borrow(), self.members.borrow());
        let own = by_record.iter().filter(|(_, found)| **found == Some(subject));
        own.filter_map(|(identity, _)| members.get(identity)).map(|members| members.len()).max()
    }

    /// The subjects that an object of a type consists of: itself, and those it holds by value.
    pub(crate) fn within(&self, ty: Type<'u>) -> Vec<usize> {
        let mut found = Vec::new();
        self.add_within(ty, DEEPEST, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn add_within(&self, ty: Type<'u>, depth: usize, found: &mut Vec<usize>) {
        let mut ty = ty;
        while let Some(element) = ty.element() {
            ty = element;
        }
        if ty.kind() != TypeKind::Record || depth == 0 {
            return;
        }
        found.extend(self.subject(ty));
        for member in self.members(ty).iter() {
            self.add_within(member.ty, depth - 1, found);
        }
        for base in self.bases(ty) {
            self.add_within(base, depth - 1, found);
        }
    }

    fn matching(&self, record: Cursor<'u>, name: &str) -> Option<usize> {
        let named = |subject: &Subject| subject.name == name || subject.name.ends_with(&format!("::{name}"));
        let place = |place: &Place, subject: &Subject, file: &Path| {
            let is_near = subject.line.is_none_or(|line| line.abs_diff(place.line) <= 2);
            is_near && self.path(&place.file).ends_with(relative(file))
        };
        let fits = |subject: &Subject| {
            let Some(file) = &subject.file else { return true };
            // A copy that a generated file holds may stand anywhere.
            place(&record.spelled(), subject, file)
                || place(&record.presumed(), subject, file)
                || has_members(record, &subject.members)
        };
        self.subjects.iter().position(|subject| named(subject) && fits(subject))
    }

    /// A file's path as seen from the unit's folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        absolute(self.directory, Path::new(file))
    }

    /// The members of a record, bit-fields without names apart.
    pub(crate) fn members(&self, ty: Type<'u>) -> Rc<Vec<Member<'u>>> {
        let identity = ty.canonical().declaration().map_or(0, Cursor::identity);
        if let Some(known) = self.members.borrow().get(&identity) {
            return Rc::clone(known);
        }
        let members = ty.members().into_iter().filter_map(|cursor| {
            let ty = cursor.ty();
            let name = own_name(cursor).or_else(|| first_name(ty))?;
            Some(Member { cursor, name, ty, offset: cursor.bit_offset().unwrap_or(0) })
        });
        let members = Rc::new(members.collect::<Vec<_>>());
        self.members.borrow_mut().insert(identity, Rc::clone(&members));
        members
    }

    /// The subject and the name in it of a member, and the record itself: unnamed structs are opened.
    pub(crate) fn part(&self, member: Cursor<'u>) -> Option<Part> {
        let subject = self.declared(named_holder(member)?)?;
        Some(Part { subject, member: own_name(member)? })
    }

    /// The declared number of a member, whatever of its names is given.
    pub(crate) fn number(&self, ty: Type<'u>, name: &str) -> Option<usize> {
        self.members(ty).iter().position(|member| member.name == name || has_inside(member.ty, name, DEEPEST))
    }

    /// Bytes that no order of a record's members exceeds.
    pub(crate) fn largest(&self, ty: Type<'u>) -> u64 {
        let with_padding = |member: &Member<'u>| {
            let (size, alignment) = (member.ty.size().unwrap_or(0), member.ty.alignment().unwrap_or(1));
            size.saturating_add(alignment.saturating_sub(1))
        };
        let members: u64 = self.members(ty).iter().map(with_padding).fold(0, u64::saturating_add);
        members.saturating_add(ty.alignment().unwrap_or(1)).max(ty.size().unwrap_or(0))
    }

    /// How many leading members the first bytes of a record reach into.
    pub(crate) fn covering(&self, ty: Type<'u>, bytes: u64) -> usize {
        self.members(ty).iter().filter(|member| member.offset < bytes.saturating_mul(8)).count()
    }

    /// Whether a record has another one, or a scalar, at its first byte.
    pub(crate) fn begins_with(&self, ty: Type<'u>, other: Type<'u>) -> bool {
        let mut ty = ty;
        for _ in 0..DEEPEST {
            let members = self.members(ty);
            let Some(first) = members.first() else { return false };
            ty = first.ty;
            while let Some(element) = ty.element() {
                ty = element;
            }
            if ty.equals(other) {
                return true;
            }
        }
        false
    }

    /// How many members two records have alike from their first bytes on.
    pub(crate) fn shared(&self, ty: Type<'u>, other: Type<'u>) -> usize {
        let (members, others) = (self.members(ty), self.members(other));
        let is_shared = |(member, other): &(&Member<'u>, &Member<'u>)| {
            member.offset == other.offset
                && (member.ty.equals(other.ty)
                    || member.name == other.name && member.ty.size() == other.ty.size())
        };
        members.iter().zip(others.iter()).take_while(is_shared).count()
    }

    /// Classes that a record is derived from directly.
    pub(crate) fn bases(&self, ty: Type<'u>) -> Vec<Type<'u>> {
        let bases = ty.canonical().declaration().and_then(|record| self.derived.get(&record.identity()));
        bases.cloned().unwrap_or_default()
    }

    /// Whether one class is derived from another.
    pub(crate) fn derives(&self, ty: Type<'u>, base: Type<'u>) -> bool {
        let bases = ty.canonical().declaration().and_then(|record| self.derived.get(&record.identity()));
        bases.is_some_and(|bases| bases.iter().any(|own| own.equals(base) || self.derives(*own, base)))
    }

    /// Nodes that a subject's definition consists of.
    pub(crate) fn is_definition(&self, tree: &Tree<'u>, index: Index) -> bool {
        tree.children(index).any(|child| tree.kind(child) == Kind::Member)
    }
}

/// The record a member belongs to, unnamed ones opened.
pub(crate) fn named_holder(member: Cursor<'_>) -> Option<Cursor<'_>> {
    let mut holder = member.holder()?;
    for _ in 0..DEEPEST {
        if !holder.is_anonymous() {
            return Some(holder);
        }
        holder = holder.holder()?;
    }
    None
}

/// A member's name, if it has one: the front end describes what has none.
pub(crate) fn own_name(member: Cursor<'_>) -> Option<String> {
    Some(member.name()).filter(|name| !name.is_empty() && !name.contains(' '))
}

fn first_name(ty: Type<'_>) -> Option<String> {
    ty.members().into_iter().find_map(|member| own_name(member).or_else(|| first_name(member.ty())))
}

fn has_inside(ty: Type<'_>, name: &str, depth: usize) -> bool {
    let is_unnamed = ty.canonical().declaration().is_some_and(Cursor::is_anonymous);
    is_unnamed
        && depth > 0
        && ty
            .members()
            .into_iter()
            .any(|member| member.name() == name || has_inside(member.ty(), name, depth - 1))
}

/// Whether a record has members of these names, in this order.
fn has_members(record: Cursor<'_>, names: &[Vec<String>]) -> bool {
    let members = record.ty().members().into_iter();
    let own: Vec<String> =
        members.filter_map(|member| own_name(member).or_else(|| first_name(member.ty()))).collect();
    let is_same = |(own, names): (&String, &Vec<String>)| names.contains(own);
    !own.is_empty() && own.len() == names.len() && own.iter().zip(names).all(is_same)
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix("./").unwrap_or(path)
}

/// A path without `.` and `..`.
pub fn absolute(folder: &Path, path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    whole
}
