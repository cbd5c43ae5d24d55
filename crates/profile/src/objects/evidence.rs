//! What sampled addresses show of objects: an address less the offset the code tells is where an object begins.

use fieldline_typeflow::operands::{Answers, Operand, Reason, Target, TypeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A sample as far as objects go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Data address; 0 if there is none.
    pub address: u64,
    /// Time in nanoseconds; 0 if there is none.
    pub time: u64,
    /// Whose own data it touches where there is such: the CPU's of a kernel, the thread's of a program.
    pub owner: Option<u32>,
}

/// A candidate for an object: samples of one type agree that it begins somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Votes {
    pub samples: u64,
    pub first: u64,
    pub last: u64,
}

impl Votes {
    pub(crate) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Bytes of a page, by which memory is known to be a stack.
pub(super) const PAGE: u64 = 4096;

/// Samples from which on a base is hardly an accident.
const SURE: u64 = 3;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// By type and base.
    pub candidates: FxHashMap<(TypeIndex, u64), Votes>,
    /// By CPU (or thread) and offset of its data.
    per_cpu: BTreeMap<(u32, u64), u64>,
    /// Numbers of pages that hold stacks.
    pub stacks: FxHashSet<u64>,
    /// By type: how far into it samples reached.
    pub reached: FxHashMap<TypeIndex, u64>,
}

impl Evidence {
    /// Takes samples of one address whose operand the code tells; `owner` as in [`Seen`].
    pub(crate) fn add_all(
        &mut self,
        address: u64,
        owner: Option<u32>,
        votes: Votes,
        operand: &Operand<TypeIndex>,
        answers: &Answers,
    ) {
        if address == 0 {
            return;
        }
        let is_struct = |ty| answers.ty(ty).is_some_and(|entry| entry.name.kind.is_some());
        match (operand.fixed, operand.target) {
            (Some(fixed), _) if fixed.per_cpu => {
                if let Some(cpu) = owner {
                    let offset = address.wrapping_sub(fixed.address);
                    *self.per_cpu.entry((cpu, offset)).or_default() += votes.samples;
                }
            }
            (None, Target::Place { ty, offset }) if is_struct(ty) => {
                if let Some(base) = address.checked_sub(offset) {
                    self.candidates.entry((ty, base)).and_modify(|known| known.add(votes)).or_insert(votes);
                    let reached = self.reached.entry(ty).or_default();
                    *reached = offset.saturating_add(u64::from(operand.size)).max(*reached);
                }
            }
            (None, Target::Unknown(Reason::Stack)) => {
                self.stacks.insert(address / PAGE);
            }
            _ => {}
        }
    }

    /// How large objects of a type are: as large as the type, unless they lie closer together and no sample ever reached
    /// into the next. Kernels allocate some structs without a tail the processor doesn't need (`arch_task_struct_size`).
    pub(crate) fn size_of(&self, ty: TypeIndex, size: u64) -> u64 {
        let reached = self.reached.get(&ty).copied().unwrap_or(size);
        let sure = self.candidates.iter().filter(|((of, _), votes)| *of == ty && votes.samples >= SURE);
        let mut bases: Vec<u64> = sure.map(|((_, base), _)| *base).collect();
        bases.sort_unstable();
        let distances = bases.windows(2).filter_map(|pair| pair.last()?.checked_sub(*pair.first()?));
        distances.filter(|distance| *distance >= reached).min().unwrap_or(size).min(size)
    }

    /// Where each CPU's (or thread's) data begins: what most of its samples agree on.
    pub(crate) fn per_cpu_offsets(&self) -> BTreeMap<u32, u64> {
        let mut best: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
        for ((cpu, offset), samples) in &self.per_cpu {
            let (all, most, of_most) = best.entry(*cpu).or_default();
            *all += samples;
            if samples > most {
                (*most, *of_most) = (*samples, *offset);
            }
        }
        let agreed = best.into_iter().filter(|(_, (all, most, _))| most * 2 > *all);
        agreed.map(|(cpu, (.., offset))| (cpu, offset)).collect()
    }
}
