//! The tree of `perf report -g`, also where blanks were collapsed: the bars in front of a line are enough.
//!
//! A bar stands for each ancestor that has later siblings. So a line belongs below the longest path of the nodes before
//! it that has as many of these as the line has bars: a shorter path with as many ends in a node that is closed already.

use super::{CallNode, CallTree};
use crate::readers::{Line, lines, number};

/// Most nodes within each other.
const MAX_DEPTH: usize = 512;

/// Reads the tree of a function; `None` if the text is no report, or the function is not in it.
#[must_use]
pub fn read_report(text: &str, function: &str) -> Option<CallTree> {
    let mut best: Option<CallTree> = None;
    let mut drawn = DrawnTree::default();
    let mut entry: Option<Entry> = None;
    let all = lines(text);
    for line in &all {
        if let Some(found) = Entry::parse(line) {
            best = better(best, finish(entry.take(), &mut drawn, function));
            drawn.entry_share = found.share;
            entry = Some(found);
        } else if entry.is_some() {
            drawn.add(line.text);
        }
    }
    better(best, finish(entry, &mut drawn, function))
}

/// Whether a text has entries of perf report.
#[must_use]
pub fn is_report(text: &str) -> bool {
    lines(text).iter().any(|line| Entry::parse(line).is_some())
}

fn better(first: Option<CallTree>, second: Option<CallTree>) -> Option<CallTree> {
    // An entry of the function itself comes before a branch of another's tree.
    let rank = |tree: &CallTree| (tree.own_share.is_some(), tree.root.share);
    match (first, second) {
        (Some(first), Some(second)) if rank(&second) > rank(&first) => Some(second),
        (first, second) => first.or(second),
    }
}

/// The tree of an entry, or its largest branch that begins with the function.
fn finish(entry: Option<Entry>, drawn: &mut DrawnTree, function: &str) -> Option<CallTree> {
    let callees = std::mem::take(drawn).into_nodes();
    let Entry { share, own_share, symbol } = entry?;
    if symbol == function {
        let root = CallNode { function: symbol, share, callees };
        return Some(CallTree { root, own_share: Some(own_share), is_cut: true });
    }
    let mut found = Vec::new();
    callees.iter().for_each(|node| find(node, function, &mut found));
    let root = found.into_iter().max_by(|left, right| left.share.total_cmp(&right.share))?;
    Some(CallTree { root: root.clone(), own_share: None, is_cut: true })
}

fn find<'n>(node: &'n CallNode, function: &str, found: &mut Vec<&'n CallNode>) {
    if node.function == function {
        found.push(node);
    } else {
        node.callees.iter().for_each(|callee| find(callee, function, found));
    }
}

/// `14.90% 0.04% 337 [kernel.vmlinux] [k] schedule`: shares with and without callees, or one alone, other columns, the
/// symbol behind its kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) share: f64,
    pub(crate) own_share: f64,
    pub(crate) symbol: String,
}

impl Entry {
    pub(crate) fn parse(line: &Line<'_>) -> Option<Self> {
        let words = line.words();
        let percent = |word: &str| word.strip_suffix('%').and_then(number);
        let share = percent(words.first()?)?;
        let own_share = words.get(1).and_then(|word| percent(word));
        let is_kind = |word: &&str| matches!(word.as_bytes(), [b'[', b'.' | b'k' | b'u' | b'g' | b'H', b']']);
        let kind = words.iter().position(is_kind)?;
        let symbol = words.get(kind + 1..).filter(|rest| !rest.is_empty())?.join(" ");
        // Columns behind the symbol.
        let symbol = symbol.split(" - ").next().unwrap_or(&symbol).trim().to_owned();
        Some(Self { share, own_share: own_share.unwrap_or(share), symbol })
    }
}

#[derive(Clone, Debug)]
struct DrawnNode {
    function: String,
    share: f64,
    parent: Option<usize>,
    /// Whether a sibling follows, so that lines below have a bar for it.
    has_bar: bool,
}

/// Nodes as they are drawn.
#[derive(Debug, Default)]
struct DrawnTree {
    /// The share of the entry that the tree is drawn below.
    entry_share: f64,
    nodes: Vec<DrawnNode>,
    /// The path to the node drawn last.
    path: Vec<usize>,
}

impl DrawnTree {
    fn add(&mut self, text: &str) {
        let Some(drawn) = DrawnLine::parse(text) else { return };
        let bars = |nodes: &[DrawnNode], path: &[usize]| {
            path.iter().filter(|index| nodes.get(**index).is_some_and(|node| node.has_bar)).count()
        };
        let lengths = (0..=self.path.len()).rev();
        let mut fitting = lengths.filter(|length| {
            self.path.get(..*length).is_some_and(|path| bars(&self.nodes, path) == drawn.bars)
        });
        let Some(length) = fitting.next() else { return };
        self.path.truncate(length.min(MAX_DEPTH));
        let parent = self.path.last().copied();
        let inherited = parent.and_then(|parent| self.nodes.get(parent)).map(|node| node.share);
        let share = drawn.share.or(inherited).unwrap_or(self.entry_share);
        self.path.push(self.nodes.len());
        self.nodes.push(DrawnNode {
            function: drawn.function.to_owned(),
            share,
            parent,
            has_bar: drawn.has_bar,
        });
    }

    fn into_nodes(self) -> Vec<CallNode> {
        let mut built: Vec<Option<CallNode>> = self
            .nodes
            .iter()
            .map(|node| {
                Some(CallNode { function: node.function.clone(), share: node.share, callees: Vec::new() })
            })
            .collect();
        let mut roots = Vec::new();
        // Children come behind their parents, so from the end each is complete when it is moved.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let Some(mut done) = built.get_mut(index).and_then(Option::take) else { continue };
            done.callees.reverse();
            let parent = node.parent.and_then(|parent| built.get_mut(parent)?.as_mut());
            match parent {
                Some(parent) => parent.callees.push(done),
                None => roots.push(done),
            }
        }
        roots.reverse();
        roots
    }
}

/// A line of the drawing.
struct DrawnLine<'t> {
    /// Bars of ancestors.
    bars: usize,
    /// Whether a bar of its own goes on below.
    has_bar: bool,
    /// In percent; none of the first function, and of one that is all that the one above calls.
    share: Option<f64>,
    function: &'t str,
}

impl<'t> DrawnLine<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let end = text.find(|letter: char| letter != '|' && !letter.is_whitespace())?;
        let (front, rest) = text.split_at(end);
        let bars = front.matches('|').count();
        let name = rest.trim_start_matches('-').trim();
        let is_joined = rest.starts_with("--");
        let has_bar = is_joined && front.ends_with('|');
        let (share, function) = match name.split_once("%--") {
            Some((share, function)) if is_joined => (Some(number(share)?), function.trim()),
            _ => (None, name),
        };
        let is_name = !function.is_empty() && !function.starts_with('#');
        is_name.then_some(Self { bars: bars - usize::from(has_bar), has_bar, share, function })
    }
}
