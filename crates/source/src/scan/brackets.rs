//! Which brackets pair, with `#if` arms taken one at a time.

use super::directive::Directive;
use super::token::{Token, TokenKind};

/// For every bracket the index of its partner. One that several arms close has the first as its partner.
///
/// Each arm of an `#if` starts from the same open brackets; what follows `#endif` continues from the first
/// arm. Text under `#if 0` and `#ifdef __cplusplus` opens nothing.
pub(super) fn pair_brackets(bytes: &[u8], tokens: &[Token]) -> Vec<Option<usize>> {
    let mut pairing = BracketPairing { partners: vec![None; tokens.len()], ..BracketPairing::default() };
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(b'{' | b'(' | b'[') => pairing.open(index, token.kind),
            TokenKind::Punct(close @ (b'}' | b')' | b']')) => pairing.close(index, close),
            TokenKind::Directive => {
                pairing.directive(&Directive::parse(bytes.get(token.range()).unwrap_or_default()));
            }
            _ => {}
        }
    }
    pairing.partners
}

/// An open bracket and the one around it: a stack whose older states stay valid, for the other arms.
struct OpenBracket {
    index: usize,
    kind: TokenKind,
    outer: Option<usize>,
    /// The nearest open brace, itself included.
    brace: Option<usize>,
}

struct ArmState {
    before: Option<usize>,
    after_first: Option<Option<usize>>,
    is_dead: bool,
}

#[derive(Default)]
struct BracketPairing {
    partners: Vec<Option<usize>>,
    opens: Vec<OpenBracket>,
    top: Option<usize>,
    arms: Vec<ArmState>,
}

impl BracketPairing {
    fn open(&mut self, index: usize, kind: TokenKind) {
        let here = self.opens.len();
        let outer = self.top.and_then(|top| self.opens.get(top));
        let is_brace = kind == TokenKind::Punct(b'{');
        let brace = if is_brace { Some(here) } else { outer.and_then(|outer| outer.brace) };
        self.opens.push(OpenBracket { index, kind, outer: self.top, brace });
        self.top = Some(here);
    }

    /// Pairs a closing bracket. A brace closes parentheses open inside it; other strays stay unpaired.
    fn close(&mut self, index: usize, close: u8) {
        let top = self.top.and_then(|top| self.opens.get(top));
        let (at, opener) = match close {
            b'}' => (top.and_then(|top| top.brace), b'{'),
            b')' => (self.top, b'('),
            _ => (self.top, b'['),
        };
        let Some(open) = at.and_then(|at| self.opens.get(at)) else { return };
        if open.kind == TokenKind::Punct(opener) {
            self.top = open.outer;
            // Closed in several arms: the first counts.
            self.partners[open.index].get_or_insert(index);
            self.partners[index] = Some(open.index);
        }
    }

    fn directive(&mut self, directive: &Directive) {
        match directive {
            Directive::If(condition) => {
                let is_dead = condition.holds && ["0", "defined(__cplusplus)"].contains(&&*condition.atom);
                self.arms.push(ArmState { before: self.top, after_first: None, is_dead });
            }
            Directive::Elif(_) | Directive::Else | Directive::Endif => {
                let Some(arms) = self.arms.last_mut() else { return };
                if !arms.is_dead {
                    arms.after_first.get_or_insert(self.top);
                }
                arms.is_dead = false;
                self.top = arms.before;
                if *directive == Directive::Endif {
                    self.top = arms.after_first.unwrap_or(arms.before);
                    self.arms.pop();
                }
            }
            Directive::Define(_) | Directive::Other => {}
        }
    }
}
