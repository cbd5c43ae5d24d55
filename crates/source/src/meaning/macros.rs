//! Macros put in place of their calls.

use super::stream::{Kind, Macro, Piece};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

/// Most pieces that a file grows by.
const MOST: usize = 4_000_000;
/// Most pieces of one call, and how deep calls are followed.
const LARGEST: usize = 20_000;
const DEEPEST: usize = 24;

/// A macro with the file that defines it.
#[derive(Clone, Debug)]
pub(super) struct KnownMacro<'t> {
    pub(super) definition: Macro<'t>,
    pub(super) file: usize,
    /// Whether a header defines it.
    pub(super) is_shared: bool,
}

/// All macros that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Macros<'t> {
    pub(super) all: Vec<KnownMacro<'t>>,
    pub(super) by_name: FxHashMap<&'t [u8], Vec<u32>>,
    /// Whether all code is read.
    pub(super) is_complete: bool,
    /// All words of all files, so far as names are pasted together.
    pub(super) words: OnceLock<FxHashSet<&'t [u8]>>,
    pub(super) texts: Vec<&'t [u8]>,
}

impl<'t> Macros<'t> {
    pub(super) fn add(&mut self, found: KnownMacro<'t>) {
        let number = self.all.len() as u32;
        self.by_name.entry(found.definition.name).or_default().push(number);
        self.all.push(found);
    }

    /// The name that two parts make, if a file says it.
    fn pasted(&self, first: &[u8], second: &[u8]) -> Option<&'t [u8]> {
        let words = self.words.get_or_init(|| {
            let is_word = |byte: &u8| crate::scan::is_word(*byte);
            self.texts.iter().flat_map(|text| text.split(move |byte| !is_word(byte))).collect()
        });
        words.get([first, second].concat().as_slice()).copied()
    }

    pub(super) fn get(&self, number: u32) -> Option<&KnownMacro<'t>> {
        self.all.get(number as usize)
    }

    /// The definition that a file means, of several the one whose turn it is: the file's own, else any.
    fn find(&self, name: &[u8], file: usize, turn: usize) -> Option<(u32, &KnownMacro<'t>)> {
        let all = self.by_name.get(name)?;
        let own = |number: &&u32| self.get(**number).is_some_and(|found| found.file == file);
        let shared = |number: &&u32| self.get(**number).is_some_and(|found| found.is_shared);
        // Another file's own macros are known here only if it is included.
        let number = match (all.iter().filter(own).count(), all.iter().filter(shared).count()) {
            (0, 0) if self.is_complete => all.get(turn.min(all.len().checked_sub(1)?)),
            (0, 0) => None,
            (0, count) => all.iter().filter(shared).nth(turn.min(count - 1)),
            (count, _) => all.iter().filter(own).nth(turn.min(count - 1)),
        }?;
        Some((*number, self.get(*number)?))
    }

    /// How many definitions a file's macros have at most.
    pub(super) fn turns(&self, pieces: &[Piece<'t>]) -> usize {
        let counts = pieces.iter().filter(|piece| piece.kind == Kind::Word);
        let counts = counts.filter_map(|piece| self.by_name.get(piece.text)).map(Vec::len);
        counts.max().unwrap_or(1)
    }

    /// A file's pieces with all calls replaced.
    pub(super) fn expand(&self, pieces: &[Piece<'t>], file: usize, turn: usize) -> Vec<Piece<'t>> {
        let mut call = Expansion { macros: self, file, turn, active: Vec::new(), left: MOST };
        let mut out = Vec::with_capacity(pieces.len());
        call.expand(pieces, &mut out);
        out
    }
}

struct Expansion<'m, 't> {
    macros: &'m Macros<'t>,
    file: usize,
    turn: usize,
    active: Vec<u32>,
    left: usize,
}

impl<'t> Expansion<'_, 't> {
    fn expand(&mut self, pieces: &[Piece<'t>], out: &mut Vec<Piece<'t>>) {
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            at = match self.call(pieces, at, out) {
                Some(behind) => behind,
                None => {
                    out.push(*piece);
                    at + 1
                }
            };
        }
    }

    /// Replaces a call; gives the place behind it.
    fn call(&mut self, pieces: &[Piece<'t>], at: usize, out: &mut Vec<Piece<'t>>) -> Option<usize> {
        let piece = pieces.get(at).filter(|piece| piece.kind == Kind::Word)?;
        let macros = self.macros;
        let (number, known) = macros.find(piece.text, self.file, self.turn)?;
        if self.active.contains(&number) || self.active.len() >= DEEPEST || self.left == 0 {
            return None;
        }
        let (arguments, behind) = match &known.definition.parameters {
            None => (Vec::new(), at + 1),
            Some(_) => arguments(pieces, at + 1)?,
        };
        let body = self.body(number, known, &arguments, piece.line)?;
        self.left = self.left.saturating_sub(body.len());
        self.active.push(number);
        let start = out.len();
        self.expand(&body, out);
        self.active.pop();
        // What grew beyond any use stays a call.
        if out.len() - start > LARGEST {
            out.truncate(start);
            self.left /= 2;
            return None;
        }
        Some(behind)
    }

    /// The body with the arguments in place of the parameters.
    fn body(
        &mut self,
        number: u32,
        known: &KnownMacro<'t>,
        arguments: &[&[Piece<'t>]],
        line: u32,
    ) -> Option<Vec<Piece<'t>>> {
        let names = known.definition.parameters.as_deref().unwrap_or_default();
        let mut out: Vec<Piece<'t>> = Vec::new();
        let mut pieces = known.definition.body.iter().peekable();
        while let Some(piece) = pieces.next() {
            let pastes = pieces.peek().is_some_and(|next| next.text == b"##");
            if piece.text == b"##" || piece.text == b"#" {
                continue;
            }
            let place = names.iter().position(|name| *name == piece.text);
            match place.filter(|_| piece.kind == Kind::Word) {
                Some(place) => {
                    let rest = names.get(place) == Some(&b"__VA_ARGS__".as_slice());
                    let given = arguments.get(place..).unwrap_or_default();
                    let given = if rest { given } else { given.get(..1).unwrap_or_default() };
                    for (index, argument) in given.iter().enumerate() {
                        if index > 0 {
                            out.push(Piece { text: b",", kind: Kind::Sign, line, source: number + 1 });
                        }
                        out.extend(argument.iter().map(|piece| Piece { line, ..*piece }));
                    }
                }
                None => out.push(Piece { line, source: number + 1, ..*piece }),
            }
            // Names that are pasted together are names nobody else says.
            if pastes && out.last().is_some_and(|last| last.kind == Kind::Word) {
                pieces.next();
                let joined = pieces.next();
                let argument = joined
                    .and_then(|joined| names.iter().position(|name| *name == joined.text))
                    .map(|place| arguments.get(place).copied().unwrap_or_default());
                let second = match argument {
                    Some(argument) => argument.first().map(|piece| piece.text),
                    None => joined.map(|joined| joined.text),
                };
                if let Some((second, last)) = second.zip(out.last_mut()) {
                    let own = self.macros.pasted(last.text, second);
                    last.text =
                        own.or(joined.filter(|_| argument.is_none()).map(|_| second)).unwrap_or(last.text);
                }
                for piece in argument.unwrap_or_default().iter().skip(1) {
                    out.push(Piece { line, ..*piece });
                }
            }
            if out.len() > LARGEST {
                return None;
            }
        }
        Some(out)
    }
}

/// The arguments of a call by its opening bracket, and the place behind.
fn arguments<'p, 't>(pieces: &'p [Piece<'t>], open: usize) -> Option<(Vec<&'p [Piece<'t>]>, usize)> {
    pieces.get(open).filter(|piece| piece.text == b"(")?;
    let (mut depth, mut first, mut found) = (0_usize, open + 1, Vec::new());
    for (at, piece) in pieces.iter().enumerate().skip(open).take(LARGEST) {
        match piece.text {
            b"(" | b"[" | b"{" => depth += 1,
            b")" | b"]" | b"}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    found.push(pieces.get(first..at)?);
                    return Some((found, at + 1));
                }
            }
            b"," if depth == 1 => {
                found.push(pieces.get(first..at)?);
                first = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::stream;
    use super::*;

    #[test]
    fn calls_are_replaced_through_one_another() {
        let text = b"#define A(x, ...) B(x) + f(__VA_ARGS__)\n#define B(y) (y)\n#define C A\nint v = A(p->q, 1, 2) C;";
        let read = stream::read(text);
        let mut macros = Macros::default();
        for definition in read.macros {
            macros.add(KnownMacro { definition, file: 0, is_shared: false });
        }
        let words: Vec<_> = macros.expand(&read.pieces, 0, 0);
        let words: Vec<_> = words.iter().map(|piece| String::from_utf8_lossy(piece.text)).collect();
        assert_eq!(words.join(" "), "int v = ( p -> q ) + f ( 1 , 2 ) A ;");
    }
}
