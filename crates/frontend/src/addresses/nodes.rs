//! A unit with the nodes that name each variable and member.

use super::facts::{CodePlace, ShapeNumber};
use super::shapes::Shapes;
use crate::clang::{Cursor, Identity, Kind, Type};
use crate::report::Places;
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A unit with the nodes that name each variable and member.
pub(crate) struct Unit<'v, 's, 'u> {
    pub(crate) view: View<'v, 's, 'u>,
    pub(crate) names: FxHashMap<Identity, Vec<Index>>,
    pub(crate) shapes: RefCell<Shapes>,
    pub(crate) places: RefCell<Places<'v, 's, 'u>>,
}

impl<'v, 's, 'u> Unit<'v, 's, 'u> {
    pub(crate) fn new(view: View<'v, 's, 'u>) -> Self {
        let mut names: FxHashMap<Identity, Vec<Index>> = FxHashMap::default();
        for index in 0..view.tree.len() {
            if matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess)
                && let Some(declared) = view.cursor(index).and_then(Cursor::referenced)
            {
                names.entry(declared.identity()).or_default().push(index);
            }
        }
        Self { view, names, shapes: RefCell::default(), places: RefCell::new(Places::new(view.records)) }
    }

    pub(crate) fn shape(&self, ty: Type<'u>) -> ShapeNumber {
        self.shapes.borrow_mut().number(self.view.records, ty)
    }

    pub(crate) fn place(&self, index: Index) -> CodePlace {
        self.view.cursor(index).map(|cursor| self.places.borrow_mut().find(cursor)).unwrap_or_default()
    }
}
