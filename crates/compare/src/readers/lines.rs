//! Lines and the numbers in them.

/// A line with its number, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    pub(crate) number: usize,
    pub(crate) text: &'t str,
}

impl<'t> Line<'t> {
    /// The words between blanks.
    pub(crate) fn words(&self) -> Vec<&'t str> {
        self.text.split_whitespace().collect()
    }

    /// All words as numbers, if they are nothing else.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        self.text.split_whitespace().map(number).collect()
    }

    /// The text behind a beginning, both without blanks around them.
    pub(crate) fn after(&self, beginning: &str) -> Option<&'t str> {
        self.text.trim_start().strip_prefix(beginning).map(str::trim)
    }
}

/// The lines of a text; a carriage return inside one begins it anew, as on a terminal.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let last_drawn = |line: &'_ str| -> usize {
        let line = line.trim_end_matches('\r');
        line.rfind('\r').map_or(0, |at| at + 1)
    };
    let numbered = (1..).zip(text.lines());
    numbered
        .map(|(number, line)| Line {
            number,
            text: line.get(last_drawn(line)..).unwrap_or(line).trim_end_matches('\r'),
        })
        .collect()
}

/// A finite decimal number, with commas between thousands if it has any.
pub(crate) fn number(word: &str) -> Option<f64> {
    let begins = word.trim_start_matches(['+', '-']);
    if !begins.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let parsed: f64 = match word.contains(',') {
        true => without_commas(word)?.parse().ok()?,
        false => word.parse().ok()?,
    };
    parsed.is_finite().then_some(parsed)
}

/// `1,234,567.8` without its commas; `None` if they stand elsewhere.
fn without_commas(word: &str) -> Option<String> {
    let whole = word.split('.').next().unwrap_or(word);
    let mut groups = whole.trim_start_matches(['+', '-']).split(',');
    let is_first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
    let are_thousands =
        groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    let has_more = word.get(whole.len()..).is_some_and(|rest| rest.contains(','));
    (is_first && are_thousands && !has_more).then(|| word.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_finite() {
        assert_eq!(
            ["1,234,567.5", "1,234", "-3", "+0.5", ".5", "1e3"].map(number),
            [Some(1_234_567.5), Some(1234.0), Some(-3.0), Some(0.5), Some(0.5), Some(1000.0)]
        );
        for wrong in
            ["", "nan", "inf", "1e999", "1,2", "12,34", "1,234.5,6", "0x10", "-", "7s", "1.2.3", ",123"]
        {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_that_were_drawn_again_count_as_drawn_last() {
        let found: Vec<&str> = lines("a\r\nb 10%\rb 20%\r\n").iter().map(|line| line.text).collect();
        assert_eq!(found, ["a", "b 20%"]);
    }
}
