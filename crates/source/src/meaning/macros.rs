//! Macros put in place of their calls.

use super::includes::IncludeGraph;
use super::stream::{Kind, Macro, Piece};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

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
    /// Those of files that many units share; their numbers come first.
    pub(super) shared: Option<Arc<Self>>,
    pub(super) all: Vec<KnownMacro<'t>>,
    pub(super) by_name: FxHashMap<&'t [u8], Vec<u32>>,
    /// Whether all code is read.
    pub(super) is_complete: bool,
    /// Words of the texts by their hashes, so far as names are pasted together: the text, and where in it.
    pub(super) words: OnceLock<FxHashMap<u64, Vec<(usize, usize)>>>,
    pub(super) texts: Vec<&'t [u8]>,
    /// Which files know which macros.
    pub(super) includes: Arc<IncludeGraph>,
}

impl<'t> Macros<'t> {
    pub(super) fn add(&mut self, found: KnownMacro<'t>) {
        let number = (self.count_shared() + self.all.len()) as u32;
        self.by_name.entry(found.definition.name).or_default().push(number);
        self.all.push(found);
    }

    fn count_shared(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.count_shared() + shared.all.len())
    }

    /// The name that two parts make, if a file says it.
    fn pasted(&self, first: &[u8], second: &[u8]) -> Option<&'t [u8]> {
        let wanted = [first, second].concat();
        let is_word = |byte: &u8| crate::scan::is_word(*byte);
        let words = self.words.get_or_init(|| {
            let mut found: FxHashMap<u64, Vec<(usize, usize)>> = FxHashMap::default();
            for (number, text) in self.texts.iter().enumerate() {
                for word in text.split(|byte| !is_word(byte)).filter(|word| !word.is_empty()) {
                    let known = found.entry(hash(word)).or_default();
                    let at = word.as_ptr() as usize - text.as_ptr() as usize;
                    if known.is_empty() {
                        known.push((number, at));
                    }
                }
            }
            found
        });
        let places = words.get(&hash(&wanted)).into_iter().flatten();
        let mut own = places.filter_map(|(number, at)| {
            self.texts.get(*number)?.get(*at..*at + wanted.len()).filter(|text| *text == wanted)
        });
        own.next().or_else(|| self.shared.as_ref()?.pasted(first, second))
    }

    pub(super) fn get(&self, number: u32) -> Option<&KnownMacro<'t>> {
        match (number as usize).checked_sub(self.count_shared()) {
            Some(own) => self.all.get(own),
            None => self.shared.as_ref()?.get(number),
        }
    }

    /// Numbers of all macros of a name, those shared first.
    fn numbers(&self, name: &[u8]) -> Vec<u32> {
        let mut found = self.shared.as_ref().map(|shared| shared.numbers(name)).unwrap_or_default();
        found.extend(self.by_name.get(name).into_iter().flatten());
        found
    }

    /// All definitions that a file may mean: its own, else those of files that it includes, else the nearest of files
    /// that nobody includes.
    fn candidates(&self, name: &[u8], file: usize) -> Vec<u32> {
        let all = self.numbers(name);
        let known_as = |number: &u32| self.get(*number);
        let own: Vec<u32> = all
            .iter()
            .copied()
            .filter(|number| known_as(number).is_some_and(|known| known.file == file))
            .collect();
        if !own.is_empty() || all.is_empty() {
            return own;
        }
        let included =
            |number: &u32| known_as(number).is_some_and(|known| self.includes.is_known(file, known.file));
        let included: Vec<u32> = all.iter().copied().filter(included).collect();
        if !included.is_empty() {
            return included;
        }
        // Another file's own macros are known here only if it is included. A header knows, perhaps, what those that
        // include it have included before.
        let is_header = self.includes.is_included(file);
        let loose = |number: &u32| {
            known_as(number).is_some_and(|known| match self.includes.is_included(known.file) {
                true => is_header && known.is_shared,
                false => known.is_shared || self.is_complete,
            })
        };
        let loose: Vec<u32> = all.iter().copied().filter(loose).collect();
        let near =
            |number: &u32| known_as(number).map_or(0, |known| self.includes.common_folders(file, known.file));
        let best = loose.iter().map(near).max();
        loose.into_iter().filter(|number| Some(near(number)) == best).collect()
    }

    /// The definition that a file means, of several the one whose turn it is.
    fn find(&self, name: &[u8], file: usize, turn: usize) -> Option<(u32, &KnownMacro<'t>)> {
        let all = self.candidates(name, file);
        let number = *all.get(turn.min(all.len().checked_sub(1)?))?;
        Some((number, self.get(number)?))
    }

    /// How many definitions a file's macros have at most.
    pub(super) fn turns(&self, pieces: &[Piece<'t>], file: usize) -> usize {
        let mut seen = FxHashSet::default();
        let words = pieces.iter().filter(|piece| piece.kind == Kind::Word && seen.insert(piece.text));
        words.map(|piece| self.candidates(piece.text, file).len()).max().unwrap_or(1)
    }

    /// A file's pieces with all calls replaced.
    pub(super) fn expand(&self, pieces: &[Piece<'t>], file: usize, turn: usize) -> Vec<Piece<'t>> {
        let known = FxHashMap::default();
        let mut call = Expansion { macros: self, file, turn, active: Vec::new(), left: MOST, known };
        let mut out = Vec::with_capacity(pieces.len());
        call.expand(pieces, &mut out);
        out
    }
}

fn hash(word: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    std::hash::Hash::hash(word, &mut hasher);
    std::hash::Hasher::finish(&hasher)
}

struct Expansion<'m, 't> {
    macros: &'m Macros<'t>,
    file: usize,
    turn: usize,
    active: Vec<u32>,
    left: usize,
    /// Names by the macro that they mean here.
    known: FxHashMap<&'t [u8], Option<u32>>,
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
        let (file, turn) = (self.file, self.turn);
        let find = || macros.find(piece.text, file, turn).map(|(number, _)| number);
        let number = (*self.known.entry(piece.text).or_insert_with(find))?;
        let known = macros.get(number)?;
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
