//! Words of comments that are about places of members: their classes, and sentences made of them.

use std::collections::BTreeSet;

/// Marks where a clause ends inside a sentence.
const CLAUSE_END: &str = ",";

/// Words that demand something.
const DEMANDS: &str = "\
    must need needs has have keep keeps kept always should shall leave ensure ensures sure stay stays \
    remain remains required requires require ought supposed expected assumed";
/// Demands only if `to` or `be` follows: `has to be`, not `has the`.
const DEMANDS_BY_NEXT: &str = "has have need needs ought supposed expected assumed required requires require";
/// Words that forbid.
const NEGATIONS: &str = "\
    not no never nothing nobody none don't dont cannot can't mustn't shouldn't mayn't neither nor avoid without \
    doesn't does isn't";
/// Words for what a struct is made of, and that stand for them.
const PARTS: &str = "\
    anything something everything nothing all any every each field fields member members element elements \
    entry entries item items variable variables stuff thing things this these those that it them they both \
    two three four five one ones struct structure union object type new other others part parts word words \
    here there its their array bitfield bitfields var vars point";
/// Words for several members.
const SEVERAL: &str = "fields members elements entries variables vars items these those both them they";
/// Words that say how a thing is put somewhere, and verbs that go with them.
const PLACING: &str = "\
    be been being is are was were come comes go goes put puts place placed places located positioned stay \
    stays remain remains stand stands sit sits live lives lie lies appear appears add added adds insert \
    inserted append appended keep keeps kept leave left declared defined listed laid arranged ordered aligned \
    packed fit fits share shares belong belongs grouped reside resides do may might can could will would";
/// Words without a meaning of their own.
const FILLERS: &str = "\
    a an the to as at in on of into onto for with by so well very absolutely strictly exactly and or always \
    also just please immediately directly right close near only still now even same own separate single \
    exclusive different and-or such new out";
/// Words that begin another part of a sentence.
const FUNCTION_WORDS: &str = "\
    as for in of to so because since see otherwise or and if when due that which who but while with within \
    on at by from is are else then unless though until we you i it lest thus to-be must should not";
/// Verbs that ask for new members by themselves: `add new fields above`.
const ADDING: &str = "add insert append put place";
/// Words for another order.
const MOVING: &str = "\
    move moved moving reorder reordered reordering rearrange rearranged swap swapped shuffle shuffled relocate \
    relocated reshuffle reshuffled split separate separated resort sort interleave";
/// Words for change in general.
const CHANGING: &str = "change changed changing changes alter altered modify modified break breaks";
/// Words for an arrangement as a whole.
const ARRANGEMENTS: &str = "order ordering layout position positions offsets placement";
/// Words that make an arrangement matter.
const MATTERING: &str = "\
    matter matters important significant critical crucial mandated relevant must should shall match matches \
    matching mirror mirrors identical sync synced depend depends dependent rely relies assume assumes abi \
    reflect reflects";
/// Words for what comes right beside.
const BESIDE: &str = "\
    adjacent adjacently contiguous contiguously consecutive consecutively together grouped sequential \
    neighbours neighbors";
/// Words for an end of the struct.
const EDGES: &str = "beginning start end bottom top front";
/// Words for a rank.
const RANKS: &str = "first 1st second last final";
/// Words for a place seen from another.
const RELATIVES: &str = "\
    before after above below behind ahead under beyond follow follows followed precede precedes preceded between";
/// Words that only say where something else stands.
const POINTERS: &str = "above below following preceding follow";
/// Words about several members or about bytes.
const LOOSE: &str = "\
    adjacent contiguous consecutive hole holes cacheline cachelines layout reorder reordered these those both";

/// Classes of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordClass {
    Negation,
    Part,
    Several,
    Function,
    Adding,
    Moving,
    Changing,
    Arrangement,
    Mattering,
    Pointer,
    Loose,
    CacheLineWord,
    LineOwner,
    Number,
}

/// A place that a word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceKind {
    /// First, last.
    Rank,
    /// The struct's begin or end.
    Edge,
    /// An offset in bytes.
    Offset,
    /// Right beside others.
    Beside,
    /// A cacheline.
    Line,
    /// Before or behind others.
    Relative,
    /// In an order.
    Order,
}

/// A sentence of a comment, in lower case.
#[derive(Clone, Debug)]
pub(super) struct Sentence<'n> {
    words: Vec<String>,
    /// Names of the struct's members and its own, in lower case.
    names: &'n BTreeSet<String>,
}

impl<'n> Sentence<'n> {
    /// All sentences of a comment.
    pub(super) fn split(comment: &[u8], names: &'n BTreeSet<String>) -> Vec<Self> {
        let text = String::from_utf8_lossy(comment).to_lowercase();
        let text = text.trim_start_matches(['/', '*', '!', '<']).trim_end_matches(['/', '*']);
        let mut splitter = Splitter::default();
        for line in text.lines() {
            let line = line.trim_start_matches([' ', '\t', '*', '/']).trim_end();
            // kernel-doc begins the text on a member so; a blank line begins a paragraph.
            if line.is_empty() || line.starts_with('@') {
                splitter.end_sentence();
            }
            splitter.add_line(line);
        }
        splitter.end_sentence();
        splitter.sentences.into_iter().map(|words| Self { words, names }).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word at an index; empty outside.
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// Whether the sentence or a clause ends there.
    pub(super) fn is_end(&self, at: usize) -> bool {
        matches!(self.word(at), "" | CLAUSE_END)
    }

    pub(super) fn has(&self, at: usize, class: WordClass) -> bool {
        let word = self.word(at);
        let list = match class {
            WordClass::Negation => NEGATIONS,
            WordClass::Part => return is_among(PARTS, word) || self.names.contains(word),
            WordClass::Several => SEVERAL,
            WordClass::Function => FUNCTION_WORDS,
            WordClass::Adding => ADDING,
            WordClass::Moving => MOVING,
            WordClass::Changing => CHANGING,
            WordClass::Arrangement => ARRANGEMENTS,
            WordClass::Mattering => MATTERING,
            WordClass::Pointer => POINTERS,
            WordClass::Loose => LOOSE,
            WordClass::CacheLineWord => {
                let is_line = |at| matches!(self.word(at), "line" | "lines");
                return is_among("cacheline cachelines", word) || (word == "cache" && is_line(at + 1));
            }
            WordClass::LineOwner => "separate own same next previous",
            WordClass::Number => return word.starts_with(|first: char| first.is_ascii_digit()),
        };
        is_among(list, word)
    }

    pub(super) fn has_any(&self, class: WordClass) -> bool {
        (0..self.len()).any(|at| self.has(at, class))
    }

    /// Whether a word demands something.
    pub(super) fn is_demand(&self, at: usize) -> bool {
        let word = self.word(at);
        let next = self.word(at + 1);
        // `no need to`, `don't have to`.
        let is_denied = at.checked_sub(1).is_some_and(|before| self.has(before, WordClass::Negation));
        let is_complete = !is_among(DEMANDS_BY_NEXT, word) || matches!(next, "to" | "be");
        is_among(DEMANDS, word) && is_complete && !is_denied
    }

    /// Whether a word doesn't change what the words around it are about.
    pub(super) fn is_link(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_plain = is_among(FILLERS, word) || is_among(PLACING, word) || word == CLAUSE_END;
        is_plain || self.has(at, WordClass::Part) || self.has(at, WordClass::Number)
    }

    /// Whether a word is the name of a member or of the struct.
    pub(super) fn is_name(&self, at: usize) -> bool {
        self.names.contains(self.word(at))
    }

    /// Its words that are such names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str).filter(|word| self.names.contains(*word))
    }

    /// The kind of place a word names, as far as the word itself shows.
    pub(super) fn place_word(&self, at: usize) -> Option<PlaceKind> {
        let word = self.word(at);
        Some(match word {
            "offset" => PlaceKind::Offset,
            "separate" | "apart" if at > 0 && self.word(at - 1) == "keep" => PlaceKind::Line,
            "next" if self.word(at + 1) == "to" => PlaceKind::Beside,
            "order" | "sequence" => PlaceKind::Order,
            _ if is_among(RANKS, word) => PlaceKind::Rank,
            _ if is_among(EDGES, word) => PlaceKind::Edge,
            _ if is_among(BESIDE, word) => PlaceKind::Beside,
            _ if is_among(RELATIVES, word) => PlaceKind::Relative,
            _ if self.has(at, WordClass::CacheLineWord) => PlaceKind::Line,
            _ => return None,
        })
    }

    /// The words around an index, for a message.
    pub(super) fn excerpt(&self, at: usize, around: usize) -> String {
        let shown = self.words.get(at.saturating_sub(around)..self.len().min(at + around));
        let words = shown.unwrap_or_default().iter().filter(|word| *word != CLAUSE_END);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// Cuts text into sentences of words and ends of clauses.
#[derive(Default)]
struct Splitter {
    sentences: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
}

impl Splitter {
    fn add_line(&mut self, line: &str) {
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_last = letters.peek().is_none_or(|next| next.is_whitespace() || *next == ')');
            match letter {
                '.' | '!' | '?' | ';' if is_last => self.end_sentence(),
                ',' | ':' | '(' | ')' => self.end_clause(),
                '-' if self.word.is_empty() => self.end_clause(),
                letter if letter.is_alphanumeric() || matches!(letter, '_' | '\'') => self.word.push(letter),
                _ => self.end_word(),
            }
        }
        self.end_word();
    }

    fn end_word(&mut self) {
        let word = self.word.trim_matches('\'');
        if !word.is_empty() {
            self.words.push(word.to_owned());
        }
        self.word.clear();
    }

    fn end_clause(&mut self) {
        self.end_word();
        if self.words.last().is_some_and(|last| last != CLAUSE_END) {
            self.words.push(CLAUSE_END.to_owned());
        }
    }

    fn end_sentence(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.sentences.push(std::mem::take(&mut self.words));
        }
    }
}

pub(super) fn is_among(words: &str, word: &str) -> bool {
    !word.is_empty() && words.split_ascii_whitespace().any(|entry| entry == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_cut_into_sentences() {
        let names = BTreeSet::new();
        let text = "/**\n * @a: Must be first, v1.1; see b->c.\n *\n * Don't move\n * this! */";
        let found: Vec<String> =
            Sentence::split(text.as_bytes(), &names).iter().map(|found| found.words.join(" ")).collect();
        assert_eq!(found, ["a , must be first , v1 1", "see b c", "don't move this"]);
    }
}
