//! Call chains, and the tree that they make below a function.

use super::{CallNode, CallTree};
use crate::readers::{Line, lines, number};
use std::collections::BTreeMap;

/// Most calls within each other that are told apart; perf records 127 unless told otherwise.
const MAX_DEPTH: usize = 512;

/// Calls below a function, summed up.
#[derive(Clone, Debug, Default)]
struct SumNode {
    weight: f64,
    own: f64,
    callees: BTreeMap<String, Self>,
}

/// The tree of a function, from call chains.
#[derive(Clone, Debug)]
pub struct StackTree {
    function: String,
    total: f64,
    root: SumNode,
}

impl StackTree {
    /// No chains yet.
    #[must_use]
    pub fn new(function: &str) -> Self {
        Self { function: function.to_owned(), total: 0.0, root: SumNode::default() }
    }

    /// Adds a chain, innermost function first. The outermost call of the function counts.
    pub fn add(&mut self, weight: f64, chain: &[&str]) {
        self.total += weight;
        let Some(at) = chain.iter().rposition(|function| *function == self.function) else { return };
        let mut node = &mut self.root;
        node.weight += weight;
        for function in chain.get(..at).unwrap_or_default().iter().rev().take(MAX_DEPTH) {
            node = node.callees.entry((*function).to_owned()).or_default();
            node.weight += weight;
        }
        node.own += weight;
    }

    /// The tree in percent of all samples; `None` if no chain has the function.
    #[must_use]
    pub fn finish(&self) -> Option<CallTree> {
        if self.root.weight <= 0.0 {
            return None;
        }
        let root = self.node(&self.function, &self.root);
        Some(CallTree { root, own_share: Some(self.percent(self.root.own)), is_cut: false })
    }

    fn percent(&self, weight: f64) -> f64 {
        100.0 * weight / self.total
    }

    fn node(&self, function: &str, sum: &SumNode) -> CallNode {
        let mut callees: Vec<CallNode> = sum.callees.iter().map(|(name, sum)| self.node(name, sum)).collect();
        callees.sort_by(|left, right| {
            right.share.total_cmp(&left.share).then_with(|| left.function.cmp(&right.function))
        });
        CallNode { function: function.to_owned(), share: self.percent(sum.weight), callees }
    }
}

/// Gives each sample of `perf script`'s text: event, weight (its period, else 1), functions, innermost first. `false` if the
/// text has no sample.
pub fn for_each_stack(text: &str, mut each: impl FnMut(&str, f64, &[&str])) -> bool {
    let (mut head, mut frames): (Option<Head<'_>>, Vec<&str>) = (None, Vec::new());
    let mut has_samples = false;
    let all = lines(text);
    let last = Line { number: 0, text: "" };
    for line in all.iter().chain([&last]) {
        let frame = head.as_ref().and_then(|_| frame(line.text));
        if let Some(function) = frame {
            frames.push(function);
            continue;
        }
        if let Some(Head { event, weight, function }) = head.take() {
            frames.extend(function.filter(|_| frames.is_empty()));
            if !frames.is_empty() {
                each(event, weight, &frames);
                has_samples = true;
            }
            frames.clear();
        }
        head = Head::parse(line.text);
    }
    has_samples
}

/// The first line of a sample: `swapper     0 [001]  1234.567890:     250000 cycles:k:  ffffffff81 f+0x10 (file)`; without
/// call chains the function stands on it.
struct Head<'t> {
    event: &'t str,
    weight: f64,
    function: Option<&'t str>,
}

impl<'t> Head<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        // The time ends with a colon, and so does the event behind it.
        let (at, _) = text.match_indices(": ").find(|(at, _)| {
            let word = text
                .get(..*at)
                .and_then(|before| before.rsplit(char::is_whitespace).next())
                .unwrap_or_default();
            word.contains('.') && number(word).is_some()
        })?;
        let rest = text.get(at + 2..)?.trim_start();
        let mut words = rest.split_whitespace();
        let first = words.next()?;
        let (weight, event) = match number(first) {
            Some(period) => (period, words.next()?),
            None => (1.0, first),
        };
        let event = event.strip_suffix(':')?;
        let behind =
            rest.split_once(event).map(|(_, behind)| behind.trim_start_matches(':')).unwrap_or_default();
        let mut function = frame(behind);
        if function.is_none() {
            // A data address may stand in front of the code's.
            function = behind.trim_start().split_once(char::is_whitespace).and_then(|(_, rest)| frame(rest));
        }
        Some(Self { event, weight, function })
    }
}

/// The function of `ffffffff81234567 schedule+0x10 ([kernel.kallsyms])`.
fn frame(text: &str) -> Option<&str> {
    let (address, rest) = text.trim_start().split_once(char::is_whitespace)?;
    u64::from_str_radix(address, 16).ok().filter(|_| address.len() >= 4)?;
    let rest = rest.trim();
    let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
    let name = name.rsplit_once("+0x").map_or(name, |(name, _)| name).trim();
    (!name.is_empty()).then_some(name)
}
