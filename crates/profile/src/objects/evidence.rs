//! Objects that sampled addresses show: an object begins at the address less the offset of the operand.

use crate::addresses::{LoadBias, TaggedAddress};
use fieldline_typeflow::operands::{Operand, ProgramOperands, Reason, Target, TypeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A sampled address, its time and CPU or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservedAddress {
    pub address: TaggedAddress,
    /// Time in nanoseconds.
    pub time: u64,
    /// Whose own data it touches where there is such: the CPU's of a kernel, the thread's of a program.
    pub owner: Option<u32>,
}

/// Samples that agree on the base of an object, with the first and last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservedSpan {
    pub samples: u64,
    pub first: u64,
    pub last: u64,
}

impl ObservedSpan {
    pub(crate) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Bytes of a page, by which memory is known to be a stack.
pub(super) const PAGE: u64 = 4096;

/// Samples that make a base certain.
const MIN_SAMPLES: u64 = 3;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// By type and base.
    pub bases: FxHashMap<(TypeIndex, TaggedAddress), ObservedSpan>,
    /// Samples by CPU (or thread) and load bias of its data.
    per_cpu: BTreeMap<(u32, LoadBias), u64>,
    /// Numbers of pages that hold stacks.
    pub stacks: FxHashSet<u64>,
    /// By type: how far into it samples reached.
    pub reached: FxHashMap<TypeIndex, u64>,
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
        let is_struct = |ty| answers.type_entry(ty).is_some_and(|entry| entry.name.kind.is_some());
        match (operand.fixed_address, operand.target) {
            (Some(fixed), _) if fixed.per_cpu => {
                if let Some(cpu) = owner {
                    let load_bias = LoadBias::of_variable(fixed.address, address);
                    *self.per_cpu.entry((cpu, load_bias)).or_default() += span.samples;
                }
            }
            (None, Target::Exact { ty, offset }) if is_struct(ty) => {
                if let Some(base) = address.checked_sub(offset) {
                    self.bases.entry((ty, base)).and_modify(|known| known.add(span)).or_insert(span);
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
    /// (`arch_task_struct_size`).
    pub(crate) fn object_size(&self, ty: TypeIndex, size: u64) -> u64 {
        let reached = self.reached.get(&ty).copied().unwrap_or(size);
        let confirmed = self
            .bases
            .iter()
            .filter(|((base_type, _), span)| *base_type == ty && span.samples >= MIN_SAMPLES);
        let mut bases: Vec<TaggedAddress> = confirmed.map(|((_, base), _)| *base).collect();
        bases.sort_unstable();
        let distances = bases.windows(2).filter_map(|pair| pair.last()?.bytes_from(*pair.first()?));
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
