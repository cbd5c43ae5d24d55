//! Records whose bytes are taken for one another's, and members that are only read.

use super::super::contracts::uses_files;
use super::super::follow;
use super::super::names;
use super::super::shapes::wrappers::unwrapped;
use super::reader::{Reader, is_open};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::tree::Index;
use std::collections::BTreeSet;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// Members that may keep addresses: those that the unit only reads, and those that it gives values or takes the
    /// addresses of.
    pub(crate) fn keepers(&self) -> (Vec<String>, Vec<String>) {
        let view = self.unit.view;
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        for nodes in self.unit.named() {
            let member = nodes.first().and_then(|node| view.cursor(*node)?.referenced());
            let is_keeper = |member: &Cursor<'u>| {
                member.kind() == Kind::Member && keeps(member.ty()) && !member.is_of_system()
            };
            let Some(member) = member.filter(is_keeper) else { continue };
            let is_written = !view.flow.given(member.identity()).is_empty()
                || nodes.iter().any(|node| self.is_given_elsewhere(*node));
            let places = if is_written { &mut written } else { &mut read };
            places.insert(names::variable(member));
        }
        (read.into_iter().collect(), written.into_iter().collect())
    }

    /// Whether the address of a member is taken, or one of its elements is given a value.
    fn is_given_elsewhere(&self, index: Index) -> bool {
        let view = self.unit.view;
        let mut at = index;
        while let Some(parent) = view.tree.parent(at) {
            match view.tree.kind(parent) {
                Kind::Paren => at = parent,
                Kind::Subscript if view.tree.values(parent).next() == Some(at) => at = parent,
                Kind::Unexposed if view.cursor(at).is_some_and(|at| at.ty().kind() == TypeKind::Array) => {
                    at = parent;
                }
                Kind::Unary => {
                    return view.cursor(parent).map(Cursor::unary_operator) == Some(Operator::AddressOf);
                }
                Kind::Binary => {
                    return view.cursor(parent).map(Cursor::binary_operator) == Some(Operator::Assign)
                        && view.tree.values(parent).next() == Some(at);
                }
                _ => return false,
            }
        }
        false
    }

    /// `union { struct a a; struct b b; }`: what is written as one is read as the other.
    pub(crate) fn alternatives(&mut self, union: Index) {
        let view = self.unit.view;
        let Some(union) = view.cursor(union) else { return };
        let members = union.ty().members().into_iter().map(Cursor::ty);
        let records: Vec<Type<'u>> = members.filter(|ty| ty.kind() == TypeKind::Record).collect();
        let read: Vec<Type<'u>> = records.iter().copied().filter(|to| self.reads_pointer(*to)).collect();
        for to in &read {
            for from in records.iter().filter(|from| !from.equals(*to)) {
                self.overlaid.insert((self.unit.shape(*from), self.unit.shape(*to)));
            }
        }
    }

    /// Whether the unit names a member of a record that may keep an address.
    pub(crate) fn reads_pointer(&self, record: Type<'u>) -> bool {
        let is_named = |member: &Cursor<'u>| self.unit.names.contains_key(&member.identity());
        record.members().into_iter().any(|member| keeps(member.ty()) && is_named(&member))
    }

    /// Records that a library reads from files and writes to them.
    pub(crate) fn filed(&mut self, call: Index) {
        let view = self.unit.view;
        let function = follow::function(view, call).filter(|function| function.definition().is_none());
        if !function.is_some_and(|function| uses_files(&function.name())) {
            return;
        }
        let ty = function.map(Cursor::ty);
        for (number, argument) in follow::arguments(view, call).into_iter().enumerate() {
            let parameter = ty.and_then(|ty| ty.parameter(u32::try_from(number).unwrap_or(u32::MAX)));
            let pointee = parameter.and_then(Type::pointee);
            if pointee.is_none_or(|pointee| pointee.kind() != TypeKind::Void) {
                continue;
            }
            let sum = view.sum(argument);
            let record =
                sum.start.filter(|start| sum.terms.is_empty() && start.ty.kind() == TypeKind::Record);
            if let Some(record) = record {
                self.filed.insert(self.unit.shape(record.ty));
            }
        }
    }
}

/// Whether a member is a pointer, or an array of pointers. Numbers that no unit gives a value by name are many, and
/// seldom addresses.
fn keeps(ty: Type<'_>) -> bool {
    let mut ty = ty;
    while let Some(element) = ty.element() {
        ty = element;
    }
    let ty = unwrapped(ty);
    let is_record = |ty: Type<'_>| ty.pointee().is_some_and(|own| own.kind() == TypeKind::Record);
    ty.kind() == TypeKind::Pointer && (is_open(ty) || is_record(ty))
}
