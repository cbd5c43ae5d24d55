//! Loops from the begin of one array to the end of another, as C++'s library gives them.

use crate::addresses::{arguments, function};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::records::Part;
use crate::report::{Findings, Found, before, behind};
use crate::sum::roots::sources;
use crate::sum::{Term, View};
use crate::tree::Index;

/// Functions that give the address of an array's first element.
const FIRST: [&str; 3] = ["begin", "cbegin", "data"];

/// Functions that give the address behind its last.
const LAST: [&str; 2] = ["end", "cend"];

/// `at < object.last.end()`, where a variable comes from `object.first.begin()`.
pub(super) fn compared<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let operator = view.cursor(index).map(Cursor::binary_operator);
    if !matches!(operator, Some(Operator::Compare | Operator::Order)) {
        return;
    }
    let mut sides = view.tree.values(index);
    if let Some((left, right)) = sides.next().zip(sides.next()) {
        between(view, index, (left, right), found);
        between(view, index, (right, left), found);
    }
}

/// `std::accumulate(object.first.begin(), object.last.end(), 0)`
pub(super) fn handed<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    if function(view, index).is_none_or(|called| !called.is_of_system()) {
        return;
    }
    for pair in arguments(view, index).windows(2) {
        if let [first, last] = pair {
            between(view, index, (*first, *last), found);
        }
    }
}

fn between<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    (first, last): (Index, Index),
    found: &mut Findings<'u>,
) {
    let ends = arrays(view, last, &LAST);
    let begins = if ends.is_empty() { Vec::new() } else { arrays(view, first, &FIRST) };
    let Some(node) = view.cursor(index) else { return };
    for begin in &begins {
        let mut own = ends.iter().filter(|end| end.subject == begin.subject).peekable();
        // It may be the end of the same array.
        if own.peek().is_none() || ends.contains(begin) {
            continue;
        }
        for end in own {
            let why = format!("code goes from the begin of {} to the end of {}", begin.member, end.member);
            let demand = Demand::Range { from: before(begin), to: behind(end) };
            found.push(Found { subject: begin.subject, node, demand, why });
        }
    }
}

/// The members whose begin or end an expression may be.
fn arrays(view: View<'_, '_, '_>, index: Index, names: &[&str]) -> Vec<Part> {
    let calls = sources(view, index).into_iter().filter(|at| view.tree.kind(*at) == Kind::Call);
    calls.filter_map(|call| array(view, call, names)).collect()
}

/// The member that is an array, of which a call gives the begin or the end.
fn array(view: View<'_, '_, '_>, call: Index, names: &[&str]) -> Option<Part> {
    let by = function(view, call).filter(|by| by.is_of_system());
    by.filter(|by| names.contains(&by.name().as_str()))?;
    let method = view.tree.values(call).next().filter(|method| view.tree.kind(*method) == Kind::MemberAccess);
    let object = match method {
        Some(method) => view.tree.values(method).next()?,
        None => *arguments(view, call).first()?,
    };
    let array = view.cursor(view.peeled(object)).filter(|array| is_array(array.ty()))?;
    let path = view.address_sum(view.peeled(object));
    let (true, Term::Offset(path)) = path.terms.last()? else { return None };
    view.records.part(*path.first()?).filter(|_| array.referenced().is_some())
}

/// Whether a type is an array, or a class of the library whose objects are nothing else.
fn is_array(ty: Type<'_>) -> bool {
    let holds_array = || {
        let is_of_system = ty.canonical().declaration().is_some_and(Cursor::is_of_system);
        matches!(ty.members().as_slice(), [only] if is_of_system && only.ty().kind() == TypeKind::Array)
    };
    ty.kind() == TypeKind::Array || ty.kind() == TypeKind::Record && holds_array()
}
