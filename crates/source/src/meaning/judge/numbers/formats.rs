//! Formats of functions that print: of each argument, how much is read where it points to.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::stream::{Kind, Piece};
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Sum, Term, Value};

/// Functions of the library that print by a format, and which argument that is.
const PRINTS: [(&str, usize); 14] = [
    ("printf", 0),
    ("fprintf", 1),
    ("dprintf", 1),
    ("sprintf", 1),
    ("snprintf", 2),
    ("asprintf", 1),
    ("syslog", 1),
    ("warn", 0),
    ("warnx", 0),
    ("err", 1),
    ("errx", 1),
    ("error", 2),
    ("obstack_printf", 1),
    ("g_snprintf", 2),
];

/// How much a conversion reads where its argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// Nothing, or who knows.
    Other,
    /// A text up to its end.
    Text,
    /// A text up to its end, and no more than so many bytes.
    Bounded(u64),
}

/// Which argument of a function of the library is a format.
pub(in crate::meaning) fn format_place(name: &[u8]) -> Option<usize> {
    PRINTS.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, place)| *place)
}

/// The text of an argument that consists of literals, and of the standard's names of conversions between them.
pub(in crate::meaning) fn literal(pieces: &[Piece<'_>]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for piece in pieces {
        match piece.kind {
            Kind::Quoted => text.extend(piece.text.strip_prefix(b"\"")?.strip_suffix(b"\"")?),
            Kind::Word => text.push(conversion_named(piece.text)?),
            _ => return None,
        }
    }
    (!pieces.is_empty()).then_some(text)
}

/// The conversion that a name such as `PRIu64` stands for (C11 section 7.8.1).
fn conversion_named(name: &[u8]) -> Option<u8> {
    let [kind @ (b'd' | b'i' | b'o' | b'u' | b'x' | b'X'), width @ ..] = name.strip_prefix(b"PRI")? else {
        return None;
    };
    let width = width.strip_prefix(b"LEAST").or_else(|| width.strip_prefix(b"FAST")).unwrap_or(width);
    matches!(width, b"8" | b"16" | b"32" | b"64" | b"MAX" | b"PTR").then_some(*kind)
}

/// How much a format reads by each argument behind it; none if that can't be told, or arguments depend on one another.
fn reads(format: &[u8]) -> Option<Vec<Read>> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some((first, behind)) = rest.split_first() {
        rest = match first {
            b'%' => conversion(behind, &mut found)?,
            // A number may stand for any character.
            b'\\' if matches!(behind.first(), None | Some(b'0'..=b'9' | b'x' | b'u' | b'U' | b'N')) => {
                return None;
            }
            b'\\' => behind.get(1..).unwrap_or_default(),
            _ => behind,
        };
    }
    Some(found)
}

/// Reads a conversion behind its sign; gives what stands behind it.
fn conversion<'f>(format: &'f [u8], found: &mut Vec<Read>) -> Option<&'f [u8]> {
    let behind = |text: &'f [u8], is_part: fn(&u8) -> bool| {
        let count = text.iter().take_while(|byte| is_part(byte)).count();
        text.split_at_checked(count).unwrap_or((text, &[]))
    };
    let (_, rest) = behind(format, |byte| matches!(byte, b'-' | b'+' | b' ' | b'#' | b'0' | b'\''));
    let (_, rest) = behind(rest, u8::is_ascii_digit);
    let (precision, rest) = match rest.strip_prefix(b".") {
        Some(rest) => {
            let (digits, rest) = behind(rest, u8::is_ascii_digit);
            // No digits are none.
            let number = digits.iter().try_fold(0_u64, |number, digit| {
                number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
            });
            (Some(number?), rest)
        }
        None => (None, rest),
    };
    let (long, rest) = behind(rest, |byte| matches!(byte, b'h' | b'l' | b'j' | b'z' | b't' | b'L' | b'q'));
    let (kind, rest) = rest.split_first()?;
    match kind {
        b'%' => return Some(rest),
        // The error's text, by no argument.
        b'm' => return Some(rest),
        b's' if long.is_empty() => found.push(precision.map_or(Read::Text, Read::Bounded)),
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a'
        | b'A' | b'p' => found.push(Read::Other),
        _ => return None,
    }
    Some(rest)
}

impl<'t> Evaluator<'_, '_, 't> {
    /// Arguments of a call that a format reads, each for itself: their numbers say nothing of one another. Gives the number
    /// of the first and whether each is a text that ends in its array.
    pub(in crate::meaning) fn printed_alone(
        &mut self,
        name: &[u8],
        arguments: &[Value<'t>],
        all: &[Vec<Sum<'t>>],
    ) -> Option<(usize, Vec<bool>)> {
        let place = format_place(name)?;
        // The program's own function of this name does anything.
        if self.world().functions.get(name).is_some_and(|function| function.is_defined) {
            return None;
        }
        let format = arguments.get(place)?.format.clone()?;
        let reads = reads(&format)?;
        let first = place + 1;
        if arguments.len() < first + reads.len() {
            return None;
        }
        let mut texts = Vec::new();
        for (argument, sums) in arguments.iter().zip(all).skip(first) {
            let is_text = match reads.get(texts.len()) {
                Some(Read::Text) => true,
                Some(Read::Bounded(bytes)) => self.has_room(name, sums, *bytes),
                Some(Read::Other) => false,
                // What no conversion is for isn't read.
                None => true,
            };
            let ty = self.world().resolve(&argument.ty);
            let is_bytes = matches!(&ty, Type::Array(inner, _) if self.world().resolve(inner) == Type::Byte);
            texts.push(is_text && is_bytes);
        }
        Some((first, texts))
    }

    /// Whether arrays that a text is read from have so many bytes; those that haven't keep what stands behind them.
    fn has_room(&mut self, name: &[u8], sums: &[Sum<'t>], bytes: u64) -> bool {
        let mut has_room = true;
        for sum in sums {
            let [(true, Term::Offset(record, member))] = sum.terms.as_slice() else { continue };
            let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
            if size.is_some_and(|size| size < bytes) && self.is_array(record, member) {
                has_room = false;
                self.beyond(record, member, format!("{} is told to read more than it has", lossy(name)));
            }
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::{Read, reads};

    #[test]
    fn formats_say_what_is_read_by_each_argument() {
        let other = Read::Other;
        assert_eq!(
            reads(b"%d:%-8s %.4s|%5.2f%% %m\\n"),
            Some(vec![other, Read::Text, Read::Bounded(4), other])
        );
        assert_eq!(reads(b"%.s%zu%lld"), Some(vec![Read::Bounded(0), other, other]));
        for open in ["%*d", "%.*s", "%n", "%1$s", "%ls", "%", "\\x25s", "\\045s", "%99999999999999999999s"] {
            let found = reads(open.as_bytes());
            assert_eq!(found.is_some(), open.ends_with("99s"), "{open}");
        }
        assert_eq!(reads(b"%.99999999999999999999s"), None);
    }
}
