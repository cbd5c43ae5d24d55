//! Objects that sampled addresses show: an object begins at the address less the offset of the operand.

use crate::addresses::{LoadBias, TaggedAddress};
use fieldline_typeflow::operands::{Operand, ProgramOperands, Reason, Target, TypeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A sampled address, the object taken to be there, and CPU or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservedAddress {
    pub address: TaggedAddress,
    /// Of objects that exclude each other: the one sampled nearest in time.
    pub nearest: Option<ObjectId>,
    /// Whose own data it touches where there is such: the CPU's of a kernel, the thread's of a program.
    pub owner: Option<u32>,
}

/// An index of an object, in [`KnownObjects`](super::KnownObjects).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub u32);

/// Number of samples, with the first and last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservedSpan {
    pub samples: u64,
    pub first: u64,
    pub last: u64,
}

impl ObservedSpan {
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
        self.last < other.first || other.last < self.first
    }

    /// Distance of a time from the time in which samples were taken.
    pub(crate) fn distance(&self, time: u64) -> u64 {
        self.first.saturating_sub(time).max(time.saturating_sub(self.last))
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Samples that agree on the base of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservedBase {
    pub span: ObservedSpan,
    /// The lowest and the highest offset at which an access began.
    pub offsets: (u64, u64),
}

/// Bytes of a page, by which memory is known to be a stack.
pub(super) const PAGE: u64 = 4096;

/// Samples that make a base certain.
const MIN_SAMPLES: u64 = 3;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// By type and base.
    pub bases: FxHashMap<(TypeIndex, TaggedAddress), ObservedBase>,
    /// Samples by CPU (or thread) and load bias of its data.
    per_cpu: BTreeMap<(u32, LoadBias), u64>,
    /// Numbers of pages that hold stacks.
    pub stacks: FxHashSet<u64>,
    /// By type: how far into it samples reached.
    pub reached: FxHashMap<TypeIndex, u64>,
}

impl ObservedBase {
    fn add(&mut self, other: Self) {
        self.span.add(other.span);
        self.offsets.0 = self.offsets.0.min(other.offsets.0);
        self.offsets.1 = self.offsets.1.max(other.offsets.1);
    }
}

/// Type and base of the object that an operand shows, if it shows one.
pub(crate) fn observed_object(
    address: TaggedAddress,
    operand: &Operand<TypeIndex>,
    answers: &ProgramOperands,
) -> Option<(TypeIndex, TaggedAddress)> {
    let (None, Target::Exact { ty, offset }) = (operand.fixed_address, operand.target) else { return None };
    let is_struct = answers.type_entry(ty).is_some_and(|entry| entry.name.kind.is_some());
    address.checked_sub(offset).filter(|_| is_struct).map(|base| (ty, base))
}

impl Evidence {
    /// Adds samples of one address with their operand; `owner` as in [`ObservedAddress`].
    pub(crate) fn add_all(
        &mut self,
        address: TaggedAddress,
        owner: Option<u32>,
        span: ObservedSpan,
        operand: &Operand<TypeIndex>,
        answers: &ProgramOperands,
    ) {
        match (operand.fixed_address, operand.target) {
            (Some(fixed), _) if fixed.per_cpu => {
                if let Some(cpu) = owner {
                    let load_bias = LoadBias::of_variable(fixed.address, address);
                    *self.per_cpu.entry((cpu, load_bias)).or_default() += span.samples;
                }
            }
            (None, Target::Exact { offset, .. }) => {
                if let Some((ty, base)) = observed_object(address, operand, answers) {
                    let new = ObservedBase { span, offsets: (offset, offset) };
                    self.bases.entry((ty, base)).and_modify(|known| known.add(new)).or_insert(new);
                    let reached = self.reached.entry(ty).or_default();
                    *reached = offset.saturating_add(u64::from(operand.size)).max(*reached);
                }
            }
            (None, Target::Unknown(Reason::Stack)) => {
                self.stacks.insert(address.0 / PAGE);
            }
            _ => {}
        }
    }

    /// How large objects of a type are: as large as the type, unless they lie closer together and no sample
    /// ever reached into the next. Kernels allocate some structs without a tail the processor doesn't need
    /// (`arch_task_struct_size`). Objects that were there at different times tell nothing.
    pub(crate) fn object_size(&self, ty: TypeIndex, size: u64) -> u64 {
        let reached = self.reached.get(&ty).copied().unwrap_or(size);
        let confirmed = self
            .bases
            .iter()
            .filter(|((base_type, _), seen)| *base_type == ty && seen.span.samples >= MIN_SAMPLES);
        let mut bases: Vec<_> = confirmed.map(|((_, base), seen)| (*base, seen.span)).collect();
        bases.sort_unstable_by_key(|(base, _)| *base);
        let distances = bases.windows(2).filter_map(|pair| {
            let [(base, span), (next, next_span)] = pair else { return None };
            next.bytes_from(*base).filter(|_| !span.is_apart_from(next_span))
        });
        distances.filter(|distance| *distance >= reached).min().unwrap_or(size).min(size)
    }

    /// The load bias of each CPU's (or thread's) data, by majority of its samples.
    pub(crate) fn per_cpu_biases(&self) -> BTreeMap<u32, LoadBias> {
        let mut best: BTreeMap<u32, (u64, u64, LoadBias)> = BTreeMap::new();
        for ((cpu, load_bias), samples) in &self.per_cpu {
            let (all, most, most_common) = best.entry(*cpu).or_default();
            *all += samples;
            if samples > most {
                (*most, *most_common) = (*samples, *load_bias);
            }
        }
        let majority = best.into_iter().filter(|(_, (all, most, _))| most * 2 > *all);
        majority.map(|(cpu, (.., load_bias))| (cpu, load_bias)).collect()
    }
}
