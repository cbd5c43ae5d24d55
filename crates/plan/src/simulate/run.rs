//! A run over recorded accesses, counted by blocks of them.

use crate::simulate::relocation::{
    Rearrangement, RelocatedAddress, Relocation, SharedAllocation, TraceObject,
};
use crate::simulate::trace::TraceAccesses;
use fieldline_cachemodel::{Hierarchy, ServedLevel};

/// Most lines of an object that a visit distinguishes; members beyond count with the last.
const MAX_LINES: u64 = 128;
/// From this number on, lines are those of an object's second allocation.
const SECOND: u64 = 64;
/// Odd multipliers (golden ratio of 2^64, primes of xxHash) that hash lines to sets; counts are means over
/// them.
const HASH_MULTIPLIERS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0xd6e8_feb8_6659_fd93];

/// The machine that is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedMachine {
    /// CPUs, at most [`fieldline_cachemodel::MAX_CPUS`].
    pub cpus: usize,
    /// Bytes of a line.
    pub line: u64,
    /// Bytes of the first, second and shared level.
    pub sizes: [u64; 3],
    /// A visit of an object ends when its CPU has made so many accesses elsewhere.
    pub gap: u64,
    /// Accesses in a block.
    pub block: u64,
}

/// Counts of one struct, or of everything else. Misses are means over four hash functions from lines to sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplayCounts {
    /// Accesses.
    pub accesses: u64,
    /// Visits that ended.
    pub visits: u64,
    /// Lines they touched.
    pub lines: u64,
    /// Visits that touched more lines than they would if their object began on one.
    pub costlier: u64,
    /// Accesses that missed the CPU's first level.
    pub first_misses: f64,
    /// Accesses that missed the CPU's own caches, or had to ask before they could write.
    pub private_misses: f64,
    /// Accesses served by memory.
    pub memory: f64,
    /// Accesses served by another CPU that had written the line.
    pub modified: f64,
}

impl ReplayCounts {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.visits += other.visits;
        self.lines += other.lines;
        self.costlier += other.costlier;
        self.first_misses += other.first_misses;
        self.private_misses += other.private_misses;
        self.memory += other.memory;
        self.modified += other.modified;
    }

    fn count(&mut self, outcome: ServedLevel, share: f64) {
        let share_if = |is_so: bool| if is_so { share } else { 0.0 };
        self.first_misses += share_if(outcome > ServedLevel::First);
        self.private_misses += share_if(outcome > ServedLevel::Second);
        self.memory += share_if(outcome == ServedLevel::Memory);
        self.modified += share_if(outcome == ServedLevel::Modified);
    }
}

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulation {
    /// By block of the trace: one for each struct, then one for all else.
    pub blocks: Vec<Vec<ReplayCounts>>,
}

impl Simulation {
    /// Sums over all blocks: one for each struct, then one for all else.
    pub fn totals(&self) -> Vec<ReplayCounts> {
        let mut totals = vec![ReplayCounts::default(); self.blocks.first().map_or(0, Vec::len)];
        self.blocks.iter().for_each(|block| add_all(&mut totals, block));
        totals
    }
}

fn add_all(sums: &mut [ReplayCounts], counts: &[ReplayCounts]) {
    sums.iter_mut().zip(counts).for_each(|(sum, counts)| sum.add(counts));
}

/// Runs accesses through the machine, once for each hash function.
pub fn simulate(
    machine: &SimulatedMachine,
    objects: &[TraceObject],
    structs: &[Rearrangement],
    shared: &[SharedAllocation],
    accesses: &TraceAccesses<'_>,
) -> Simulation {
    let relocation = Relocation::new(objects, structs, shared);
    let mut sum = Simulation::default();
    let empty_counts = vec![ReplayCounts::default(); structs.len() + 1];
    for (number, hash_multiplier) in HASH_MULTIPLIERS.into_iter().enumerate() {
        let run = SimulationRun {
            machine,
            relocation: &relocation,
            hierarchy: Hierarchy::new(machine.cpus, machine.sizes, machine.line, hash_multiplier),
            empty_counts: &empty_counts,
            visits: vec![ObjectVisit::default(); machine.cpus * relocation.objects.len()],
            clocks: vec![0; machine.cpus],
            blocks: Vec::new(),
        };
        let blocks = run.run(accesses.clone(), number == 0);
        sum.blocks.resize(sum.blocks.len().max(blocks.len()), empty_counts.clone());
        for (sum, block) in sum.blocks.iter_mut().zip(&blocks) {
            add_all(sum, block);
        }
    }
    sum
}

#[derive(Clone, Copy, Debug, Default)]
struct ObjectVisit {
    /// The CPU's count of accesses at the last one to the object.
    last: Option<u64>,
    lines: u128,
    /// Those of an object that begins on one; none where it has a second allocation.
    own: u128,
}

struct SimulationRun<'r> {
    machine: &'r SimulatedMachine,
    relocation: &'r Relocation<'r>,
    hierarchy: Hierarchy,
    /// Zero counts: one for each struct, then one for all else.
    empty_counts: &'r [ReplayCounts],
    visits: Vec<ObjectVisit>,
    clocks: Vec<u64>,
    blocks: Vec<Vec<ReplayCounts>>,
}

impl SimulationRun<'_> {
    /// Simulates all accesses. Counts that don't depend on caches are made if `is_first`.
    fn run(mut self, accesses: TraceAccesses<'_>, is_first: bool) -> Vec<Vec<ReplayCounts>> {
        let mut here = self.empty_counts.to_vec();
        let share = 1.0 / HASH_MULTIPLIERS.len() as f64;
        let accesses = accesses.filter(|access| access.cpu < self.machine.cpus);
        for (number, access) in (1_u64..).zip(accesses) {
            let placed = self.relocation.relocate(access.address);
            let struct_index = placed.map_or(self.empty_counts.len() - 1, |placed| placed.struct_index);
            let address = placed.map_or(access.address, |placed| placed.address);
            if is_first {
                here[struct_index].accesses += 1;
            }
            if let Some(pointer) =
                self.visit(access.cpu, placed, if is_first { Some(&mut here) } else { None })
            {
                // The pointer is loaded once in a visit: code keeps it in a register, or finds it in the nearest cache.
                let outcome = self.hierarchy.access(access.cpu, pointer / self.machine.line, false);
                here[struct_index].count(outcome, share);
            }
            let outcome = self.hierarchy.access(access.cpu, address / self.machine.line, access.is_store);
            here[struct_index].count(outcome, share);
            if number % self.machine.block.max(1) == 0 {
                self.blocks.push(std::mem::replace(&mut here, self.empty_counts.to_vec()));
            }
        }
        if is_first {
            let objects = &self.relocation.objects;
            for (index, visit) in self.visits.iter_mut().enumerate().filter(|(_, visit)| visit.last.is_some())
            {
                end_visit(visit, &mut here[objects[index % objects.len()].0.struct_index]);
            }
        }
        self.blocks.push(here);
        self.blocks
    }

    /// Counts an access to the visit it belongs to. Gives the address of a pointer that has to be loaded before.
    fn visit(
        &mut self,
        cpu: usize,
        placed: Option<RelocatedAddress>,
        here: Option<&mut Vec<ReplayCounts>>,
    ) -> Option<u64> {
        self.clocks[cpu] += 1;
        let placed = placed?;
        let visit = &mut self.visits[cpu * self.relocation.objects.len() + placed.object];
        if visit.last.is_some_and(|last| self.clocks[cpu] - last > self.machine.gap) {
            match here {
                Some(here) => end_visit(visit, &mut here[placed.struct_index]),
                None => *visit = ObjectVisit::default(),
            }
        }
        visit.last = Some(self.clocks[cpu]);
        let line = self.machine.line;
        let number = |base: u64, address: u64| (address / line).saturating_sub(base / line);
        let Some((pointer, first)) = placed.behind else {
            let has_second = self.relocation.has_second(placed.struct_index);
            let most = if has_second { SECOND } else { MAX_LINES };
            visit.lines |= 1 << number(placed.base, placed.address).min(most - 1);
            if !has_second {
                visit.own |= 1 << (placed.address.saturating_sub(placed.base) / line).min(most - 1);
            }
            return None;
        };
        let is_new = visit.lines >> SECOND == 0;
        visit.lines |= 1 << (SECOND + number(placed.base, placed.address)).min(MAX_LINES - 1);
        visit.lines |= 1 << number(first, pointer).min(SECOND - 1);
        is_new.then_some(pointer)
    }
}

fn end_visit(visit: &mut ObjectVisit, counts: &mut ReplayCounts) {
    counts.visits += 1;
    counts.lines += u64::from(visit.lines.count_ones());
    counts.costlier += u64::from(visit.own != 0 && visit.lines.count_ones() > visit.own.count_ones());
    *visit = ObjectVisit::default();
}
