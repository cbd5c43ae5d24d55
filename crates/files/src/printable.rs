//! Names of files that may be hostile, as text that is safe on a terminal and stays on its line.
//!
//! Names of types, members, functions and files are whatever stands in debug info. All readers pass them through
//! here, so that no report has to.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character controls a terminal or the direction of text, or ends a line.
pub fn is_unprintable(character: char) -> bool {
    let is_direction = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || is_direction || matches!(character, '\u{2028}' | '\u{2029}')
}

/// A name on one line: what is unprintable is written `\u001b`, as JSON does.
pub fn printable(name: &str) -> Cow<'_, str> {
    escape(name, is_unprintable)
}

/// A name from bytes. Those that are no UTF-8 are shown as such.
pub fn printable_bytes(name: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(text) => printable(text),
        Cow::Owned(text) => Cow::Owned(printable(&text).into_owned()),
    }
}

/// Text with some characters written as escapes of JSON: text that is JSON stays what it was.
pub fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_escaped(character) {
            true => drop(write!(out, "\\u{:04x}", u32::from(character))),
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_or_ends_a_line_is_written_out() {
        assert_eq!(printable("a\x1b[31mb\nc\rd\te\u{9b}f"), "a\\u001b[31mb\\u000ac\\u000dd\\u0009e\\u009bf");
        assert_eq!(printable("\u{202e}x\u{2028}"), "\\u202ex\\u2028");
        assert!(matches!(printable("geo::Ring<int>"), Cow::Borrowed(_)));
        assert_eq!(printable_bytes(b"a\xff\n"), "a\u{fffd}\\u000a");
    }
}
