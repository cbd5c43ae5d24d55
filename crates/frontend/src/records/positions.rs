//! Values of lists, and the members that they are for: the language's rules for braces that are left out, designators
//! and bases.

use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::records::Records;
use crate::tree::{Index, Tree};

/// Most records and arrays inside one another.
const DEEPEST: usize = 12;

/// A place that a value is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Position<'u> {
    /// A member, or an element of a member.
    Member(Cursor<'u>),
    /// An element of the list's own array.
    Element,
}

/// Each value of a list that no member's name stands in front of, and its place.
pub(crate) fn positions<'u>(
    tree: &Tree<'u>,
    records: &Records<'_, 'u>,
    list: Index,
) -> Vec<(Index, Position<'u>)> {
    let Some(ty) = tree.get(list).map(|node| node.cursor.ty()) else { return Vec::new() };
    if !matches!(ty.kind(), TypeKind::Record | TypeKind::Array) {
        return Vec::new();
    }
    let mut walk = Walk { tree, records, frames: vec![Frame::new(records, ty, None)] };
    let mut found = Vec::new();
    for value in tree.children(list) {
        let own = match walk.is_designated(value) {
            true => walk.designate(value),
            false => Some(value),
        };
        found.extend(own.and_then(|own| walk.place(own)).map(|position| (value, position)));
    }
    found
}

/// A record or an array whose parts get values one after the other.
struct Frame<'u> {
    ty: Type<'u>,
    /// The member that an array is.
    member: Option<Cursor<'u>>,
    parts: Vec<(Option<Cursor<'u>>, Type<'u>)>,
    at: usize,
}

impl<'u> Frame<'u> {
    fn new(records: &Records<'_, 'u>, ty: Type<'u>, member: Option<Cursor<'u>>) -> Self {
        Self { ty, member, parts: parts(records, ty), at: 0 }
    }

    /// The next part, if there is one.
    fn next(&mut self) -> Option<(Option<Cursor<'u>>, Type<'u>)> {
        let part = match self.ty.element() {
            Some(element) => {
                let is_inside =
                    self.ty.length().is_none_or(|length| u64::try_from(self.at).is_ok_and(|at| at < length));
                is_inside.then_some((self.member, element))
            }
            None => self.parts.get(self.at).copied(),
        };
        self.at += 1;
        part
    }
}

/// Bases and members of a record. Of a union only the first member gets a value.
fn parts<'u>(records: &Records<'_, 'u>, ty: Type<'u>) -> Vec<(Option<Cursor<'u>>, Type<'u>)> {
    let is_union = ty.canonical().declaration().is_some_and(|record| record.kind() == Kind::Union);
    let bases = records.bases(ty).into_iter().map(|base| (None, base));
    let members = records.members(ty);
    let members = members.iter().map(|member| (Some(member.cursor), member.ty));
    let all = bases.chain(members);
    if is_union { all.take(1).collect() } else { all.collect() }
}

struct Walk<'w, 's, 'u> {
    tree: &'w Tree<'u>,
    records: &'w Records<'s, 'u>,
    frames: Vec<Frame<'u>>,
}

impl<'u> Walk<'_, '_, 'u> {
    /// `.member = value`, `[number] = value`: the front end gives them no type.
    fn is_designated(&self, value: Index) -> bool {
        let tree = self.tree;
        let has_type = tree.get(value).is_none_or(|node| node.cursor.ty().kind() != TypeKind::Void);
        tree.kind(value) == Kind::Unexposed && !has_type && tree.children(value).nth(1).is_some()
    }

    fn names(&self, value: Index) -> impl Iterator<Item = Cursor<'u>> + '_ {
        let names = self.tree.children(value).filter(|child| self.tree.kind(*child) == Kind::MemberName);
        names.filter_map(|name| self.tree.get(name)?.cursor.referenced())
    }

    fn number(&self, value: Index) -> Option<usize> {
        let first = self.tree.children(value).next()?;
        usize::try_from(self.tree.get(first)?.cursor.constant()?).ok()
    }

    /// The values go on behind what a designator names. Gives the value if it is for an element.
    fn designate(&mut self, value: Index) -> Option<Index> {
        self.frames.truncate(1);
        let names: Vec<Cursor<'u>> = self.names(value).collect();
        let number = self.number(value);
        let frame = self.frames.last_mut()?;
        if frame.ty.element().is_some() {
            frame.at = number?;
            if names.is_empty() {
                return self.tree.children(value).last();
            }
            let (member, ty) = frame.next()?;
            self.frames.push(Frame::new(self.records, ty, member));
        }
        let last = names.len().saturating_sub(1);
        for (number, name) in names.into_iter().enumerate() {
            self.lead_to(name);
            if number < last {
                self.frames.push(Frame::new(self.records, name.ty(), Some(name)));
            }
        }
        None
    }

    /// The next part is the one behind a member, which may stand in unnamed ones.
    fn lead_to(&mut self, name: Cursor<'u>) {
        for _ in 0..DEEPEST {
            let Some(frame) = self.frames.last_mut() else { return };
            let is_own = |part: Option<Cursor<'u>>| part.is_some_and(|own| own.identity() == name.identity());
            if let Some(at) = frame.parts.iter().position(|(part, _)| is_own(*part)) {
                frame.at = at + 1;
                return;
            }
            let holder = name.holder();
            let unnamed = frame.parts.iter().position(|(_, ty)| {
                ty.canonical().declaration().zip(holder).is_some_and(|(record, holder)| {
                    record.is_anonymous()
                        && (record.identity() == holder.identity() || is_below(holder, record))
                })
            });
            let Some((at, (member, ty))) = unnamed.and_then(|at| Some((at, *frame.parts.get(at)?))) else {
                // Of a union the parts are the first member only.
                frame.at = frame.parts.len();
                return;
            };
            frame.at = at + 1;
            self.frames.push(Frame::new(self.records, ty, member));
        }
    }

    /// The place of the next value without a designator.
    fn place(&mut self, value: Index) -> Option<Position<'u>> {
        for _ in 0..DEEPEST * 2 {
            let is_own = self.frames.len() == 1;
            let Some((member, ty)) = self.frames.last_mut()?.next() else {
                if is_own {
                    return None;
                }
                self.frames.pop();
                continue;
            };
            if !self.is_opened(value, ty) {
                return Some(member.map_or(Position::Element, Position::Member));
            }
            self.frames.push(Frame::new(self.records, ty, member));
        }
        None
    }

    /// Whether a value is for the first part of an array or a record, not for the whole.
    fn is_opened(&self, value: Index, ty: Type<'u>) -> bool {
        let Some(own) = self.tree.get(value).map(|node| node.cursor.ty()) else { return false };
        if self.tree.kind(value) == Kind::List || own.equals(ty) {
            return false;
        }
        match ty.kind() {
            TypeKind::Array => own.kind() != TypeKind::Array,
            TypeKind::Record => own.kind() != TypeKind::Record && !self.is_constructed(ty),
            _ => false,
        }
    }

    /// Whether objects of a class are made by its constructors.
    fn is_constructed(&self, ty: Type<'u>) -> bool {
        let Some(record) = ty.canonical().declaration() else { return true };
        let is_own = |constructor: &Index| {
            let holder = self.tree.get(*constructor).and_then(|node| node.cursor.holder());
            holder.is_some_and(|holder| holder.identity() == record.identity())
        };
        record.is_of_cpp() && record.is_of_system() || self.tree.constructors().iter().any(is_own)
    }
}

/// Whether a record stands inside another one.
fn is_below<'u>(inner: Cursor<'u>, outer: Cursor<'u>) -> bool {
    let mut holders = std::iter::successors(inner.holder(), |holder| holder.holder()).take(DEEPEST);
    holders.any(|holder| holder.identity() == outer.identity())
}
