//! The control-flow graph of a function.

use fieldline_machinecode::machine::{Flow, Instruction};

/// A run of instructions that is entered at its first only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Index of its first instruction.
    pub first: u32,
    /// Index behind its last.
    pub past: u32,
    pub successors: Vec<u32>,
}

/// Blocks in order of address, and in the order in which to visit them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Blocks in order of address.
    pub blocks: Vec<Block>,
    /// Every block once, as far as possible after those that lead to it (reverse postorder).
    pub order: Vec<u32>,
    /// Blocks that nothing leads to: the entry first, then targets of jumps nobody can follow.
    pub roots: Vec<u32>,
}

impl Graph {
    /// The graph of instructions sorted by address, of which that at `entry` is entered first. `jumps` tells where
    /// an instruction may jump besides what it says (it may be patched), `stops` whether it is a call that never
    /// returns.
    pub(crate) fn new(
        instructions: &[Instruction],
        entry: u64,
        jumps: impl Fn(u64) -> Vec<u64>,
        stops: impl Fn(&Instruction) -> bool,
    ) -> Self {
        let targets: Vec<Vec<u32>> =
            instructions.iter().map(|instruction| targets(instructions, instruction, &jumps)).collect();
        // What may be patched to be a jump may be patched not to be one.
        let falls_through =
            |instruction: &Instruction| falls_through(instruction) || !jumps(instruction.address).is_empty();
        let ends: Vec<bool> = instructions
            .iter()
            .zip(&targets)
            .map(|(instruction, targets)| {
                !targets.is_empty() || !falls_through(instruction) || stops(instruction)
            })
            .collect();
        let firsts = leaders(instructions, &targets, &ends, entry);
        let mut graph = Self::default();
        for (index, first) in firsts.iter().enumerate() {
            let past = firsts.get(index + 1).copied().unwrap_or(instructions.len() as u32);
            graph.blocks.push(Block { first: *first, past, successors: Vec::new() });
        }
        graph
            .connect(instructions, &targets, |instruction| falls_through(instruction) && !stops(instruction));
        graph.arrange(index_of(instructions, entry).unwrap_or(0));
        graph
    }

    pub(crate) fn block_of(&self, instruction: u32) -> Option<u32> {
        let past = self.blocks.partition_point(|block| block.first <= instruction);
        past.checked_sub(1).map(|block| block as u32)
    }

    fn connect(
        &mut self,
        instructions: &[Instruction],
        targets: &[Vec<u32>],
        falls: impl Fn(&Instruction) -> bool,
    ) {
        for block in 0..self.blocks.len() {
            let past = self.blocks[block].past;
            let Some(last) = past.checked_sub(1) else { continue };
            let (Some(instruction), Some(targets)) =
                (instructions.get(last as usize), targets.get(last as usize))
            else {
                continue;
            };
            let mut successors: Vec<u32> =
                targets.iter().filter_map(|target| self.block_of(*target)).collect();
            let next = instructions.get(past as usize);
            if falls(instruction) && next.is_some_and(|next| next.address == instruction.end()) {
                successors.extend(self.block_of(past));
            }
            successors.sort_unstable();
            successors.dedup();
            self.blocks[block].successors = successors;
        }
    }

    /// Finds an order from the entry on, then from blocks that were not reached.
    fn arrange(&mut self, entry: u32) {
        let mut seen = vec![false; self.blocks.len()];
        let entry = self.block_of(entry);
        let roots = entry.into_iter().chain(0..self.blocks.len() as u32);
        let mut parts = Vec::new();
        for root in roots {
            if seen.get(root as usize).is_some_and(|seen| !seen) {
                parts.push(self.postorder(root, &mut seen));
                self.roots.push(root);
            }
        }
        let reversed = parts.into_iter().flat_map(|part| part.into_iter().rev());
        self.order = reversed.collect();
    }

    fn postorder(&self, root: u32, seen: &mut [bool]) -> Vec<u32> {
        let mut order = Vec::new();
        let mut open = vec![(root, 0usize)];
        mark(seen, root);
        while let Some((block, next)) = open.pop() {
            let successors = self.blocks.get(block as usize).map_or(&[][..], |block| &block.successors);
            match successors.get(next) {
                Some(successor) => {
                    open.push((block, next + 1));
                    if mark(seen, *successor) {
                        open.push((*successor, 0));
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
    match seen.get_mut(block as usize) {
        Some(seen) => !std::mem::replace(seen, true),
        None => false,
    }
}

/// Whether the instruction behind may run next.
fn falls_through(instruction: &Instruction) -> bool {
    match instruction.flow {
        Flow::Next | Flow::Branch(_) | Flow::Call(_) | Flow::Trap => true,
        Flow::Jump(_) | Flow::IndirectJump(_) | Flow::Return | Flow::Stop => false,
    }
}

/// The index of the instruction at an address.
pub(crate) fn index_of(instructions: &[Instruction], address: u64) -> Option<u32> {
    let found = instructions.binary_search_by_key(&address, |instruction| instruction.address);
    found.ok().map(|index| index as u32)
}

fn targets(
    instructions: &[Instruction],
    instruction: &Instruction,
    jumps: &impl Fn(u64) -> Vec<u64>,
) -> Vec<u32> {
    let own = match instruction.flow {
        Flow::Jump(target) | Flow::Branch(target) => Some(target),
        _ => None,
    };
    let all = own.into_iter().chain(jumps(instruction.address));
    all.filter_map(|target| index_of(instructions, target)).collect()
}

fn leaders(instructions: &[Instruction], targets: &[Vec<u32>], ends: &[bool], entry: u64) -> Vec<u32> {
    let mut leads = vec![false; instructions.len()];
    let mut lead = |index: u32| {
        if let Some(place) = leads.get_mut(index as usize) {
            *place = true;
        }
    };
    lead(0);
    lead(index_of(instructions, entry).unwrap_or(0));
    for target in targets.iter().flatten() {
        lead(*target);
    }
    for (index, ends) in (1u32..).zip(ends) {
        let previous = instructions.get(index as usize - 1);
        let next = instructions.get(index as usize);
        let apart = previous.zip(next).is_some_and(|(previous, next)| previous.end() != next.address);
        if *ends || apart {
            lead(index);
        }
    }
    (0u32..).zip(leads).filter(|(_, leads)| *leads).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(flows: &[Flow]) -> Graph {
        let instructions: Vec<_> =
            (0..).zip(flows).map(|(address, flow)| Instruction::new(address, 1, *flow)).collect();
        Graph::new(&instructions, 0, |_| Vec::new(), |_| false)
    }

    fn edges(graph: &Graph) -> Vec<(u32, u32, Vec<u32>)> {
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
        let graph = Graph::new(&instructions, 0, jumps, |_| false);
        assert_eq!(edges(&graph), [(0, 1, vec![1, 2]), (1, 2, vec![]), (2, 3, vec![])]);
    }

    #[test]
    fn a_gap_between_ranges_is_not_fallen_through() {
        let instructions = [Instruction::new(0, 1, Flow::Next), Instruction::new(9, 1, Flow::Return)];
        let graph = Graph::new(&instructions, 9, |_| Vec::new(), |_| false);
        assert_eq!(edges(&graph), [(0, 1, vec![]), (9 - 8, 2, vec![])]);
        assert_eq!(graph.roots, [1, 0]);
    }
}
