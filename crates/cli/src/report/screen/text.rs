//! Rows no wider than a terminal: text cut, wrapped, and lists folded.

use crate::report::color::Palette;
use fieldline_files::printable::printable;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Stands for text left out: ASCII, since not every terminal shows more.
const ELLIPSIS: &str = "...";

/// Rows of text, none wider than a terminal.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Columns.
    pub(crate) width: usize,
    paint: Palette,
    rows: Vec<String>,
}

impl Rows {
    pub(crate) fn new(width: usize, paint: Palette) -> Self {
        Self { width, paint, rows: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row; its end is left out if it is too long.
    pub(crate) fn push(&mut self, text: &str) {
        let row = cut(text.trim_end(), self.width);
        self.rows.push(row);
    }

    /// A row of less importance, such as a table's head.
    pub(crate) fn head(&mut self, text: &str) {
        let row = self.paint.dim(&cut(text.trim_end(), self.width));
        self.rows.push(row);
    }

    /// A row that begins with a name and ends with something else at the right edge. The name gets what room is left.
    pub(crate) fn title(&mut self, keyword: &str, name: &str, rest: &str, right: &str) {
        let taken = columns(keyword) + columns(rest) + columns(right) + 2;
        let name = shorten(name, self.width.saturating_sub(taken).max(MIN_NAME));
        let left = format!("{keyword}{name}");
        let used = columns(&left) + columns(rest) + columns(right);
        if used > self.width {
            let row = cut(&format!("{left}{rest}"), self.width);
            return self.rows.push(row);
        }
        let gap = " ".repeat(self.width - used);
        let row = format!("{}{rest}{gap}{right}", self.paint.bold(&left));
        self.rows.push(row.trim_end().to_owned());
    }

    pub(crate) fn blank(&mut self) {
        self.rows.push(String::new());
    }

    /// A paragraph of a few rows at most; further rows begin as far to the right as the text behind `label`.
    pub(crate) fn paragraph(&mut self, label: &str, text: &str, most: usize) {
        let indent = columns(label).min(self.width / 2);
        let mut lines = wrap(text, self.width.saturating_sub(indent));
        if lines.len() > most.max(1) {
            lines.truncate(most.max(1));
            if let Some(last) = lines.last_mut() {
                *last = cut(&format!("{last} {ELLIPSIS}{ELLIPSIS}"), self.width.saturating_sub(indent));
                *last = last.replace("......", ELLIPSIS);
            }
        }
        for (number, line) in lines.iter().enumerate() {
            let head = if number == 0 { label.to_owned() } else { " ".repeat(indent) };
            self.push(&format!("{head}{line}"));
        }
    }

    /// Rows as they are, which fit by themselves.
    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = String>) {
        self.rows.extend(rows);
    }

    /// All rows of another text.
    pub(crate) fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    pub(crate) fn paint(&self) -> Palette {
        self.paint
    }

    pub(crate) fn into_text(self) -> String {
        self.rows.into_iter().fold(String::new(), |text, row| text + &row + "\n")
    }
}

/// Columns that any name gets.
const MIN_NAME: usize = 16;

/// Columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text on one line, with its end left out if it is too long.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = printable(text);
    if columns(&text) <= most {
        return text.into_owned();
    }
    let kept = prefix(&text, most.saturating_sub(ELLIPSIS.len()));
    format!("{}{}", kept.trim_end(), &ELLIPSIS[..ELLIPSIS.len().min(most)])
}

/// A name with its middle left out if it is too long: names of C++ differ at both ends.
pub(crate) fn shorten(name: &str, most: usize) -> String {
    let name = printable(name);
    if columns(&name) <= most {
        return name.into_owned();
    }
    let kept = most.saturating_sub(ELLIPSIS.len());
    let head = prefix(&name, kept - kept / 2);
    format!("{head}{ELLIPSIS}{}", suffix(&name, kept / 2))
}

/// The longest beginning that takes no more columns.
fn prefix(text: &str, most: usize) -> &str {
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let fitting = ends.take_while(|end| text.get(..*end).is_some_and(|part| columns(part) <= most));
    text.get(..fitting.last().unwrap_or(0)).unwrap_or_default()
}

/// The longest end that takes no more columns.
fn suffix(text: &str, most: usize) -> &str {
    let begins = text.char_indices().rev().map(|(at, _)| at);
    let fitting = begins.take_while(|at| text.get(*at..).is_some_and(|part| columns(part) <= most));
    text.get(fitting.last().unwrap_or(text.len())..).unwrap_or_default()
}

/// Names as far as they fit, and how many more there are.
pub(crate) fn fold(names: &[impl AsRef<str>], separator: &str, most: usize) -> String {
    let more = |count: usize| match count {
        0 => String::new(),
        count if most < NARROW => format!(" (+{count})"),
        count => format!(" and {count} more"),
    };
    let room = most.saturating_sub(more(names.len().saturating_sub(1)).len()).max(MIN_NAME);
    let names: Vec<String> = names.iter().map(|name| shorten(name.as_ref(), room)).collect();
    let mut best = format!("{} names", names.len());
    let mut named = String::new();
    for (number, name) in names.iter().enumerate() {
        let gap = if number == 0 { "" } else { separator };
        named = format!("{named}{gap}{name}");
        if columns(&named) > most {
            break;
        }
        let text = format!("{named}{}", more(names.len() - number - 1));
        if columns(&text) <= most {
            best = text;
        }
    }
    if names.is_empty() { String::new() } else { cut(&best, most) }
}

/// In less than so many columns, lists say shorter how many they leave out.
const NARROW: usize = 40;

/// Lines of a text no wider than `most`, broken between words where possible.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word: Cow<'_, str> = printable(word);
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&word) <= most => {
                line.push(' ');
                line.push_str(&word);
                continue;
            }
            _ => {}
        }
        while columns(&word) > most {
            let head = prefix(&word, most).to_owned();
            if head.is_empty() {
                break;
            }
            word = Cow::Owned(word.get(head.len()..).unwrap_or_default().to_owned());
            lines.push(head);
        }
        lines.push(word.into_owned());
    }
    lines
}

/// A number with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun, which takes an s for any but one.
pub(crate) fn plural(number: usize, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {noun}{end}", count(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_lose_their_middle_and_texts_their_end() {
        assert_eq!(shorten("std::map<int, std::string>::node", 20), "std::map<...g>::node");
        assert_eq!(shorten("load", 4), "load");
        assert_eq!(cut("one two three", 9), "one tw...");
        assert_eq!(cut("one two three", 7), "one...");
    }

    #[test]
    fn lists_say_how_many_they_leave_out() {
        let names = ["load", "nr_running", "avg", "curr"];
        assert_eq!(fold(&names, " ", 40), "load nr_running avg curr");
        assert_eq!(fold(&names, " ", 21), "load nr_running (+2)");
        assert_eq!(fold(&names, ", ", 21), "load, nr_running (+2)");
        assert_eq!(fold(&names, " ", 8), "4 names");
        let names = ["sched_balance_update_blocked_averages", "update_load_avg"];
        assert_eq!(fold(&names, ", ", 52), "sched_balance_update_blocked_averages and 1 more");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1000, 26905, 1_234_567].map(count), ["0", "999", "1,000", "26,905", "1,234,567"]);
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_the_terminal(text in "\\PC{0,60}", width in 20usize..60) {
            let mut rows = Rows::new(width, Palette::new(false));
            rows.push(&text);
            rows.title("struct ", &text, ": 3 move", "12 samples");
            rows.paragraph("  look at: ", &text, 3);
            rows.push(&fold(&[&text, &text, "x"], " ", width));
            rows.push(&shorten(&text, width));
            for row in rows.into_text().lines() {
                prop_assert!(columns(row) <= width, "{row}");
            }
        }
    }
}
