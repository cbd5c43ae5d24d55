//! Searching texts for many words at once.

use aho_corasick::{AhoCorasick, MatchKind};
use fieldline_source::meaning::KnownName;

/// Names that texts may say, each with something that it stands for.
#[derive(Debug)]
pub(super) struct WordFinder<T> {
    /// Names by their letters.
    named: Vec<Vec<(KnownName, T)>>,
    finder: Option<AhoCorasick>,
}

impl<T: Ord> WordFinder<T> {
    pub(super) fn new(mut names: Vec<(KnownName, T)>) -> Self {
        names.sort();
        names.dedup();
        let mut named: Vec<Vec<(KnownName, T)>> = Vec::new();
        for name in names {
            match named.last_mut().filter(|same| same.first().is_some_and(|(own, _)| own.text == name.0.text))
            {
                Some(same) => same.push(name),
                None => named.push(vec![name]),
            }
        }
        let texts = named.iter().flat_map(|same| same.first()).map(|(name, _)| name.text.as_str());
        // A name ends where its word does, so that the longest of those that begin alike is the only one that can be
        // a whole word. Searching for it alone is several times as fast as for all.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok();
        Self { named, finder }
    }

    /// The names that a text says, each with its place.
    pub(super) fn said<'w>(&'w self, text: &'w [u8]) -> impl Iterator<Item = (&'w T, usize)> {
        let hits = self.finder.iter().flat_map(move |finder| finder.find_iter(text));
        hits.flat_map(move |hit| {
            let same = self.named.get(hit.pattern().as_usize()).map(Vec::as_slice).unwrap_or_default();
            let said = same.iter().filter(move |(name, _)| name.is_said(text, hit.start()..hit.end()));
            said.map(move |(_, own)| (own, hit.start()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_within_other_names_are_found() {
        let words = ["re", "queue", "queue_entry", "entry"];
        let names = words.iter().zip(0..).map(|(word, number)| (KnownName::word(word), number));
        let member = KnownName { is_member: true, ..KnownName::word("re") };
        let finder = WordFinder::new(names.chain([(member, 9)]).collect());
        let said = |text: &str| finder.said(text.as_bytes()).map(|(own, _)| *own).collect::<Vec<i32>>();
        assert_eq!(said("struct queue_entry *re"), [2, 0]);
        assert_eq!(said("queue_entry_x xqueue queue_ent entry"), [3]);
        assert_eq!(said("p->re; queue"), [0, 9, 1]);
    }
}
