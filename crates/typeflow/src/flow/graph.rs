//! The control-flow graph of a function.

use fieldline_machinecode::machine::{Flow, Instruction};
use std::collections::BTreeSet;

/// Instructions in a row, entered at the first only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BasicBlock {
    /// Index of its first instruction.
    pub first: u32,
    /// Index behind its last.
    pub past: u32,
    pub successors: Vec<u32>,
}

/// Blocks in order of address, and in the order in which to visit them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ControlFlowGraph {
    pub blocks: Vec<BasicBlock>,
    /// Every block once, as far as possible after those that lead to it (reverse postorder).
    pub order: Vec<u32>,
    /// Blocks that nothing leads to: the entry first, then targets of jumps nobody can follow.
    pub roots: Vec<u32>,
}

impl ControlFlowGraph {
    /// The graph of instructions sorted by address, of which that at `entry` is entered first. `jumps` tells
    /// where one may jump besides its own target (it may be patched), `stops` whether it is a call that never
    /// returns.
    pub(crate) fn new(
        instructions: &[Instruction],
        entry: u64,
        jumps: impl Fn(u64) -> Vec<u64>,
        stops: impl Fn(&Instruction) -> bool,
    ) -> Self {
        let targets = |instruction: &Instruction| -> Vec<u32> {
            let target = match instruction.flow {
                Flow::Jump(target) | Flow::Branch(target) => Some(target),
                _ => None,
            };
            let all = target.into_iter().chain(jumps(instruction.address));
            all.filter_map(|target| index_of(instructions, target)).collect()
        };
        let targets: Vec<Vec<u32>> = instructions.iter().map(targets).collect();
        // What may be patched to be a jump may be patched not to be one.
        let falls = |instruction: &Instruction| {
            let is_patched = !jumps(instruction.address).is_empty();
            (is_patched || falls_through(instruction)) && !stops(instruction)
        };
        let falls: Vec<bool> = instructions.iter().map(falls).collect();
        let entry = index_of(instructions, entry).unwrap_or(0);
        let mut graph = Self::default();
        let firsts = block_leaders(instructions, &targets, &falls, entry);
        for (index, first) in firsts.iter().enumerate() {
            let past = firsts.get(index + 1).copied().unwrap_or(instructions.len() as u32);
            graph.blocks.push(BasicBlock { first: *first, past, successors: Vec::new() });
        }
        graph.connect_blocks(instructions, &targets, &falls);
        graph.order_blocks(entry);
        graph
    }

    pub(crate) fn block_of(&self, instruction: u32) -> Option<u32> {
        let past = self.blocks.partition_point(|block| block.first <= instruction);
        past.checked_sub(1).map(|block| block as u32)
    }

    fn connect_blocks(&mut self, instructions: &[Instruction], targets: &[Vec<u32>], falls: &[bool]) {
        for index in 0..self.blocks.len() {
            let past = self.blocks[index].past;
            let Some(last) = past.checked_sub(1).map(|last| last as usize) else { continue };
            let targets = targets.get(last).into_iter().flatten();
            let mut successors: Vec<u32> = targets.filter_map(|target| self.block_of(*target)).collect();
            if falls.get(last) == Some(&true) && is_contiguous(instructions, past) {
                successors.extend(self.block_of(past));
            }
            successors.sort_unstable();
            successors.dedup();
            self.blocks[index].successors = successors;
        }
    }

    /// Finds an order from the entry on, then from blocks that were not reached.
    fn order_blocks(&mut self, entry: u32) {
        let mut seen = vec![false; self.blocks.len()];
        let entry = self.block_of(entry);
        for root in entry.into_iter().chain(0..self.blocks.len() as u32) {
            if seen.get(root as usize).is_some_and(|seen| !seen) {
                let part = self.postorder(root, &mut seen);
                self.order.extend(part.into_iter().rev());
                self.roots.push(root);
            }
        }
    }

    fn postorder(&self, root: u32, seen: &mut [bool]) -> Vec<u32> {
        let mut order = Vec::new();
        let mut pending = vec![(root, 0usize)];
        mark(seen, root);
        while let Some((block, next)) = pending.pop() {
            let successors = self.blocks.get(block as usize).map_or(&[][..], |block| &block.successors);
            match successors.get(next) {
                Some(successor) => {
                    pending.push((block, next + 1));
                    if mark(seen, *successor) {
                        pending.push((*successor, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order
    }
}

/// Marks a block; whether it was not marked before.
fn mark(seen: &mut [bool], block: u32) -> bool {
    seen.get_mut(block as usize).is_some_and(|seen| !std::mem::replace(seen, true))
}

/// Whether the instruction behind may run next.
fn falls_through(instruction: &Instruction) -> bool {
    matches!(instruction.flow, Flow::Next | Flow::Branch(_) | Flow::Call(_) | Flow::Trap)
}

/// Whether an instruction stands right behind the one before it.
fn is_contiguous(instructions: &[Instruction], index: u32) -> bool {
    let before = (index as usize).checked_sub(1).and_then(|before| instructions.get(before));
    before.zip(instructions.get(index as usize)).is_some_and(|(before, next)| before.end() == next.address)
}

/// The index of the instruction at an address.
pub(crate) fn index_of(instructions: &[Instruction], address: u64) -> Option<u32> {
    let found = instructions.binary_search_by_key(&address, |instruction| instruction.address);
    found.ok().map(|index| index as u32)
}

fn block_leaders(instructions: &[Instruction], targets: &[Vec<u32>], falls: &[bool], entry: u32) -> Vec<u32> {
    let behind = (1u32..).zip(targets.iter().zip(falls));
    let behind = behind.filter(|(index, (targets, falls))| {
        !targets.is_empty() || !*falls || !is_contiguous(instructions, *index)
    });
    let all = targets.iter().flatten().copied().chain(behind.map(|(index, _)| index)).chain([0, entry]);
    let leaders: BTreeSet<u32> = all.filter(|index| (*index as usize) < instructions.len()).collect();
    leaders.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(flows: &[Flow]) -> ControlFlowGraph {
        let instructions: Vec<_> =
            (0..).zip(flows).map(|(address, flow)| Instruction::new(address, 1, *flow)).collect();
        ControlFlowGraph::new(&instructions, 0, |_| Vec::new(), |_| false)
    }

    fn edges(graph: &ControlFlowGraph) -> Vec<(u32, u32, Vec<u32>)> {
        let blocks = graph.blocks.iter();
        blocks.map(|block| (block.first, block.past, block.successors.clone())).collect()
    }

    #[test]
    fn a_loop_leads_back_and_out() {
        let graph = graph(&[Flow::Next, Flow::Next, Flow::Branch(1), Flow::Return]);
        assert_eq!(edges(&graph), [(0, 1, vec![1]), (1, 3, vec![1, 2]), (3, 4, vec![])]);
        assert_eq!(graph.order, [0, 1, 2]);
        assert_eq!(graph.roots, [0]);
    }

    #[test]
    fn what_nothing_leads_to_is_a_root() {
        let graph = graph(&[Flow::Jump(2), Flow::Next, Flow::Return]);
        assert_eq!(graph.roots, [0, 1]);
        assert_eq!(graph.order, [0, 2, 1]);
    }

    #[test]
    fn a_patched_nop_may_jump() {
        let instructions: Vec<_> = [Flow::Next, Flow::Return, Flow::Return]
            .into_iter()
            .zip(0..)
            .map(|(flow, address)| Instruction::new(address, 1, flow))
            .collect();
        let jumps = |address| if address == 0 { vec![2] } else { Vec::new() };
        let graph = ControlFlowGraph::new(&instructions, 0, jumps, |_| false);
        assert_eq!(edges(&graph), [(0, 1, vec![1, 2]), (1, 2, vec![]), (2, 3, vec![])]);
    }

    #[test]
    fn a_gap_between_ranges_is_not_fallen_through() {
        let instructions = [Instruction::new(0, 1, Flow::Next), Instruction::new(9, 1, Flow::Return)];
        let graph = ControlFlowGraph::new(&instructions, 9, |_| Vec::new(), |_| false);
        assert_eq!(edges(&graph), [(0, 1, vec![]), (9 - 8, 2, vec![])]);
        assert_eq!(graph.roots, [1, 0]);
    }
}
