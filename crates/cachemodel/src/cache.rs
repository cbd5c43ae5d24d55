//! A set-associative cache with true LRU replacement.

/// No line.
const EMPTY: u64 = u64::MAX;

/// Which lines are there. Lines are found by number: address divided by line size.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    ways: usize,
    sets: u64,
    /// Odd multiplier that hashes lines to sets, so that no layout depends on one index function.
    hash_multiplier: u64,
    /// Lines by set, the last used of each first.
    lines: Vec<u64>,
}

impl Cache {
    /// An empty cache of `bytes`; at least one set.
    pub(super) fn new(bytes: u64, line: u64, ways: usize, hash_multiplier: u64) -> Self {
        let ways = ways.max(1);
        let sets = (bytes / line.max(1) / ways as u64).max(1);
        Self { ways, sets, hash_multiplier, lines: vec![EMPTY; sets as usize * ways] }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let set = ((line.wrapping_mul(self.hash_multiplier) >> 32) % self.sets) as usize;
        &mut self.lines[set * self.ways..(set + 1) * self.ways]
    }

    /// Whether a line is there; it counts as used.
    pub(super) fn hit(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let Some(index) = set.iter().position(|known| *known == line) else { return false };
        set[..=index].rotate_right(1);
        true
    }

    /// Whether a line was there; it is filled if not.
    pub(super) fn touch(&mut self, line: u64) -> bool {
        let is_there = self.hit(line);
        if !is_there {
            self.fill(line);
        }
        is_there
    }

    /// Puts a line in, which drops the one not used for longest.
    pub(super) fn fill(&mut self, line: u64) {
        let set = self.set(line);
        set.rotate_right(1);
        set[0] = line;
    }

    pub(super) fn invalidate(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(index) = set.iter().position(|known| *known == line) {
            set[index..].rotate_left(1);
            if let Some(last) = set.last_mut() {
                *last = EMPTY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_not_used_for_longest_goes() {
        let mut cache = Cache::new(128, 64, 2, 1);
        cache.fill(1);
        cache.fill(2);
        assert!(cache.hit(1));
        cache.fill(3);
        assert!(cache.hit(1) && cache.hit(3) && !cache.hit(2));
        cache.invalidate(1);
        cache.fill(4);
        assert!(cache.hit(3) && cache.hit(4) && !cache.hit(1));
    }

    /// A fully associative LRU cache hits exactly where fewer other lines than it holds were used since
    /// (Mattson and others, Evaluation techniques for storage hierarchies, 1970).
    #[test]
    fn hits_are_those_of_stack_distances() {
        let mut state = 7_u64;
        for ways in [1, 2, 5, 16] {
            let mut cache = Cache::new(64 * ways as u64, 64, ways, 0x9e37_79b9_7f4a_7c15);
            let mut stack: Vec<u64> = Vec::new();
            for _ in 0..2_000 {
                // Marsaglia, Xorshift RNGs, 2003.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let line = state % 24;
                let distance = stack.iter().position(|known| *known == line);
                assert_eq!(cache.hit(line), distance.is_some_and(|distance| distance < ways));
                match distance {
                    Some(distance) => stack[..=distance].rotate_right(1),
                    None => stack.insert(0, line),
                }
                if distance.is_none_or(|distance| distance >= ways) {
                    cache.fill(line);
                }
            }
        }
    }
}
