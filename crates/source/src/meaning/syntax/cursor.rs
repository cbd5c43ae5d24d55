//! A place in pieces, and the declarations that are met on the way.

use crate::meaning::stream::{Kind, Piece};
use crate::meaning::syntax::words::{NUMBERS, is_among};
use crate::meaning::types::{Function, Member, Record, Type, World, fixed_width};

/// Declarations that are met on the way: definitions of structs and enums.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Met<'t> {
    pub(in crate::meaning) records: Vec<(&'t [u8], Record<'t>)>,
    pub(in crate::meaning) declared: Vec<&'t [u8]>,
    pub(in crate::meaning) typedefs: Vec<(&'t [u8], Type<'t>)>,
    /// Values of enums: where their expressions stand.
    pub(in crate::meaning) enums: Vec<std::ops::Range<usize>>,
    /// Bodies of functions inside classes.
    pub(in crate::meaning) bodies: Vec<Body<'t>>,
    /// Lists that are defaults of members and parameters, where they stand.
    pub(in crate::meaning) defaults: Vec<(Type<'t>, usize)>,
    /// Members of unnamed unions, with their lines.
    pub(in crate::meaning) unions: Vec<(u32, Vec<Member<'t>>)>,
}

/// A function's body.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Body<'t> {
    pub(in crate::meaning) name: &'t [u8],
    pub(in crate::meaning) function: Function<'t>,
    /// The text between the parameters and the brace, and that in braces, braces included.
    pub(in crate::meaning) range: std::ops::Range<usize>,
    /// The class it belongs to.
    pub(in crate::meaning) class: Option<&'t [u8]>,
}

/// A name with its type.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Declared<'t> {
    pub(in crate::meaning) name: &'t [u8],
    pub(in crate::meaning) ty: Type<'t>,
    pub(in crate::meaning) function: Option<Function<'t>>,
    /// The class whose method it is, if that is said: `int T::f()`.
    pub(in crate::meaning) class: Option<&'t [u8]>,
    /// Where the sizes of arrays stand.
    pub(in crate::meaning) dimensions: Vec<std::ops::Range<usize>>,
}

/// The words in front of declarators.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Specifiers<'t> {
    pub(in crate::meaning) ty: Type<'t>,
    pub(in crate::meaning) is_typedef: bool,
    pub(in crate::meaning) is_static: bool,
    pub(in crate::meaning) is_packed: bool,
    /// Whether several numbers are one.
    pub(in crate::meaning) is_vector: bool,
    /// Whether the type has its body here.
    pub(in crate::meaning) is_definition: bool,
    /// `auto`, `typeof`: where the expression stands.
    pub(in crate::meaning) owner: Option<std::ops::Range<usize>>,
    /// Whether it is `auto`.
    pub(in crate::meaning) is_auto: bool,
}

/// Reads pieces.
#[derive(Debug)]
pub(in crate::meaning) struct Cursor<'w, 'p, 't> {
    pub(in crate::meaning) world: &'w World<'t>,
    pub(in crate::meaning) pieces: &'p [Piece<'t>],
    pub(in crate::meaning) at: usize,
    pub(in crate::meaning) depth: usize,
    pub(in crate::meaning) file: usize,
    pub(in crate::meaning) packs: &'p [(u32, bool)],
    pub(in crate::meaning) met: Met<'t>,
}

impl<'t> Cursor<'_, '_, 't> {
    pub(in crate::meaning) fn text(&self, at: usize) -> &'t [u8] {
        self.pieces.get(at).map_or(b"", |piece| piece.text)
    }

    pub(in crate::meaning) fn here(&self) -> &'t [u8] {
        self.text(self.at)
    }

    pub(in crate::meaning) fn is(&self, text: &[u8]) -> bool {
        self.here() == text
    }

    pub(in crate::meaning) fn word(&self, at: usize) -> Option<&'t [u8]> {
        self.pieces.get(at).filter(|piece| piece.kind == Kind::Word).map(|piece| piece.text)
    }

    pub(in crate::meaning) fn eat(&mut self, text: &[u8]) -> bool {
        let is = self.is(text) && self.at < self.pieces.len();
        self.at += usize::from(is);
        is
    }

    /// The place behind the bracket that closes the one here; the next place if none does.
    pub(in crate::meaning) fn behind(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, piece) in self.pieces.iter().enumerate().skip(open) {
            if piece.kind != Kind::Sign {
                continue;
            }
            match piece.text {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        open + 1
    }

    pub(in crate::meaning) fn is_type(&self, word: &[u8]) -> bool {
        self.world.typedefs.contains_key(word)
            || self.met.typedefs.iter().any(|(name, _)| *name == word)
            || self.world.records.contains_key(word) && !self.world.globals.contains_key(word)
            || (word.ends_with(b"_t") || fixed_width(word).is_some())
                && !self.world.globals.contains_key(word)
                && !self.world.functions.contains_key(word)
    }

    /// Whether a type's name stands here.
    pub(in crate::meaning) fn begins_type(&self) -> bool {
        is_among(NUMBERS, self.here()) || self.is(b"void") || self.is_type(self.here())
    }
}
