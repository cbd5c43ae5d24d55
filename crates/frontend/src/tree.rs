//! A unit's syntax tree as a list of nodes, with what its templates become behind it.

mod instances;
mod unreached;

pub(crate) use instances::MOST as MOST_INSTANCES;

use crate::clang::{Cursor, Kind};

/// The number of a node.
pub(crate) type Index = usize;

/// A node and its place in the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'u> {
    pub(crate) cursor: Cursor<'u>,
    pub(crate) kind: Kind,
    parent: Option<Index>,
    /// The first node behind it that doesn't stand below it.
    end: Index,
}

/// All nodes, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Tree<'u> {
    nodes: Vec<Node<'u>>,
    /// Constructors and destructors.
    constructors: Vec<Index>,
}

/// Functions that templates of libraries become.
#[derive(Debug, Default)]
pub(crate) struct Library<'u> {
    pub(crate) tree: Tree<'u>,
    /// The first node of each function, with the program's node that needs it.
    pub(crate) needed: Vec<(Index, Cursor<'u>)>,
    /// Whether a unit's templates become more functions than are read.
    pub(crate) is_cut: bool,
}

impl<'u> Library<'u> {
    /// The program's node that a node is there for.
    pub(crate) fn needed_by(&self, index: Index) -> Option<Cursor<'u>> {
        let behind = self.needed.partition_point(|(first, _)| *first <= index);
        self.needed.get(behind.checked_sub(1)?).map(|(_, node)| *node)
    }
}

impl<'u> Tree<'u> {
    /// One node of a walk.
    fn append(&mut self, cursor: Cursor<'u>, depth: usize, path: &mut Vec<Index>) {
        close(&mut self.nodes, path, depth);
        let node = Node { cursor, kind: cursor.kind(), parent: path.last().copied(), end: 0 };
        let index = self.nodes.len();
        self.constructors.extend(matches!(node.kind, Kind::Constructor | Kind::Destructor).then_some(index));
        path.push(index);
        self.nodes.push(node);
    }

    /// Takes names in types from the values: `(typeof(x) *)&x` and `typeof(x) *y = &x` ask `x` for its type alone.
    fn hide_types(&mut self) {
        let tree = &*self;
        let hidden = |index: Index| {
            let value = tree.children(index).last().filter(|_| tree.has_value(index));
            tree.children(index).filter(move |child| Some(*child) != value && !tree.is_attribute(*child))
        };
        let with_types = (0..tree.len()).filter(|index| tree.has_values_in_type(*index));
        let hidden: Vec<(Index, Index)> =
            with_types.flat_map(hidden).map(|first| (first, tree.below(first).end)).collect();
        for (first, end) in hidden {
            let nodes = self.nodes.get_mut(first..end).unwrap_or_default();
            // Offsets and sizes in a type count: `(char (*)[offsetof(T, m)])x`.
            let named = nodes.iter_mut().filter(|node| matches!(node.kind, Kind::Name | Kind::MemberAccess));
            named.for_each(|node| node.kind = Kind::TypeName);
        }
    }

    fn is_attribute(&self, index: Index) -> bool {
        matches!(self.kind(index), Kind::Attribute | Kind::Packed)
    }

    /// Whether a node's type may be written with values that are not the node's.
    fn has_values_in_type(&self, index: Index) -> bool {
        let Some(node) = self.get(index) else { return false };
        match node.kind {
            Kind::Cast => true,
            // The length of an array is none of them.
            Kind::Variable => {
                self.children(index).nth(usize::from(node.cursor.is_initialized())).is_some()
                    && node.cursor.ty().element().is_none()
                    && node.cursor.ty().spelling().contains("typeof")
            }
            _ => false,
        }
    }

    /// Whether the last node below a cast or a variable is its value.
    fn has_value(&self, index: Index) -> bool {
        self.kind(index) == Kind::Cast || self.get(index).is_some_and(|node| node.cursor.is_initialized())
    }

    /// Constructors and destructors, in order.
    pub(crate) fn constructors(&self) -> &[Index] {
        &self.constructors
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn get(&self, index: Index) -> Option<&Node<'u>> {
        self.nodes.get(index)
    }

    pub(crate) fn kind(&self, index: Index) -> Kind {
        self.get(index).map_or(Kind::Other, |node| node.kind)
    }

    pub(crate) fn parent(&self, index: Index) -> Option<Index> {
        self.get(index)?.parent
    }

    pub(crate) fn children(&self, index: Index) -> impl Iterator<Item = Index> + '_ {
        let end = self.get(index).map_or(0, |node| node.end);
        let first = Some(index + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| {
            self.get(*child).map(|node| node.end).filter(|next| *next < end)
        })
    }

    /// Children that are values: no names or declarations of types, nor parameters of functions' types, nor numbers in
    /// the type of a cast.
    pub(crate) fn values(&self, index: Index) -> impl Iterator<Item = Index> + '_ {
        let is_cast = self.kind(index) == Kind::Cast;
        let cast = if is_cast { self.children(index).last() } else { None };
        self.children(index).filter(move |child| {
            let kind = self.kind(*child);
            if is_cast && Some(*child) != cast {
                return false;
            }
            !matches!(
                kind,
                Kind::TypeName
                    | Kind::Parameter
                    | Kind::Record
                    | Kind::Union
                    | Kind::Enumeration
                    | Kind::Attribute
            )
        })
    }

    /// All nodes below one.
    pub(crate) fn below(&self, index: Index) -> std::ops::Range<Index> {
        index + 1..self.get(index).map_or(0, |node| node.end)
    }

    /// The only value below a node.
    pub(crate) fn only(&self, index: Index) -> Option<Index> {
        let mut values = self.values(index);
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }
}

/// Ends the nodes at a depth and below it.
fn close(nodes: &mut [Node<'_>], path: &mut Vec<Index>, depth: usize) {
    let end = nodes.len();
    for index in path.drain(depth.min(path.len())..) {
        if let Some(node) = nodes.get_mut(index) {
            node.end = end;
        }
    }
}
