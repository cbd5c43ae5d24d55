//! A line cut into its parts, by form.

use super::line_prefix::{self, LinePrefix};
use super::symbol::Symbol;

/// Numbers in a row that are read. perf prints six at most: address, data source, three weights, instruction.
pub(crate) const MAX_NUMBERS: usize = 8;

/// Hexadecimal words in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HexNumbers<'l> {
    words: [&'l str; MAX_NUMBERS],
    count: usize,
}

impl<'l> HexNumbers<'l> {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'l str> {
        self.words.get(..self.count)?.get(index).copied()
    }

    /// Adds the numbers that follow the symbol and the file at the front of a text, if any do.
    fn append(&mut self, text: &mut &'l str) {
        let symbol = Symbol::parse(text);
        let mut behind = match (symbol.symbol_offset, symbol.dso) {
            (None, None) => text.trim_start().split_once(' ').map_or("", |(_, behind)| behind),
            _ => symbol.rest,
        };
        let more = Self::take(&mut behind);
        if more.count > 0 {
            for word in more.words.iter().take(more.count) {
                if let Some(entry) = self.words.get_mut(self.count) {
                    *entry = word;
                    self.count += 1;
                }
            }
            *text = behind;
        }
    }

    /// Takes numbers off the front of a text; what is left begins behind the last one.
    fn take(text: &mut &'l str) -> Self {
        let mut taken = Self::default();
        while let Some(entry) = taken.words.get_mut(taken.count) {
            let (word, rest) = next_word(text);
            if !is_hexadecimal(word) {
                break;
            }
            *entry = word;
            taken.count += 1;
            *text = rest;
        }
        taken
    }
}

/// Events whose data address perf prints with a symbol and a file of its own: breakpoints and page faults
/// (`sample_addr_correlates_sym` in `tools/perf/util/event.c`).
fn has_symbol_behind_address(event: &str) -> bool {
    event.starts_with("mem:") || event.contains("fault")
}

/// Whether a word can be a number of 64 bits without a prefix.
fn is_hexadecimal(word: &str) -> bool {
    (1..=20).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn parse_address(word: &str) -> Result<u64, String> {
    u64::from_str_radix(word, 16).map_err(|_| format!("{word} is not a number of 64 bits"))
}

/// A sample's line; the numbers have no meaning yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SampleLine<'l> {
    pub(crate) prefix: LinePrefix,
    pub(crate) period: Option<u64>,
    pub(crate) event: Option<&'l str>,
    /// The numbers in front of the data source's words, the data source itself the last; none without such
    /// words.
    pub(crate) before_source_text: HexNumbers<'l>,
    /// The other numbers. The last may be a symbol that looks like one.
    pub(crate) numbers: HexNumbers<'l>,
    pub(crate) rest: &'l str,
}

/// A line by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "nearly every line is a sample, and boxes would allocate")]
pub(crate) enum ScriptLine<'l> {
    Sample(SampleLine<'l>),
    /// `PERF_RECORD_…` and the text behind the prefix.
    Other(LinePrefix, &'l str),
    /// Nothing, or a comment.
    Empty,
}

impl<'l> ScriptLine<'l> {
    /// Whether a line is empty or a comment.
    pub(crate) fn is_empty(line: &str) -> bool {
        line.starts_with('#') || line.trim_ascii_start().is_empty()
    }

    /// Parses a line; none is refused here.
    pub(crate) fn parse(line: &'l str) -> Self {
        if Self::is_empty(line) {
            return Self::Empty;
        }
        let (prefix, rest) = line_prefix::split_prefix(line);
        match rest.trim_ascii_start().strip_prefix("PERF_RECORD_") {
            Some(other) => Self::Other(prefix, other),
            None => Self::Sample(SampleLine::parse(prefix, rest)),
        }
    }
}

impl<'l> SampleLine<'l> {
    fn parse(prefix: LinePrefix, text: &'l str) -> Self {
        let (period, event, mut rest) = split_event(text);
        let mut line = Self { prefix, period, event, ..Self::default() };
        line.numbers = HexNumbers::take(&mut rest);
        if event.is_some_and(has_symbol_behind_address) && line.numbers.count == 1 {
            line.numbers.append(&mut rest);
        }
        if let Some(mut behind) = skip_source_text(rest) {
            line.before_source_text = line.numbers;
            line.numbers = HexNumbers::take(&mut behind);
            rest = behind;
        }
        line.rest = rest;
        line
    }

    /// Whether the line has the text of a data source.
    pub(crate) fn has_source_text(&self) -> bool {
        self.before_source_text.count > 0
    }

    /// The text behind the number at `index`, be it a further number or not.
    pub(crate) fn text_after(&self, line: &'l str, index: usize) -> &'l str {
        if index + 1 == self.numbers.count {
            return self.rest;
        }
        let word = self.numbers.get(index).unwrap_or_default();
        let at = (word.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize).saturating_add(word.len());
        line.get(at..).unwrap_or(self.rest)
    }
}

/// The first word of a text and the text behind it.
fn next_word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let end = text.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Takes period and event off the front.
fn split_event(text: &str) -> (Option<u64>, Option<&str>, &str) {
    let (first, rest) = next_word(text);
    if let Some(event) = parse_event(first) {
        return (None, Some(event), rest);
    }
    let (second, rest) = next_word(rest);
    match (first.parse(), parse_event(second)) {
        (Ok(period), Some(event)) => (Some(period), Some(event), rest),
        _ => (None, None, text),
    }
}

fn parse_event(word: &str) -> Option<&str> {
    word.strip_suffix(':').filter(|event| !event.is_empty())
}

/// The text behind a data source, `|OP LOAD|LVL L1 hit|…|BLK  N/A`, if a text begins with one.
fn skip_source_text(text: &str) -> Option<&str> {
    let mut rest = text.trim_start().strip_prefix("|OP ")?;
    while let Some(next) = skip_source_field(rest) {
        rest = next;
    }
    // The last part's own words: what blocked the access, and no number.
    loop {
        let (word, behind) = next_word(rest);
        if word.is_empty() || is_hexadecimal(word) {
            return Some(rest);
        }
        rest = behind;
    }
}

/// The text behind the next bar that begins a field: a tag of capitals and a blank.
fn skip_source_field(text: &str) -> Option<&str> {
    text.match_indices('|').find_map(|(at, _)| {
        let behind = text.get(at + 1..)?;
        let tag = behind.split(' ').next().filter(|tag| tag.len() < behind.len())?;
        let is_tag = (2..=5).contains(&tag.len()) && tag.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_tag { behind.get(tag.len()..) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(line: &str) -> SampleLine<'_> {
        match ScriptLine::parse(line) {
            ScriptLine::Sample(sample) => sample,
            other => panic!("{other:?}"),
        }
    }

    fn words<'l>(numbers: &HexNumbers<'l>) -> Vec<&'l str> {
        (0..numbers.count()).filter_map(|index| numbers.get(index)).collect()
    }

    #[test]
    fn numbers_may_be_before_and_behind_the_data_source() {
        let text = "a 7/8 [003] 1.000001: 200 cpu/mem-loads,ldlat=3/P: ffff888000000010 628100842 \
                    |OP LOAD|LVL L3 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A   50 ffffffff81000010 add+0x1 (x)";
        let line = sample(text);
        assert_eq!((line.period, line.event), (Some(200), Some("cpu/mem-loads,ldlat=3/P")));
        assert_eq!(words(&line.before_source_text), ["ffff888000000010", "628100842"]);
        assert_eq!((words(&line.numbers), line.rest), (vec!["50", "ffffffff81000010"], " add+0x1 (x)"));
        let blocked = text.replace("BLK  N/A", "BLK  Data Addr");
        assert_eq!(words(&sample(&blocked).numbers), ["50", "ffffffff81000010"]);
    }

    #[test]
    fn bars_of_a_symbol_are_no_words() {
        let line = sample("1.000001: x: 10 |OP STORE|LVL L1 hit|LCK No  4010 operator|(A, B)+0x1");
        assert_eq!((words(&line.numbers), line.rest), (vec!["4010"], " operator|(A, B)+0x1"));
    }

    #[test]
    fn a_symbol_may_look_like_a_number() {
        let text = "1.000001: x: ffff888000000010 ffffffff81000010 add (vmlinux)";
        let line = sample(text);
        assert_eq!(words(&line.numbers), ["ffff888000000010", "ffffffff81000010", "add"]);
        assert_eq!(line.text_after(text, 1), " add (vmlinux)");
        assert_eq!(line.text_after(text, 2), " (vmlinux)");
    }

    #[test]
    fn breakpoints_have_the_watched_address() {
        let line =
            sample("1.000001: mem:0x601040:rw:   601040 count+0x0 (/bin/a)   401010 main+0x10 (/bin/a)");
        assert_eq!((words(&line.numbers), line.rest), (vec!["601040", "401010"], " main+0x10 (/bin/a)"));
        let line = sample("1.000001: mem:0x601040:rw:   601040 count   401010 main");
        assert_eq!((words(&line.numbers), line.rest), (vec!["601040", "401010"], " main"));
        let line = sample("1.000001: mem:0x601040:rw:   401010 main+0x10 (/bin/a)");
        assert_eq!((words(&line.numbers), line.rest), (vec!["401010"], " main+0x10 (/bin/a)"));
    }

    #[test]
    fn comments_and_other_records() {
        assert_eq!(ScriptLine::parse("# hostname : a"), ScriptLine::Empty);
        assert_eq!(ScriptLine::parse("   "), ScriptLine::Empty);
        let ScriptLine::Other(_, other) = ScriptLine::parse("a 1/1 [000] 0.000000: PERF_RECORD_LOST lost 7")
        else {
            panic!("not another record")
        };
        assert_eq!(other, "LOST lost 7");
    }
}
