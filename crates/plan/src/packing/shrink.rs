//! Members that are wider than their types' values need, where narrower ones would save a cacheline or a slab class.
//!
//! Claims rest on debug info alone: the enumerators of an enum, and that a `bool` is one bit. Which numbers
//! code stores in other members isn't known, so nothing is said of them.

use fieldline_layout::abi::{self, AbiMember, AbiStruct};
use fieldline_layout::types::{Encoding, Type};
use fieldline_layout::{Layout, TypeId, TypeTable, slab_class};

/// A member that could be narrower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowing {
    /// Index of the member.
    pub member: usize,
    /// Its narrower form.
    pub to: NarrowType,
}

/// Narrower forms of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NarrowType {
    /// An enum in so many bytes.
    Enum {
        /// Bytes that hold its values.
        bytes: u64,
        /// The type and its values, as a phrase.
        evidence: String,
    },
    /// A `bool` as a bit-field beside others.
    Flag,
}

/// The members of a struct whose types have fewer values than their bytes.
#[must_use]
pub fn find_narrowings(table: &TypeTable, id: TypeId) -> Vec<Narrowing> {
    let Some(aggregate) = table.aggregate(id) else { return Vec::new() };
    let present = aggregate.members.iter().filter(|member| !member.is_static).enumerate();
    let narrowing = |(member, declared): (usize, &fieldline_layout::types::MemberDecl)| {
        let to = match table.get(table.strip(declared.ty)) {
            _ if declared.bit_field.is_some() => return None,
            Type::Base(base) if base.encoding == Encoding::Boolean && base.size == 1 => NarrowType::Flag,
            Type::Enum(found) if !found.values.is_empty() && !found.is_declaration => {
                let bytes = bytes_for(found.values.iter().map(|(_, value)| *value));
                let values = found.values.iter().map(|(_, value)| *value);
                let (low, high) = (values.clone().min()?, values.max()?);
                let name =
                    found.name.as_deref().map_or_else(|| "an enum".to_owned(), |name| format!("enum {name}"));
                let evidence = format!("{name} has values {low} to {high}");
                (bytes < found.size).then_some(NarrowType::Enum { bytes, evidence })?
            }
            _ => return None,
        };
        Some(Narrowing { member, to })
    };
    present.filter_map(narrowing).collect()
}

/// Bytes that hold all of some values, also joined as flags.
fn bytes_for(values: impl Iterator<Item = i128>) -> u64 {
    let (mut joined, mut is_signed) = (0_i128, false);
    for value in values {
        is_signed |= value < 0;
        joined |= if value < 0 { !value } else { value };
    }
    let bits = u64::from(128 - joined.leading_zeros()) + u64::from(is_signed);
    [1, 2, 4].into_iter().find(|bytes| bits <= bytes * 8).unwrap_or(8)
}

/// The advice for a struct as a sentence, if narrower members save it a cacheline of `line` bytes or a slab class.
/// `narrowings` name members by their index in the layout.
#[must_use]
pub fn shrink_remark(layout: &Layout, narrowings: &[Narrowing], line: u64) -> Option<String> {
    if layout.is_union() || narrowings.is_empty() || !layout.order.is_declared() {
        return None;
    }
    let rules = abi::infer_abi(layout);
    if rules.place().size != layout.size {
        return None;
    }
    let size = |chosen: &[&Narrowing]| narrowed(&rules, chosen).place().size;
    let rooms = |size: u64| (size.div_ceil(line.max(1)), slab_class(size));
    let is_saved = |size: u64| {
        let (before, after) = (rooms(layout.size), rooms(size));
        after.0 < before.0 || after.1 < before.1
    };
    let all: Vec<&Narrowing> = narrowings.iter().collect();
    let least = rooms(size(&all));
    if !is_saved(size(&all)) {
        return None;
    }
    // Changes that aren't needed for what all of them save are dropped, the last first.
    let mut needed = all.clone();
    for narrowing in all.iter().rev() {
        let without: Vec<&Narrowing> = needed.iter().copied().filter(|other| other != narrowing).collect();
        if rooms(size(&without)) == least {
            needed = without;
        }
    }
    Some(describe(layout, &needed, size(&needed)))
}

/// The placement rules with some members narrower.
fn narrowed(rules: &AbiStruct, chosen: &[&Narrowing]) -> AbiStruct {
    let mut rules = rules.clone();
    for Narrowing { member, to } in chosen {
        let Some(slot) = rules.members.get_mut(*member) else { continue };
        *slot = match to {
            NarrowType::Enum { bytes, .. } => AbiMember::bytes(*bytes, *bytes),
            NarrowType::Flag => AbiMember { bit_size: 1, align: 1, bit_field_storage: Some(8), skip: 0 },
        };
    }
    rules
}

fn describe(layout: &Layout, needed: &[&Narrowing], size: u64) -> String {
    let label = |index: usize| layout.members.get(index).map_or("", |member| member.label()).to_owned();
    let enums = needed.iter().filter_map(|narrowing| match &narrowing.to {
        NarrowType::Enum { bytes, evidence } => {
            let plural = if *bytes == 1 { "" } else { "s" };
            Some(format!("{} took {bytes} byte{plural} ({evidence})", label(narrowing.member)))
        }
        NarrowType::Flag => None,
    });
    let flags = needed.iter().filter(|narrowing| narrowing.to == NarrowType::Flag);
    let flags: Vec<String> = flags.map(|narrowing| label(narrowing.member)).collect();
    let flags = (!flags.is_empty()).then(|| format!("{} (bool) were bit-fields", flags.join(", ")));
    let changes: Vec<String> = enums.chain(flags).collect();
    let classes = (slab_class(layout.size), slab_class(size));
    let class = match classes.0 == classes.1 {
        true => String::new(),
        false => format!(" (kmalloc class {} -> {})", classes.0, classes.1),
    };
    format!(
        "could shrink: {} -> {size} bytes{class} if {}; that rests on the types in debug info, not on what code stores, \
         and bit-fields of a byte are written together",
        layout.size,
        changes.join(", and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::testing::numbered;

    fn narrow(member: usize, bytes: u64) -> Narrowing {
        let evidence = "enum mode has values 0 to 3".to_owned();
        Narrowing { member, to: NarrowType::Enum { bytes, evidence } }
    }

    #[test]
    fn remarks_are_of_changes_that_save_a_line_or_a_class() {
        // 68 bytes, rounded up to 72: one word more than a line.
        let words = [(8, 8); 8];
        let layout = numbered("queue", &[&[(1, 1), (1, 1), (4, 4)][..], &words[1..], &[(4, 4)][..]].concat());
        assert_eq!(layout.size, 72);
        let flags = [0, 1].map(|member| Narrowing { member, to: NarrowType::Flag });
        assert_eq!(shrink_remark(&layout, &flags, 64), None, "the hole behind them stays");
        let enums = [narrow(2, 1), narrow(10, 1)];
        let remark = shrink_remark(&layout, &[&flags[..], &enums[..]].concat(), 64);
        assert_eq!(remark, None, "the last member still takes a word");
        let small = numbered("queue", &[&[(4, 4), (4, 4)][..], &words[1..], &[(4, 4)][..]].concat());
        assert_eq!(small.size, 72);
        let remark = shrink_remark(&small, &[narrow(0, 1), narrow(1, 1)], 64);
        assert_eq!(remark, None, "what is freed in front is a hole");
        let tail = numbered("queue", &[&words[1..], &[(4, 4), (4, 4), (4, 4)][..]].concat());
        let remark = shrink_remark(&tail, &[narrow(7, 1), narrow(8, 1), narrow(9, 1)], 64).unwrap();
        assert!(
            remark.starts_with("could shrink: 72 -> 64 bytes (kmalloc class 96 -> 64) if m7 took"),
            "{remark}"
        );
        assert!(!remark.contains("m9"), "two changes do: {remark}");
    }

    #[test]
    fn values_joined_as_flags_fit() {
        assert_eq!(bytes_for([0, 1, 2, 3].into_iter()), 1);
        assert_eq!(bytes_for([0x80, 0x100].into_iter()), 2);
        assert_eq!(bytes_for([-1, 127].into_iter()), 1);
        assert_eq!(bytes_for([-1, 128].into_iter()), 2);
        assert_eq!(bytes_for([0x7fff_ffff, -0x8000_0000].into_iter()), 4);
    }
}
