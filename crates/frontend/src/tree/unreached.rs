//! Functions of headers that nothing in a unit leads to.
//!
//! A kernel's unit includes thousands of `static inline` functions and calls some. One unit reads those of a header
//! whole; the others need only what they can run.

use super::{Index, Node, Tree};
use crate::clang::{Cursor, Identity, Kind};
use crate::records::Records;
use crate::report::Places;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

/// Attributes that keep a static function which no code names (GCC manual, Common Function Attributes).
const KEEPING: [&str; 5] = ["used", "retain", "constructor", "destructor", "externally_visible"];

/// Attributes whose arguments name functions.
const NAMING: [&str; 3] = ["cleanup", "alias", "ifunc"];

impl<'u> Tree<'u> {
    /// The tree of a unit in C without the static functions that nothing in it can call, of headers that another unit
    /// reads whole.
    pub(crate) fn without_unreached(
        self,
        records: &Records<'_, 'u>,
        is_read_elsewhere: impl Fn(&Path) -> bool,
    ) -> Self {
        let mut files: FxHashMap<String, bool> = FxHashMap::default();
        let mut is_elsewhere = |function: Cursor<'u>| {
            let file = function.place().file;
            if let Some(known) = files.get(&file) {
                return *known;
            }
            let found = is_read_elsewhere(&records.path(&file));
            files.insert(file, found);
            found
        };
        let mut functions = FxHashMap::default();
        for (index, node) in self.nodes.iter().enumerate() {
            if self.is_static_function(index, node) && is_elsewhere(node.cursor) {
                functions.insert(node.cursor.identity(), index);
            }
        }
        if functions.is_empty() {
            return self;
        }
        let reached = self.reached(&functions, &mut Places::new(records));
        let mut unreached: Vec<Index> = functions.into_values().collect();
        unreached.retain(|index| !reached.contains(index));
        unreached.sort_unstable();
        self.without(&unreached)
    }

    fn is_static_function(&self, index: Index, node: &Node<'u>) -> bool {
        node.kind == Kind::Function
            && node.parent.is_none()
            && !node.cursor.is_in_main_file()
            && !node.cursor.is_shared()
            && self.children(index).any(|child| self.kind(child) == Kind::Block)
    }

    /// Those of the functions, by their first nodes, that code which stays leads to.
    fn reached(
        &self,
        functions: &FxHashMap<Identity, Index>,
        places: &mut Places<'_, '_, 'u>,
    ) -> FxHashSet<Index> {
        let optional: FxHashSet<Index> = functions.values().copied().collect();
        let (mut found, mut open) = (FxHashSet::default(), Vec::new());
        let mut reach = |index: Index, open: &mut Vec<Index>| {
            if found.insert(index) {
                open.push(index);
            }
        };
        for index in self.attributed(&optional, functions, places) {
            reach(index, &mut open);
        }
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if optional.contains(&index) {
                index = node.end.max(index + 1);
                continue;
            }
            self.named(index, functions).into_iter().for_each(|named| reach(named, &mut open));
            index += 1;
        }
        while let Some(function) = open.pop() {
            for index in self.below(function) {
                self.named(index, functions).into_iter().for_each(|named| reach(named, &mut open));
            }
        }
        found
    }

    /// The function that a node names.
    fn named(&self, index: Index, functions: &FxHashMap<Identity, Index>) -> Option<Index> {
        let node = self.get(index).filter(|node| node.kind == Kind::Name)?;
        let function = node.cursor.referenced().filter(|named| named.kind() == Kind::Function)?;
        functions.get(&function.definition()?.identity()).copied()
    }

    /// Functions that attributes keep, or name.
    fn attributed(
        &self,
        optional: &FxHashSet<Index>,
        functions: &FxHashMap<Identity, Index>,
        places: &mut Places<'_, '_, 'u>,
    ) -> Vec<Index> {
        let (mut kept, mut names) = (Vec::new(), FxHashSet::default());
        for node in self.nodes.iter().filter(|node| node.kind == Kind::Attribute) {
            let Some(parent) = node.parent else { continue };
            if !matches!(self.kind(parent), Kind::Function | Kind::Variable) {
                continue;
            }
            let words = places.words(node.cursor);
            let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.trim_matches('_')));
            if optional.contains(&parent) && has(&KEEPING) {
                kept.push(parent);
            }
            if has(&NAMING) {
                names.extend(words.into_iter().map(|word| word.trim_matches('"').to_owned()));
            }
        }
        if !names.is_empty() {
            let is_named =
                |index: &Index| self.get(*index).is_some_and(|own| names.contains(&own.cursor.name()));
            kept.extend(functions.values().copied().filter(is_named));
        }
        kept
    }

    /// The tree without some nodes and all below them. They are in order, none below another.
    fn without(self, removed: &[Index]) -> Self {
        let mut moved = Vec::with_capacity(self.nodes.len() + 1);
        let mut nodes: Vec<Node<'u>> = Vec::new();
        let (mut next, mut end) = (removed.iter().copied().peekable(), 0);
        for (index, node) in self.nodes.iter().enumerate() {
            moved.push(nodes.len());
            if next.next_if_eq(&index).is_some() {
                end = node.end;
            }
            if index >= end {
                nodes.push(*node);
            }
        }
        moved.push(nodes.len());
        let place = |index: Index| moved.get(index).copied().unwrap_or_default();
        for node in &mut nodes {
            node.parent = node.parent.map(place);
            node.end = place(node.end);
        }
        let is_special = |node: &Node<'_>| matches!(node.kind, Kind::Constructor | Kind::Destructor);
        let constructors =
            (0..nodes.len()).filter(|index| nodes.get(*index).is_some_and(is_special)).collect();
        Self { nodes, constructors }
    }
}
