//! Which brackets pair, with `#if` arms taken one at a time.

use super::directive::Directive;
use super::token::{Token, TokenKind};

/// For every token that is a bracket the index of the bracket it pairs with. One that several arms close pairs with the
/// first that does.
///
/// Each arm of an `#if` starts from the same open brackets; what follows `#endif` continues from the first arm.
/// Text under `#if 0` and `#ifdef __cplusplus` opens nothing.
pub(super) fn partners(bytes: &[u8], tokens: &[Token]) -> Vec<Option<usize>> {
    let mut pairing = Pairing::new(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(b'{' | b'(' | b'[') => pairing.open(index, token.kind),
            TokenKind::Punct(close @ (b'}' | b')' | b']')) => pairing.close(index, close),
            TokenKind::Directive => {
                let text = bytes.get(token.range()).unwrap_or_default();
                pairing.directive(&Directive::parse(text));
            }
            _ => {}
        }
    }
    pairing.partners
}

/// An open bracket and the one around it: a stack whose older states stay valid, so that arms can go back to them.
struct Open {
    index: usize,
    kind: TokenKind,
    outer: Option<usize>,
    /// The nearest open brace, itself included.
    brace: Option<usize>,
}

struct Arms {
    before: Option<usize>,
    after_first: Option<Option<usize>>,
    is_dead: bool,
}

struct Pairing {
    partners: Vec<Option<usize>>,
    opens: Vec<Open>,
    top: Option<usize>,
    arms: Vec<Arms>,
}

impl Pairing {
    fn new(count: usize) -> Self {
        Self { partners: vec![None; count], opens: Vec::new(), top: None, arms: Vec::new() }
    }

    fn open(&mut self, index: usize, kind: TokenKind) {
        let here = self.opens.len();
        let outer = self.top.and_then(|top| self.opens.get(top));
        let brace = match kind {
            TokenKind::Punct(b'{') => Some(here),
            _ => outer.and_then(|outer| outer.brace),
        };
        self.opens.push(Open { index, kind, outer: self.top, brace });
        self.top = Some(here);
    }

    /// Pairs a closing bracket. A brace closes parentheses left open inside it; other stray brackets stay unpaired.
    fn close(&mut self, index: usize, close: u8) {
        let top = self.top.and_then(|top| self.opens.get(top));
        let at = match close {
            b'}' => top.and_then(|top| top.brace),
            _ => self.top,
        };
        let Some(open) = at.and_then(|at| self.opens.get(at)) else { return };
        if open.kind == TokenKind::Punct(opener(close)) {
            self.top = open.outer;
            self.pair(open.index, index);
        }
    }

    fn pair(&mut self, open: usize, close: usize) {
        if let Some(slot) = self.partners.get_mut(open) {
            // Closed in several arms: the first counts.
            slot.get_or_insert(close);
        }
        if let Some(slot) = self.partners.get_mut(close) {
            *slot = Some(open);
        }
    }

    fn directive(&mut self, directive: &Directive) {
        match directive {
            Directive::If(condition) => {
                self.arms.push(Arms { before: self.top, after_first: None, is_dead: condition.is_never() })
            }
            Directive::Elif(_) | Directive::Else => {
                if let Some(arms) = self.arms.last_mut() {
                    let end = if arms.is_dead { arms.before } else { self.top };
                    if !arms.is_dead {
                        arms.after_first.get_or_insert(end);
                    }
                    arms.is_dead = false;
                    self.top = arms.before;
                }
            }
            Directive::Endif => {
                if let Some(arms) = self.arms.pop() {
                    let end = if arms.is_dead { arms.before } else { self.top };
                    self.top = arms.after_first.unwrap_or(end);
                }
            }
            Directive::Define(_) | Directive::Other => {}
        }
    }
}

fn opener(close: u8) -> u8 {
    match close {
        b'}' => b'{',
        b')' => b'(',
        _ => b'[',
    }
}
