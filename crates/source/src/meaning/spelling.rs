//! Spellings that mean the same: other signs for brackets, words that go on behind a line's end, raw strings.
//!
//! Lines and lengths stay as they are.

/// Signs of two characters, with the one that each means.
const SIGNS: [([u8; 2], u8); 5] =
    [(*b"<%", b'{'), (*b"%>", b'}'), (*b"<:", b'['), (*b":>", b']'), (*b"%:", b'#')];

/// Longest word between the quote and the bracket of a raw string.
const LONGEST: usize = 16;

/// A text with its plain spelling.
pub fn plainly_spelled(text: Vec<u8>) -> Vec<u8> {
    if !needs(&text) {
        return text;
    }
    let mut speller = Speller { text: &text, at: 0, plain: Vec::with_capacity(text.len()), ends: 0 };
    while speller.at < text.len() {
        speller.step();
    }
    speller.end_lines();
    speller.plain
}

fn needs(text: &[u8]) -> bool {
    // Brackets spelled otherwise and raw strings are rare, ends of lines behind a backslash are not.
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    let is_split = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        before.is_some_and(|byte| crate::scan::is_word(*byte)) && word_behind(text, at).is_some()
    };
    memchr::memmem::find_iter(text, b"\\\n").any(is_split)
        || memchr::memmem::find_iter(text, b"\\\r\n").any(is_split)
        || has(b"<%")
        || has(b"<:")
        || has(b"R\"")
}

/// Where a word goes on behind the end of a line at a place.
fn word_behind(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let length = if rest.starts_with(b"\\\n") { 2 } else { usize::from(rest.starts_with(b"\\\r\n")) * 3 };
    let next = text.get(at + length).filter(|_| length > 0)?;
    crate::scan::is_word(*next).then_some(at + length)
}

struct Speller<'t> {
    text: &'t [u8],
    at: usize,
    plain: Vec<u8>,
    /// Ends of lines that a word has passed.
    ends: usize,
}

impl Speller<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn copy(&mut self, length: usize) {
        let part = self.text.get(self.at..(self.at + length).min(self.text.len())).unwrap_or_default();
        self.plain.extend_from_slice(part);
        self.at += length.max(1);
    }

    fn end_lines(&mut self) {
        for _ in 0..std::mem::take(&mut self.ends) {
            self.plain.extend_from_slice(b"\\\n");
        }
    }

    fn step(&mut self) {
        let Some(byte) = self.text.get(self.at).copied() else { return };
        let is_word = crate::scan::is_word(byte);
        let in_word = self.plain.last().is_some_and(|last| crate::scan::is_word(*last));
        if let (true, Some(next)) = (in_word, word_behind(self.text, self.at)) {
            self.ends += 1;
            self.at = next;
            return;
        }
        if !is_word {
            self.end_lines();
        }
        let rest = self.rest();
        if rest.starts_with(b"//") {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            return self.copy(end);
        }
        if rest.starts_with(b"/*") {
            let end = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
            return self.copy(end);
        }
        if let Some(length) = self.raw_string() {
            return self.blank(length);
        }
        if matches!(byte, b'"' | b'\'') && !(byte == b'\'' && in_word) {
            let end = quoted(rest, byte);
            return self.copy(end);
        }
        let sign = rest.get(..2).and_then(|pair| SIGNS.iter().find(|(sign, _)| sign == pair));
        let is_scope = rest.starts_with(b"<::") && !matches!(rest.get(3), Some(b':' | b'>'));
        if let (Some((_, plain)), false) = (sign, is_scope) {
            self.plain.extend_from_slice(&[*plain, b' ']);
            self.at += 2;
            return;
        }
        self.copy(1);
    }

    /// The length of the raw string here, from its `R` on.
    fn raw_string(&self) -> Option<usize> {
        let before = self.plain.last().copied().unwrap_or(b' ');
        if crate::scan::is_word(before) && !matches!(before, b'8' | b'u' | b'U' | b'L') {
            return None;
        }
        let rest = self.rest();
        let inside = rest.strip_prefix(b"R\"")?;
        let open = inside.iter().take(LONGEST + 1).position(|byte| *byte == b'(')?;
        let mut close = vec![b')'];
        close.extend_from_slice(inside.get(..open)?);
        close.push(b'"');
        let end = memchr::memmem::find(inside, &close)?;
        Some(2 + end + close.len())
    }

    /// A raw string as an empty one: its lines stay.
    fn blank(&mut self, length: usize) {
        let part = self.text.get(self.at..self.at + length).unwrap_or_default();
        self.plain.extend_from_slice(b"\"\"");
        let blanks = part.iter().skip(2).map(|byte| if *byte == b'\n' { b'\n' } else { b' ' });
        self.plain.extend(blanks);
        self.at += length;
    }
}

/// The length of a text or character in quotes.
fn quoted(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        String::from_utf8_lossy(&plainly_spelled(text.as_bytes().to_vec())).into_owned()
    }

    #[test]
    fn other_spellings_become_plain_ones_of_the_same_length() {
        assert_eq!(spelled("int a<:2:> = <% 1 %>; // <:"), "int a[ 2]  = {  1 } ; // <:");
        assert_eq!(spelled("str\\\nuct s;\nint x;"), "struct\\\n s;\nint x;");
        assert_eq!(spelled("x = R\"(a\"{\n)\"; y"), "x = \"\"    \n  ; y");
        assert_eq!(spelled("f(\"<%\"); a<::b>"), "f(\"<%\"); a<::b>");
    }
}
