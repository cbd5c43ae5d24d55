//! Casts between a pointer to a struct and a pointer to what it begins with: right only while that is first.

use super::demand::{Demand, Use, UsedStruct, text};
use super::object::declared_struct;
use crate::scan::SourceText;

pub(super) fn find(source: &SourceText, subject: &UsedStruct, found: &mut Vec<Use>) {
    if subject.leads.is_empty() {
        return;
    }
    for at in 0..source.tokens().len() {
        let Some((target, name)) = cast(source, at) else { continue };
        let Some(declared) = declared_struct(source, name, at) else { continue };
        let is_lead = |tag: &[u8]| subject.leads.iter().any(|lead| lead.as_bytes() == tag);
        let own = subject.tag.as_bytes();
        if (target == own && is_lead(declared)) || (declared == own && is_lead(target)) {
            let what = format!("a pointer to struct {} is cast to struct {}", text(declared), text(target));
            found.push(Use { line: source.line_of(at), demand: Demand::First, members: Vec::new(), what });
        }
    }
}

/// `(struct tag *)name`, by its opening bracket: the tag and the name's token. What is behind the name decides whether
/// it is the name that is cast.
fn cast<'t>(source: &SourceText<'t>, at: usize) -> Option<(&'t [u8], usize)> {
    let opens = source.is_punct(at, b'(') && source.word(at + 1) == Some(b"struct");
    let closes = source.is_punct(at + 3, b'*') && source.is_punct(at + 4, b')');
    let name = at + 5;
    source.word(name).filter(|_| opens && closes)?;
    let goes_on = [b'-', b'.', b'[', b'('].iter().any(|punct| source.is_punct(name + 1, *punct));
    let is_minus = source.is_punct(name + 1, b'-') && !source.is_punct(name + 2, b'>');
    (!goes_on || is_minus).then_some((source.word(at + 2)?, name))
}
