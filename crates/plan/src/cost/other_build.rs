//! The structs as other compilers laid them out: the same source under another configuration or for another
//! machine.
//!
//! Members are matched by name. One that is absent there was left out by `#if` and takes no room. One that
//! exists only there follows the member declared before it, by the lines of debug info, even if that one is
//! absent there; without lines, the member it is declared behind. An anonymous aggregate is matched by the
//! names it holds, which are unique within a struct (C11 section 6.7.2.1). Where that is ambiguous, the build
//! isn't judged.

use crate::cost::BuildPlacement;
use crate::visits::{TouchedRange, TouchedRanges};
use fieldline_layout::abi::{self, AbiMember, AbiStruct};
use fieldline_layout::constraint::{Constraints, Unit};
use fieldline_layout::{Layout, Member};
use std::collections::{BTreeMap, BTreeSet};

/// How deep members are compared.
const MAX_DEPTH: u32 = 16;

/// Another build of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlternateBuild {
    /// Its name in results.
    pub name: String,
    /// Cacheline size in bytes it was compiled for.
    pub line: u64,
    /// Size of a pointer in bytes.
    pub pointer: u64,
    /// The structs it has.
    pub layouts: Vec<Layout>,
}

/// Why orders can't be judged in another build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildMismatch {
    /// It doesn't have the struct.
    #[error("it has no struct {0}")]
    Missing(String),
    /// Two members share a name.
    #[error("it has two members {0}")]
    Doubled(String),
    /// Anonymous members can't be matched.
    #[error("none of its members matches the anonymous one at byte {0} unambiguously")]
    Anonymous(u64),
    /// The same members are declared in another order.
    #[error("it declares {0} in another place, so it is no build of the same source")]
    Order(String),
    /// No placement rule gives its offsets.
    #[error("its offsets follow no placement rule")]
    Unexplained,
    /// It has none of the members.
    #[error("it has none of the members")]
    Nothing,
}

/// A struct in another build, matched with the declared one.
#[derive(Clone, Debug)]
pub struct MatchedStruct<'a> {
    declared: &'a Layout,
    other: &'a Layout,
    /// By declared index, the index there.
    pairs: Vec<Option<usize>>,
    slots: AbiStruct,
}

impl<'a> MatchedStruct<'a> {
    /// Matches the members of a declared struct, compiled for lines of `build_line` bytes, with those it has
    /// in another build for lines of `line` bytes.
    ///
    /// # Errors
    /// If members can't be matched, or the other compiler's placement can't be explained.
    pub fn new(
        declared: &'a Layout,
        build_line: u64,
        other: &'a Layout,
        line: u64,
    ) -> Result<Self, BuildMismatch> {
        let pairs = match_members(&declared.members, &other.members)?;
        let mut last = None;
        for (member, pair) in declared.members.iter().zip(&pairs) {
            if pair.is_some() && *pair < last {
                return Err(BuildMismatch::Order(member.label().to_owned()));
            }
            last = pair.or(last);
        }
        let here = abi::infer_abi(declared);
        let mut slots = abi::infer_abi(other);
        let line_aligned = pairs.iter().zip(&here.members).filter(|(_, slot)| slot.align == build_line);
        let line_aligned: Vec<usize> = line_aligned.filter_map(|(pair, _)| *pair).collect();
        abi::raise_to_line(&mut slots, other, line, &line_aligned, here.struct_align == build_line);
        if !abi::reproduces(&slots, other) {
            return Err(BuildMismatch::Unexplained);
        }
        Ok(Self { declared, other, pairs, slots })
    }

    /// By declared index, the index of the member there.
    pub fn pairs(&self) -> &[Option<usize>] {
        &self.pairs
    }

    /// Declared indices of members that aren't there.
    pub fn absent(&self) -> Vec<usize> {
        (0..self.pairs.len()).filter(|index| self.pairs[*index].is_none()).collect()
    }

    /// Names of members that are there only.
    pub fn extra(&self) -> Vec<String> {
        let known: BTreeSet<usize> = self.pairs.iter().flatten().copied().collect();
        let members = (0..).zip(&self.other.members).filter(|(index, _)| !known.contains(index));
        members.map(|(_, member)| member.label().to_owned()).collect()
    }

    /// The build by which orders of the units are judged.
    pub fn build(&self, constraints: &Constraints, ranges: &TouchedRanges, line: u64) -> BuildPlacement {
        let by_unit = self.by_unit(constraints);
        let units = &constraints.units;
        let range_bits =
            |range: &TouchedRange| self.range_bits(&units[range.unit], &by_unit[range.unit], range);
        let slots = by_unit.iter().map(|members| self.unit_slots(members));
        let bits = ranges.iter().map(range_bits).collect();
        BuildPlacement::from_slots(&self.slots, slots.collect(), line, Some(bits))
    }

    /// By unit, the members that move with it there: its own, and those only there that follow one of its
    /// own.
    fn by_unit(&self, constraints: &Constraints) -> Vec<Vec<usize>> {
        let unit_of = |index: usize| constraints.units.iter().position(|unit| unit.members.contains(&index));
        let pairs = self.pairs.iter().enumerate();
        let pairs = pairs.filter_map(|(here, there)| Some(((*there)?, unit_of(here)?)));
        let units: BTreeMap<usize, usize> = pairs.collect();
        let mut by_unit = vec![Vec::new(); constraints.units.len()];
        let mut unit = units.values().next().copied().unwrap_or(0);
        for (there, member) in self.other.members.iter().enumerate() {
            let own = units.get(&there).copied();
            let preceding = || self.preceding_member(member).and_then(unit_of);
            unit = own.or_else(preceding).unwrap_or(unit);
            by_unit[unit].push(there);
        }
        by_unit
    }

    /// The declared member in front of one there, by lines of debug info.
    fn preceding_member(&self, member: &Member) -> Option<usize> {
        let mut pairs = self.declared.members.iter().zip(&self.pairs);
        let is_same_text = pairs.all(|(here, there)| {
            there.and_then(|there| self.other.members.get(there)).is_none_or(|there| here.line == there.line)
        });
        let declared = self.declared.members.iter().map(|member| member.line);
        is_same_text.then(|| find_preceding(declared, member.line))?
    }

    /// A unit's slots. Where it begins with a member that is there only, that one takes the strictest
    /// alignment of all, so that the others keep their distance from it wherever the unit begins.
    fn unit_slots(&self, members: &[usize]) -> Vec<AbiMember> {
        let mut slots: Vec<AbiMember> = members.iter().map(|there| self.slots.members[*there]).collect();
        let starts_with_extra = members.first().is_some_and(|first| !self.pairs.contains(&Some(*first)));
        let align = slots.iter().map(|slot| slot.align).max();
        if let (true, Some(align), Some(first)) = (starts_with_extra, align, slots.first_mut()) {
            first.align = align;
        }
        slots
    }

    /// Whether a unit has the same members there, with equal sizes and distances.
    fn is_congruent(&self, here: &[usize], there: &[usize]) -> bool {
        let bits = |member: &Member| (member.bit_offset, member.bit_size);
        let mut shift = None;
        let mut pairs = here.iter().zip(there).map(|(here, there)| {
            let (from, size) = bits(self.declared.members.get(*here)?);
            let (to, other) = bits(self.other.members.get(*there)?);
            let is_pair = self.pairs.get(*here) == Some(&Some(*there));
            let moved = to.wrapping_sub(from);
            Some(is_pair && size == other && *shift.get_or_insert(moved) == moved)
        });
        here.len() == there.len() && pairs.all(|is_equal| is_equal == Some(true))
    }

    /// The bits of a touched range there, from the start of its unit there.
    fn range_bits(&self, unit: &Unit, there: &[usize], range: &TouchedRange) -> Option<(u64, u64)> {
        let unit = &unit.members;
        if self.is_congruent(unit, there) {
            return Some((range.start * 8, (range.start + range.size) * 8));
        }
        let bits = (range.offset * 8, (range.offset + range.size) * 8);
        let touched = unit.iter().filter_map(|index| {
            let there = self.other.members.get((*self.pairs.get(*index)?)?)?;
            map_bits(self.declared.members.get(*index)?, there, bits, MAX_DEPTH)
        });
        let hull = touched.reduce(hull)?;
        let base = self.other.members.get(*there.first()?)?.bit_offset;
        Some((hull.0.saturating_sub(base), hull.1.saturating_sub(base)))
    }
}

/// The member declared last before a line, by the members' lines as far as they are known.
pub fn find_preceding(lines: impl Iterator<Item = Option<u32>>, line: Option<u32>) -> Option<usize> {
    let known = lines.enumerate().filter(|(_, other)| other.is_some() && *other < line);
    known.max_by_key(|(index, other)| (*other, *index)).map(|(index, _)| index)
}

fn hull(this: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (this.0.min(other.0), this.1.max(other.1))
}

/// The bits of a member there that are the bits `start..end` of it here: the same ones if it is equally
/// large, those of the members inside that are touched if it holds some, else all of it. `None` if it isn't
/// touched.
fn map_bits(here: &Member, there: &Member, (start, end): (u64, u64), depth: u32) -> Option<(u64, u64)> {
    let (start, end) = (start.max(here.bit_offset), end.min(here.bit_end()));
    let whole = (there.bit_offset, there.bit_end());
    if start >= end || whole.0 >= whole.1 {
        return None;
    }
    if here.bit_size == there.bit_size {
        let shift = |bit: u64| bit - here.bit_offset + there.bit_offset;
        return Some((shift(start), shift(end)));
    }
    let inside = here.members.iter().filter_map(|inner| {
        let there = there.members.iter().find(|other| other.name.is_some() && other.name == inner.name)?;
        if depth == 0 { None } else { map_bits(inner, there, (start, end), depth - 1) }
    });
    Some(inside.reduce(hull).unwrap_or(whole))
}

/// Matches declared members with those there.
fn match_members(declared: &[Member], other: &[Member]) -> Result<Vec<Option<usize>>, BuildMismatch> {
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, member) in other.iter().enumerate() {
        for name in collect_names(member, MAX_DEPTH) {
            if by_name.insert(name, index).is_some() {
                return Err(BuildMismatch::Doubled(name.to_owned()));
            }
        }
    }
    let mut taken = BTreeSet::new();
    let pairs = declared.iter().map(|member| match find_counterpart(member, other, &by_name)? {
        Some(index) if !taken.insert(index) => Err(BuildMismatch::Doubled(other[index].label().to_owned())),
        pair => Ok(pair),
    });
    let pairs: Vec<Option<usize>> = pairs.collect::<Result<_, _>>()?;
    if pairs.iter().all(Option::is_none) { Err(BuildMismatch::Nothing) } else { Ok(pairs) }
}

/// The member there that holds a declared one's names.
fn find_counterpart(
    member: &Member,
    other: &[Member],
    by_name: &BTreeMap<&str, usize>,
) -> Result<Option<usize>, BuildMismatch> {
    let own = collect_names(member, MAX_DEPTH);
    let mut found: BTreeSet<usize> = own.iter().filter_map(|name| by_name.get(name).copied()).collect();
    if own.is_empty() {
        // The only member there without any name and with the same type.
        let same = other.iter().enumerate().filter(|(_, other)| {
            collect_names(other, MAX_DEPTH).is_empty()
                && (&other.type_name, other.bit_size) == (&member.type_name, member.bit_size)
        });
        found = same.map(|(index, _)| index).collect();
    }
    let is_same_kind = |index: &usize| other[*index].name.is_some() == member.name.is_some();
    match found.first() {
        Some(_) if found.len() > 1 || !found.iter().all(is_same_kind) => {
            Err(BuildMismatch::Anonymous(member.offset()))
        }
        found => Ok(found.copied()),
    }
}

/// The names a member gives the struct: its own, or those inside an anonymous one.
fn collect_names(member: &Member, depth: u32) -> Vec<&str> {
    match &member.name {
        Some(name) => vec![name],
        None if depth == 0 => Vec::new(),
        None => member.members.iter().flat_map(|inner| collect_names(inner, depth - 1)).collect(),
    }
}

#[cfg(test)]
mod tests;
