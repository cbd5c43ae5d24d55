//! Functions that are made from templates, as they are made: the front end shows templates as they are written, but each
//! use of one leads to the function it becomes, whose types are known.

use super::{Index, Library, Tree, close};
use crate::clang::{Cursor, Kind, ParsedUnit, below};
use rustc_hash::FxHashSet;

/// Most functions that are made from templates in a unit. A unit with more is not known.
pub(crate) const MOST: usize = 60_000;

impl<'u> Tree<'u> {
    /// The unit's nodes, and those of the library's functions that it makes from templates.
    pub(crate) fn read(unit: &'u ParsedUnit) -> (Self, Library<'u>) {
        let (mut tree, mut path) = (Self::default(), Vec::new());
        unit.walk(|cursor, depth| tree.append(cursor, depth, &mut path));
        close(&mut tree.nodes, &mut path, 0);
        let mut library = add(&mut tree);
        tree.hide_types();
        library.tree.hide_types();
        (tree, library)
    }
}

/// Appends the program's own, and gives the library's.
fn add<'u>(tree: &mut Tree<'u>) -> Library<'u> {
    let (mut library, mut seen) = (Library::default(), FxHashSet::default());
    let (mut read, mut library_read) = (0, 0);
    loop {
        let (function, by) = if let Some(node) = tree.nodes.get(read) {
            read += 1;
            (made(node.kind, node.cursor), node.cursor)
        } else if let Some(node) = library.tree.nodes.get(library_read) {
            library_read += 1;
            (made(node.kind, node.cursor), library.needed_by(library_read - 1).unwrap_or(node.cursor))
        } else {
            break;
        };
        let Some(function) = function.filter(|function| seen.insert(function.identity())) else { continue };
        if seen.len() > MOST {
            library.is_cut = true;
            break;
        }
        if function.is_of_system() {
            library.needed.push((library.tree.nodes.len(), by));
            append(&mut library.tree, function);
        } else {
            append(tree, function);
        }
    }
    library
}

/// The function or variable, made from a template, that a node uses.
fn made<'u>(kind: Kind, node: Cursor<'u>) -> Option<Cursor<'u>> {
    if !matches!(kind, Kind::Name | Kind::MemberAccess | Kind::Call) {
        return None;
    }
    let used = node.referenced()?;
    let is_made = match used.kind() {
        Kind::Function | Kind::Constructor | Kind::Destructor | Kind::Variable => used.template().is_some(),
        _ => false,
    };
    is_made.then(|| used.definition().unwrap_or(used))
}

fn append<'u>(tree: &mut Tree<'u>, function: Cursor<'u>) {
    let mut path: Vec<Index> = Vec::new();
    tree.append(function, 0, &mut path);
    below(function, |cursor, depth| tree.append(cursor, depth + 1, &mut path));
    close(&mut tree.nodes, &mut path, 0);
}
