//! Offsets that are used as numbers: what is right only while a member stands where it does.
//!
//! An offset that is added to an address follows its member. So each one is followed through variables, members and
//! parameters of the unit to what is done with it at last.

use crate::clang::{Cursor, Identity, Kind, Operator, TypeKind};
use crate::demand::Demand;
use crate::records::positions::{Position, positions};
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most nodes that one offset is followed through.
const MOST_STEPS: usize = 2000;

/// All offsets of subjects' members in a unit.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let mut names = None;
    for index in (0..view.tree.len()).filter(|index| view.is_offset_of(*index)) {
        let sum = view.sum(index);
        let member = sum.offsets(true).next().and_then(|path| path.first().copied());
        let Some(part) = member.and_then(|member| view.records.part(member)) else { continue };
        let names = names.get_or_insert_with(|| Names::read(view));
        let mut offset = Offset { view, names, seen: FxHashSet::default(), open: vec![index] };
        if let (Some(used), Some(node)) = (offset.used(), view.cursor(index)) {
            let why = format!("the offset of {} {used}", part.member);
            found.push(Found {
                subject: part.subject,
                node,
                demand: Demand::Offset { member: part.member },
                why,
            });
        }
    }
}

/// The nodes that name each declaration.
#[derive(Default)]
struct Names(FxHashMap<Identity, Vec<Index>>);

impl Names {
    fn read(view: View<'_, '_, '_>) -> Self {
        let mut names = Self::default();
        for index in 0..view.tree.len() {
            if matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess)
                && let Some(declared) = view.cursor(index).and_then(Cursor::referenced)
            {
                names.0.entry(declared.identity()).or_default().push(index);
            }
        }
        names
    }
}

/// An offset on its way.
struct Offset<'o, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    names: &'o Names,
    seen: FxHashSet<Index>,
    open: Vec<Index>,
}

impl<'u> Offset<'_, '_, '_, 'u> {
    /// The first use as a number, as the end of a sentence.
    fn used(&mut self) -> Option<&'static str> {
        while let Some(index) = self.open.pop() {
            if self.seen.len() > MOST_STEPS {
                return Some("goes further than is followed");
            }
            if self.seen.insert(index)
                && let Some(used) = self.step(index)
            {
                return Some(used);
            }
        }
        None
    }

    fn step(&mut self, index: Index) -> Option<&'static str> {
        let tree = self.view.tree;
        let parent = tree.parent(index)?;
        match tree.kind(parent) {
            Kind::Unexposed if self.is_designated(parent) => return self.designated(index, parent),
            Kind::Paren | Kind::Unexposed | Kind::Cast => self.converted(parent),
            Kind::Binary => return self.computed(index, parent),
            Kind::Conditional | Kind::Selection if tree.values(parent).next() != Some(index) => {
                self.open.push(parent);
            }
            Kind::Subscript if tree.values(parent).next() == Some(index) => self.open.push(parent),
            Kind::Subscript => return Some("is the index of a table"),
            Kind::Case => return Some("is a case of a switch"),
            Kind::Switch => return Some("chooses between cases"),
            Kind::List => self.listed(index, parent),
            Kind::Variable => self.follow(self.view.cursor(parent)?),
            Kind::Call => return self.handed(index, parent),
            _ => {}
        }
        None
    }

    /// An offset that becomes an address is no number any more.
    fn converted(&mut self, parent: Index) {
        if self.view.cursor(parent).is_some_and(|parent| parent.ty().kind() != TypeKind::Pointer) {
            self.open.push(parent);
        }
    }

    fn is_designated(&self, index: Index) -> bool {
        let tree = self.view.tree;
        let is_in_list = tree.parent(index).is_some_and(|list| tree.kind(list) == Kind::List);
        is_in_list && !self.view.is_offset_of(index) && tree.children(index).nth(1).is_some()
    }

    /// `.member = offset`, `[offset] = value`
    fn designated(&mut self, index: Index, parent: Index) -> Option<&'static str> {
        let tree = self.view.tree;
        let name = tree.children(parent).filter(|child| tree.kind(*child) == Kind::MemberName).last();
        match name {
            Some(name) => self.follow(self.view.cursor(name)?.referenced()?),
            // An index in front of a value.
            None => {
                return (tree.children(parent).next() == Some(index)).then_some("is the index of a table");
            }
        }
        None
    }

    fn listed(&mut self, index: Index, list: Index) {
        let view = self.view;
        let Some(ty) = view.cursor(list).map(Cursor::ty) else { return };
        if !matches!(ty.kind(), TypeKind::Record | TypeKind::Array) {
            return self.open.push(list);
        }
        let all = positions(view.tree, view.records, list);
        match all.into_iter().find(|(value, _)| *value == index) {
            Some((_, Position::Member(member))) => self.follow(member),
            _ => self.open.push(list),
        }
    }

    fn computed(&mut self, index: Index, parent: Index) -> Option<&'static str> {
        let view = self.view;
        let (left, right) = (view.tree.values(parent).next()?, view.tree.values(parent).nth(1)?);
        let other = if left == index { right } else { left };
        match view.cursor(parent)?.binary_operator() {
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Bits => {
                self.converted(parent)
            }
            Operator::Divide | Operator::Remainder | Operator::ShiftLeft | Operator::ShiftRight => {
                return Some("is computed with");
            }
            Operator::Compare | Operator::Order if self.is_own(other) => {}
            Operator::Compare | Operator::Order => return Some("is compared"),
            Operator::Assign | Operator::Move if left != index => {
                self.follow(view.cursor(view.peeled(left))?.referenced()?);
            }
            _ => {}
        }
        None
    }

    /// Whether a number is an offset, too, or a size.
    fn is_own(&self, index: Index) -> bool {
        let sum = self.view.sum(index);
        sum.has_offsets() || sum.sizes(true).next().is_some()
    }

    fn handed(&mut self, index: Index, call: Index) -> Option<&'static str> {
        let view = self.view;
        let function = view.cursor(call)?.referenced()?;
        let count = usize::try_from(view.cursor(call)?.argument_count()).ok()?;
        let values: Vec<Index> = view.tree.values(call).collect();
        let number = values
            .len()
            .checked_sub(count)
            .and_then(|first| values.get(first..)?.iter().position(|argument| *argument == index))?;
        if function.ty().is_open_function() && number >= function.ty().parameter_count() {
            return function.name().contains("print").then_some("is printed");
        }
        let own = function.definition()?;
        self.follow(own.argument(u32::try_from(number).ok()?)?);
        None
    }

    /// All uses of what the offset is kept in.
    fn follow(&mut self, declared: Cursor<'u>) {
        let named = self.names.0.get(&declared.identity()).into_iter().flatten();
        self.open.extend(named.copied());
    }
}
