//! Variables and functions that a unit uses and other code defines.

use super::super::facts::External;
use super::reader::Reader;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::tree::Index;
use std::collections::BTreeSet;

/// Most functions' types within one another.
const DEEPEST: usize = 4;

/// The begin of names that the linker knows functions of C++ by: they say what the function takes.
const MANGLED: &str = "_Z";

impl<'u> Reader<'_, '_, '_, 'u> {
    /// Variables of subjects that have no definition here, and functions that take or give subjects by value, or that lead
    /// to such functions.
    pub(crate) fn defined_elsewhere(&mut self) {
        let view = self.unit.view;
        let unit = self.unit;
        for node in unit.named().filter_map(|nodes| nodes.first().copied()) {
            let named = view.cursor(node).and_then(Cursor::referenced);
            let is_elsewhere =
                |named: &Cursor<'u>| named.is_shared() && !is_defined(*named) && !named.is_of_system();
            let Some(named) = named.filter(is_elsewhere) else { continue };
            let (subjects, ty) = match named.kind() {
                Kind::Variable => (view.records.within(named.ty()).into_iter().collect(), None),
                Kind::Function => (self.passed(named.ty(), DEEPEST), Some(named.ty().canonical().spelling())),
                _ => continue,
            };
            self.outside(node, named, (subjects, ty));
        }
    }

    fn outside(
        &mut self,
        node: Index,
        named: Cursor<'u>,
        (subjects, function): (BTreeSet<usize>, Option<String>),
    ) {
        let symbol = symbol(named);
        if subjects.is_empty() || symbol.starts_with(MANGLED) {
            return;
        }
        let (subjects, at) = (subjects.into_iter().collect(), self.unit.place(node));
        self.external.insert(External { symbol, function, subjects, at });
    }

    /// The subjects that functions of a type take or give by value, or functions that those are handed or lead to.
    fn passed(&self, ty: Type<'u>, depth: usize) -> BTreeSet<usize> {
        let ty = ty.canonical();
        if depth == 0 {
            return BTreeSet::new();
        }
        if let Some(pointee) = ty.pointee() {
            return self.passed(pointee, depth);
        }
        if ty.kind() != TypeKind::Function {
            return BTreeSet::new();
        }
        let count = u32::try_from(ty.parameter_count()).unwrap_or(0);
        let parameters = (0..count).filter_map(|number| ty.parameter(number));
        let all = parameters.chain(ty.result()).flat_map(|part| {
            let mut own: BTreeSet<usize> = self.unit.view.records.within(part).into_iter().collect();
            own.extend(self.passed(part, depth - 1));
            own
        });
        all.collect()
    }

    /// A function with a body, by the type that it has here.
    pub(crate) fn defined_as(&mut self, function: Cursor<'u>) {
        let symbol = symbol(function);
        if !symbol.starts_with(MANGLED) {
            self.types.insert((symbol, fingerprint(&function.ty().canonical().spelling())));
        }
    }

    /// A variable with a definition here, and its section.
    pub(crate) fn placed(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(variable) = view.cursor(index).filter(|variable| !variable.is_extern()) else { return };
        if variable.is_shared() {
            self.made.insert(symbol(variable));
        }
        let is_section = |child: &Index| {
            let attribute = view.cursor(*child).filter(|_| view.tree.kind(*child) == Kind::Attribute);
            let words = attribute.map(|own| self.unit.places.borrow_mut().words(own)).unwrap_or_default();
            words.iter().any(|word| word.trim_matches('_') == "section")
        };
        if view.tree.children(index).any(|child| is_section(&child)) {
            self.in_sections.extend(view.records.within(variable.ty()));
        }
    }
}

fn is_defined(named: Cursor<'_>) -> bool {
    named.definition().is_some() || named.kind() == Kind::Variable && !named.is_extern()
}

fn symbol(named: Cursor<'_>) -> String {
    named.symbol().trim_start_matches('\u{1}').to_owned()
}

/// A number for a type that is the same in all units and runs (FNV-1a, RFC 9923).
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
