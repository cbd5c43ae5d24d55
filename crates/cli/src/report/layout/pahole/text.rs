//! The text being written: padding and numbers, written without format strings for speed.

use std::fmt::{self, Write};

/// Most tabs a line begins with; deeper nesting is not indented further.
const MAX_TABS: usize = 16;

#[derive(Debug, Default)]
pub(super) struct TextBuffer(String);

impl TextBuffer {
    /// Length in bytes, to measure what was written since.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn push_str(&mut self, word: &str) {
        self.0.push_str(word);
    }

    pub(super) fn push_all(&mut self, words: &[&str]) {
        self.0.extend(words.iter().copied());
    }

    /// Text after some tabs.
    pub(super) fn indented(&mut self, tabs: usize, text: &str) {
        self.tabs(tabs);
        self.push_str(text);
    }

    pub(super) fn put(&mut self, text: fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(text);
    }

    pub(super) fn end_line(&mut self) {
        self.0.push('\n');
    }

    pub(super) fn tabs(&mut self, count: usize) {
        self.0.extend(std::iter::repeat_n('\t', count.min(MAX_TABS)));
    }

    pub(super) fn spaces(&mut self, count: usize) {
        self.0.extend(std::iter::repeat_n(' ', count));
    }

    /// Fills up with spaces what was written since `start` to `width` columns. A negative width, which deep
    /// nesting leaves, counts by its amount: printf takes the sign for the flag that it already has.
    pub(super) fn pad(&mut self, start: usize, width: i64) {
        let written = (self.0.len() - start) as u64;
        let missing = width.unsigned_abs().saturating_sub(written);
        self.spaces(usize::try_from(missing).unwrap_or(0));
    }

    pub(super) fn number(&mut self, number: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.0.extend(digits[at..].iter().map(|digit| char::from(*digit)));
    }

    /// A number in a column of `width`, right-aligned.
    pub(super) fn column(&mut self, number: u64, width: usize) {
        let digits = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        self.spaces(width.saturating_sub(digits));
        self.number(number);
    }

    /// Cuts what was written since `start` to `max` bytes (to fewer if that would split a character).
    pub(super) fn cut(&mut self, start: usize, max: usize) {
        let mut end = start.saturating_add(max);
        if end >= self.0.len() {
            return;
        }
        while !self.0.is_char_boundary(end) {
            end -= 1;
        }
        self.0.truncate(end);
    }
}

/// `s` unless the count is one.
pub(super) fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_their_column_from_the_right() {
        let mut text = TextBuffer::default();
        for number in [0, 9, 10, 99_999, 100_000] {
            text.column(number, 5);
            text.push_str("|");
        }
        assert_eq!(text.as_str(), "    0|    9|   10|99999|100000|");
    }

    #[test]
    fn a_cut_keeps_characters_whole() {
        let mut text = TextBuffer::default();
        text.push_str("aéb");
        text.cut(0, 2);
        assert_eq!(text.as_str(), "a");
    }
}
