//! Where following begins: conversions of addresses, addresses of members, and the places that other units hand addresses to.

mod attributes;
mod behind;
mod calls;
mod conversions;
mod counterparts;
mod declarations;
mod lambdas;
mod members;
mod numbers;
mod ordered;
mod outside;
mod parts;
mod reader;
mod symbols;
mod unconverted;

pub(crate) use self::calls::maps;
pub(crate) use self::outside::fingerprint;
use self::reader::Reader;
pub(crate) use self::reader::is_open;
use super::facts::{Place, State, UnitFlows};
use super::follow::Follower;
use super::nodes::Unit;
use crate::clang::{Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;
use std::collections::BTreeSet;

/// All that a unit says of addresses.
pub(crate) fn read<'u>(view: View<'_, '_, 'u>, address_size: u64) -> UnitFlows {
    let unit = Unit::new(view, address_size);
    let mut read = Reader::new(&unit);
    for index in 0..view.tree.len() {
        read.node(index);
    }
    read.variables();
    read.ordered_by_library();
    read.defined_elsewhere();
    read.written_behind();
    read.results();
    read.sums();
    read.tables();
    let (read_only, written) = read.keepers();
    let Reader {
        mut departures,
        mut passages,
        given,
        mut defined,
        symbols,
        attributed,
        open,
        numbers,
        assembled,
        mentioned,
        overlaid,
        filed,
        ordered,
        taken,
        lent,
        external,
        types,
        made,
        in_sections,
        ..
    } = read;
    defined.sort_unstable();
    defined.dedup();
    departures.dedup();
    passages.sort_by(|left, right| left.place.cmp(&right.place));
    passages.dedup();
    let shapes = unit.shapes.into_inner().all;
    let (given, symbols) = (given.into_iter().collect(), symbols.into_iter().collect());
    let (attributed, open) = (attributed.into_iter().collect(), open.into_iter().collect());
    let numbers = numbers.into_iter().collect();
    let (assembled, mentioned) = (assembled.into_iter().collect(), mentioned.into_iter().collect());
    let (ordered, taken) = (ordered.into_iter().collect(), taken.into_iter().collect());
    let (lent, external) = (lent.into_iter().collect(), external.into_iter().collect());
    let (types, made) = (types.into_iter().collect(), made.into_iter().collect());
    let in_sections = in_sections.into_iter().collect();
    let (overlaid, filed) = (overlaid.into_iter().collect(), filed.into_iter().collect());
    UnitFlows {
        shapes,
        departures,
        passages,
        symbols,
        attributed,
        open,
        defined,
        numbers,
        assembled,
        mentioned,
        overlaid,
        filed,
        read: read_only,
        written,
        ordered,
        taken,
        lent,
        external,
        types,
        made,
        in_sections,
        given,
    }
}

impl<'u> Reader<'_, '_, '_, 'u> {
    /// Where addresses go that functions give.
    fn results(&mut self) {
        let view = self.unit.view;
        let results = std::mem::take(&mut self.results);
        for (place, nodes) in results {
            for level in 0..=1 {
                let mut follower = Follower::new(self.unit);
                let is_deep = |node: &usize| {
                    let held = view.cursor(*node).and_then(|node| node.ty().pointee());
                    // Any pointer may lead to pointers, too.
                    let may_be = |held: Type<'_>| matches!(held.kind(), TypeKind::Pointer | TypeKind::Void);
                    level == 0 || held.is_some_and(may_be)
                };
                for node in nodes.iter().filter(|node| is_deep(node)) {
                    follower.push(*node, State { level, ..State::PLAIN });
                }
                self.passage(place.clone(), level, follower.run());
            }
        }
    }

    /// Where addresses go that were moved by what parameters and members are given.
    fn sums(&mut self) {
        let mut known: BTreeSet<(Place, Index)> = BTreeSet::new();
        loop {
            let open: Vec<(Place, Index)> = self.unit.sums.borrow().difference(&known).cloned().collect();
            if open.is_empty() {
                return;
            }
            for (place, index) in open {
                let mut follower = Follower::new(self.unit);
                follower.push(index, State::PLAIN);
                let outcome = follower.run();
                self.passage(place.clone(), 0, outcome);
                known.insert((place, index));
            }
        }
    }

    fn node(&mut self, index: Index) {
        self.kept_pointers(index);
        match self.unit.view.tree.kind(index) {
            Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => {
                self.converted(index);
                self.typed_memory(index);
                self.taken_from_list(index);
            }
            Kind::Unary => self.address(index),
            Kind::Binary => {
                self.put_together(index);
                self.numbers_assigned(index);
                self.ordered(index);
            }
            Kind::MemberAccess => {
                self.array(index);
                self.alternative(index);
                self.taken(index);
            }
            Kind::Call => {
                self.call(index);
                self.numbers_of_call(index);
                self.filed(index);
                self.ordered(index);
                self.lent(index);
            }
            Kind::List => {
                self.union_list(index);
                self.unconverted_values(index);
                self.numbers_listed(index);
            }
            Kind::Function | Kind::Template => {
                self.parameters(index);
                self.signature(index);
            }
            Kind::Constructor => self.parameters(index),
            Kind::Asm => self.operands(index),
            Kind::UnexposedDeclaration => self.assembler(index),
            Kind::Union => self.alternatives(index),
            Kind::Name => self.callback(index),
            Kind::Return => self.returned_memory(index),
            Kind::Lambda => self.lambda(index),
            Kind::Variable => {
                self.symbol(index);
                self.placed(index);
            }
            Kind::Attribute => self.attribute(index),
            _ => {}
        }
    }
}
