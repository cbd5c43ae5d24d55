//! Objects that a function takes by `va_arg`: the type that is asked for need not be the one that was passed.

use crate::addresses::arguments;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

/// Subjects that are passed or taken where the unit doesn't show that all that is taken was passed as one of its type.
pub(in crate::rules) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let all: Vec<(Index, Type<'u>, bool)> =
        (0..view.tree.len()).flat_map(|index| objects(view, index)).collect();
    for (index, ty, _) in &all {
        let others = || all.iter().filter(|(_, other, _)| other.size() == ty.size());
        let is_matched = others().all(|(_, other, _)| other.equals(*ty))
            && [true, false].iter().all(|taken| others().any(|(_, _, own)| own == taken));
        let Some(node) = view.cursor(*index).filter(|_| !is_matched) else { continue };
        for subject in view.records.within(*ty) {
            let why = "is passed to a function that may take it for another type".to_owned();
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
}

/// Records that a call passes beyond the parameters of its function, or the one that `va_arg` takes, and whether it is
/// taken.
fn objects<'u>(view: View<'_, '_, 'u>, index: Index) -> Vec<(Index, Type<'u>, bool)> {
    let Some(node) = view.cursor(index) else { return Vec::new() };
    match view.tree.kind(index) {
        Kind::Call => passed(view, index, node),
        Kind::Unexposed if node.ty().kind() == TypeKind::Record && is_list(view, index) => {
            vec![(index, node.ty(), true)]
        }
        _ => Vec::new(),
    }
}

fn passed<'u>(view: View<'_, '_, 'u>, call: Index, node: Cursor<'u>) -> Vec<(Index, Type<'u>, bool)> {
    let function = node.referenced().map(Cursor::ty);
    let function = function.map(|ty| ty.pointee().unwrap_or(ty)).filter(|ty| ty.kind() == TypeKind::Function);
    let Some(function) = function.filter(|function| function.is_variadic()) else { return Vec::new() };
    let beyond = arguments(view, call).into_iter().skip(function.parameter_count());
    let types = beyond.filter_map(|index| Some((index, view.cursor(index)?.ty(), false)));
    types.filter(|(_, ty, _)| ty.kind() == TypeKind::Record).collect()
}

fn is_list(view: View<'_, '_, '_>, index: Index) -> bool {
    let inner = view.tree.only(index).and_then(|inner| view.cursor(inner));
    inner.is_some_and(|inner| inner.ty().canonical().spelling().contains("va_list"))
}
