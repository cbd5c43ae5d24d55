//! Functions of the library that are told how many bytes of a member they take: by a number, or in a format.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Sum, Value, constant};

/// Functions of bounded texts.
const BOUNDED: [&str; 12] = [
    "strncpy",
    "stpncpy",
    "strncat",
    "strlcpy",
    "strlcat",
    "strscpy",
    "strncmp",
    "strncasecmp",
    "strnlen",
    "memchr",
    "snprintf",
    "vsnprintf",
];

/// A conversion of a format: the bytes that it stores, if that is known.
struct Conversion {
    bytes: Option<u64>,
    is_text: bool,
}

impl<'t> Evaluator<'_, '_, 't> {
    /// Members that a function which nobody defines is told to take more of than there is.
    pub(in crate::meaning) fn taken_beyond(&mut self, name: &[u8], arguments: &[Value<'t>]) {
        let text = lossy(name);
        if text.contains("scanf") {
            return self.scanned(&text, arguments);
        }
        let is_bounded = BOUNDED.iter().any(|known| text.ends_with(known));
        if !is_bounded && !self.world().is_complete {
            return;
        }
        let numbers: Vec<u64> = arguments
            .iter()
            .filter(|argument| {
                !argument.is_type && matches!(self.world().resolve(&argument.ty), Type::Number(..))
            })
            .filter_map(|argument| u64::try_from(constant(argument)?).ok())
            .collect();
        for argument in arguments.iter().filter(|argument| !argument.is_type) {
            for (record, member) in self.arrays_in(argument) {
                let Some((own, left, element)) = self.room_of(record, member) else { continue };
                // What doesn't fit into the object counts something else.
                let is_more = |number: &u64| {
                    let bytes = if is_bounded { *number } else { number.saturating_mul(element) };
                    bytes > own && bytes <= left || *number > own && *number <= left
                };
                if numbers.iter().any(is_more) {
                    let what = format!("{text} is told to take more bytes than {} has", lossy(member));
                    self.tell_from(record, member, what);
                }
            }
        }
    }

    /// Arrays that are members, by the addresses that a value is.
    fn arrays_in(&self, argument: &Value<'t>) -> Vec<(&'t [u8], &'t [u8])> {
        let sums = self.sums_of(argument);
        let members = sums.iter().filter(|sum| sum.base.is_some()).filter_map(Sum::member);
        members.filter(|(record, member)| self.is_array(record, member)).collect()
    }

    /// The bytes of a member, those from it to the object's end, and those of an element.
    fn room_of(&self, record: &[u8], member: &[u8]) -> Option<(u64, u64, u64)> {
        let (_, subject) = self.subject(record)?;
        let placed = subject.member(member).filter(|placed| placed.size > 0)?;
        let world = self.world();
        let ty = world.member(record, member).map(|ty| world.resolve(&ty));
        let element = ty.and_then(|ty| world.size(ty.element()?)).unwrap_or(1);
        Some((placed.size, subject.size.saturating_sub(placed.offset), element))
    }

    /// Bytes that a format stores into members.
    fn scanned(&mut self, name: &str, arguments: &[Value<'t>]) {
        let at = usize::from(!name.ends_with("scanf") || name.contains("sscanf") || name.contains("fscanf"));
        let format = arguments.get(at).filter(|format| format.is_text && !format.text.is_empty());
        let conversions = format.map(|format| conversions(format.text));
        for (number, argument) in arguments.iter().skip(at + 1).enumerate() {
            let sums = self.sums_of(argument);
            let conversion = conversions.as_ref().and_then(|all| all.get(number));
            for (record, member) in sums.iter().filter(|sum| sum.base.is_some()).filter_map(Sum::member) {
                let Some((own, _, _)) = self.room_of(record, member) else { continue };
                let is_array = self.is_array(record, member);
                let is_more = match conversion {
                    Some(Conversion { bytes: Some(bytes), .. }) => *bytes > own,
                    Some(Conversion { is_text, .. }) => *is_text && !is_array,
                    None => is_array,
                };
                if is_more {
                    let what = format!("{name} may store more bytes than {} has", lossy(member));
                    self.tell_from(record, member, what);
                }
            }
        }
    }
}

/// The conversions of a format that store something.
fn conversions(format: &[u8]) -> Vec<Conversion> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        rest = rest.get(at + 1..).unwrap_or_default();
        if let [b'%', behind @ ..] = rest {
            rest = behind;
            continue;
        }
        let is_skipped = rest.first() == Some(&b'*');
        let digits =
            rest.iter().skip(usize::from(is_skipped)).take_while(|byte| byte.is_ascii_digit()).count();
        let from = usize::from(is_skipped);
        let width = rest.get(from..from + digits).and_then(|digits| std::str::from_utf8(digits).ok());
        let width: Option<u64> = width.and_then(|width| width.parse().ok());
        let behind = rest.get(from + digits..).unwrap_or_default();
        let long = behind
            .iter()
            .take_while(|byte| matches!(byte, b'h' | b'l' | b'j' | b'z' | b't' | b'L' | b'm'))
            .count();
        let kind = behind.get(long).copied().unwrap_or(b' ');
        if !is_skipped {
            found.push(conversion(kind, behind.get(..long).unwrap_or_default(), width));
        }
        rest = behind.get(long..).unwrap_or_default();
        if let [b'[', set @ ..] = rest {
            let end = set.iter().skip(1).position(|byte| *byte == b']').map_or(set.len(), |end| end + 2);
            rest = set.get(end..).unwrap_or_default();
        }
    }
    found
}

fn conversion(kind: u8, long: &[u8], width: Option<u64>) -> Conversion {
    let whole = match long {
        b"hh" => 1,
        b"h" => 2,
        b"l" | b"ll" | b"j" | b"z" | b"t" => 8,
        _ => 4,
    };
    let bytes = match kind {
        b'c' => Some(width.unwrap_or(1)),
        b's' | b'[' => width.map(|width| width + 1),
        b'e' | b'f' | b'g' | b'a' | b'E' | b'G' if long == b"L" => Some(16),
        b'p' => Some(8),
        b' ' => None,
        _ => Some(whole),
    };
    Conversion { bytes: bytes.filter(|_| !long.contains(&b'm')), is_text: matches!(kind, b's' | b'[') }
}

#[cfg(test)]
mod tests {
    use super::conversions;

    #[test]
    fn formats_say_how_many_bytes_they_store() {
        let stored = |format: &str| -> Vec<Option<u64>> {
            conversions(format.as_bytes()).iter().map(|found| found.bytes).collect()
        };
        assert_eq!(stored("\"%8c %*d %ld%%%[^]]x%3s\""), [Some(8), Some(8), None, Some(4)]);
        assert_eq!(stored("%hhd %d %Lf %lf %ms"), [Some(1), Some(4), Some(16), Some(8), None]);
    }
}
