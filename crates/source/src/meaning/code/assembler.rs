//! Assembler code in functions: what its operands hand in, and what may come out.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::judge::symbols::words_in;
use crate::meaning::stream::Kind;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Value, join};

/// Instructions that take more bytes of memory than a number has, by a part of their names.
const WIDE: [&str; 19] = [
    "dqu",
    "dqa",
    "ups",
    "aps",
    "apd",
    "upd",
    "cmpxchg8b",
    "cmpxchg16b",
    "gdt",
    "idt",
    "save",
    "rstor",
    "ldp ",
    "stp ",
    "ldm",
    "stm",
    "ld1",
    "st1",
    "rep",
];

/// Instructions that go from byte to byte and name no register.
const STRINGS: &str = " movsb movsw movsl movsq stosb stosw stosl stosq lodsb lodsw lodsl lodsq cmpsb cmpsw cmpsl \
     cmpsq scasb scasw scasl scasq ";

/// An operand in brackets, with its constraint.
struct Operand<'t> {
    constraint: &'t [u8],
    is_output: bool,
    value: Value<'t>,
}

impl<'t> Operand<'t> {
    fn has(&self, letters: &[u8]) -> bool {
        self.constraint.iter().any(|letter| letters.contains(letter))
    }

    /// Whether it is handed in: an input, or an output that is one too.
    fn is_input(&self) -> bool {
        !self.is_output || self.has(b"+")
    }
}

impl<'t> Evaluator<'_, '_, 't> {
    /// `asm("…" : "=r"(q) : "r"(p))`: text that counts bytes from an address, or gives it another type.
    pub(in crate::meaning) fn assembler(&mut self) {
        self.cursor.at += 1;
        while matches!(
            self.cursor.here(),
            b"volatile" | b"__volatile__" | b"goto" | b"inline" | b"__inline__"
        ) {
            self.cursor.at += 1;
        }
        let close = self.cursor.behind(self.cursor.at);
        let inside = self.cursor.at + 1..close.saturating_sub(1);
        let pieces = self.cursor.pieces.get(inside.clone()).unwrap_or_default();
        let first =
            pieces.iter().position(|piece| piece.text == b":" || piece.text == b"::").unwrap_or(pieces.len());
        let texts: Vec<&'t [u8]> = pieces.iter().take(first).map(|piece| piece.text).collect();
        self.cursor.at = inside.start + first;
        let operands = self.operands(inside.end);
        self.cursor.at = close;
        let counts = texts.iter().any(|text| counts_bytes(text));
        let is_wide = texts.iter().any(|text| is_wide(text));
        for operand in &operands {
            self.operand(operand, counts, is_wide);
        }
        let is_empty = texts.iter().all(|text| text.len() <= 2 || !text.starts_with(b"\""));
        if is_empty || self.world().is_complete {
            self.come_out(&operands);
        }
    }

    fn operands(&mut self, end: usize) -> Vec<Operand<'t>> {
        let mut found = Vec::new();
        let mut section = 0;
        while self.cursor.at < end {
            let start = self.cursor.at;
            match self.cursor.here() {
                b":" => section += 1,
                b"::" => section += 2,
                b"(" => {
                    let before = self.cursor.pieces.get(start.wrapping_sub(1));
                    let constraint = before
                        .filter(|piece| piece.kind == Kind::Quoted)
                        .map_or(&b""[..], |piece| piece.text);
                    let value = self.unary();
                    self.cursor.at = self.cursor.behind(start);
                    found.push(Operand { constraint, is_output: section == 1, value });
                }
                _ => {}
            }
            self.cursor.at = self.cursor.at.max(start + 1);
        }
        found
    }

    /// The value that an operand hands to the text.
    fn operand(&mut self, operand: &Operand<'t>, counts: bool, is_wide: bool) {
        let mut sums = self.sums_of(&operand.value);
        self.escape(&sums);
        // The bytes of a member that is an operand in memory.
        if operand.has(b"mo") && is_wide && self.world().is_complete {
            join(&mut sums, operand.value.place.as_deref().unwrap_or_default());
        }
        for sum in sums.iter().filter(|_| counts || is_wide) {
            let Some(Base::Object(record)) = sum.base else { continue };
            match sum.member().filter(|(own, _)| *own == record) {
                _ if sum.terms.is_empty() && counts => {
                    self.tell_whole(record, "assembler code counts bytes from its address".to_owned());
                }
                Some((_, member)) if self.world().is_complete && !self.is_array(record, member) => {
                    let what = format!("assembler code goes on from {}", lossy(member));
                    self.tell_from(record, member, what);
                }
                _ => {}
            }
        }
    }

    /// Addresses that are handed in and may come out with another type.
    fn come_out(&mut self, operands: &[Operand<'t>]) {
        let mut sums: Vec<Sum<'t>> = Vec::new();
        for operand in operands.iter().filter(|operand| operand.is_input()) {
            join(&mut sums, &self.sums_of(&operand.value));
            if operand.has(b"m") && self.world().is_complete {
                join(&mut sums, operand.value.place.as_deref().unwrap_or_default());
            }
        }
        sums.retain(|sum| matches!(sum.base, Some(Base::Object(_))));
        for output in operands.iter().filter(|operand| operand.is_output && !sums.is_empty()) {
            let ty = self.world().resolve(&output.value.ty);
            if !matches!(ty, Type::Pointer(_) | Type::Number(_, 8)) {
                continue;
            }
            let handed = Value::sums(Type::Void.pointer(), sums.clone());
            let own = self.sums_of(&output.value);
            // What may be what is wanted is taken to be that.
            if !sums.iter().any(|sum| own.contains(sum)) {
                self.convert(&handed, &ty, true);
            }
            if let Some(name) = output.value.name.filter(|_| !self.is_typed(&ty)) {
                self.assign(name, &sums);
            }
        }
    }
}

/// Whether an assembler text addresses memory at a distance from a register.
fn counts_bytes(text: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    let is_string = || words_in(text).any(|word| is_among(STRINGS, word));
    text.starts_with(b"\"") && (has(b"(%") || has(b"[%") || has(b"rep") || is_string())
}

/// Whether an assembler text has an instruction that takes more bytes than a number has.
fn is_wide(text: &[u8]) -> bool {
    text.starts_with(b"\"") && WIDE.iter().any(|part| memchr::memmem::find(text, part.as_bytes()).is_some())
}
