//! What samples of one recording touched, as one of several programs tells.

use super::attributed::Attributed;
use super::part::Part;
use crate::gather::{Facts, Piece, mode, pieces};
use fieldline_perfdata::sample::Sample;

/// What the first program tells that is the right one, or else the first.
fn first_of<T>(told: impl Iterator<Item = T>, is_right: impl Fn(&T) -> bool) -> Option<T> {
    let mut first = None;
    for one in told {
        if is_right(&one) {
            return Some(one);
        }
        first = first.or(Some(one));
    }
    first
}

/// What a sample touched, and the index of the program that tells.
fn attribute(parts: &[Part<'_, '_>], sample: &Sample<'_>) -> Option<(usize, Attributed)> {
    let told = parts.iter().map(|part| part.attribute(sample)).enumerate();
    let (index, found) = first_of(told, |(_, found)| found.ip.is_some())?;
    Some((index, if parts.len() > 1 { found.of_none() } else { found }))
}

/// What a sample touched: one access, or those of the runs in its branch stack, each as a sample of its own; with the
/// index of the program that tells.
pub(crate) fn each_access<E>(
    parts: &[Part<'_, '_>],
    sample: &Sample<'_>,
    each: &mut impl FnMut(&Sample<'_>, usize, &Attributed) -> Result<(), E>,
) -> Result<(), E> {
    if !parts.first().is_some_and(|part| part.counts_runs(sample)) {
        let found = attribute(parts, sample);
        return found.map_or(Ok(()), |(index, attributed)| each(sample, index, &attributed));
    }
    for (piece, period) in pieces(sample) {
        let begin = piece.map_or(None, |run| Some(run.begin));
        let mut one = *sample;
        (one.period, one.addr, one.dso, one.cpu_mode) = (period, None, None, mode(sample));
        match place(parts, sample, piece) {
            Some((index, part, Ok(run))) => {
                for attributed in part.recorded.straight.of_run(&run) {
                    let distance = attributed.ip.unwrap_or(run.ip).wrapping_sub(run.ip);
                    let ip = begin.map(|begin| begin.wrapping_add(distance));
                    each(&one.with_ip(ip), index, attributed)?;
                }
            }
            Some((index, part, Err(lost))) => {
                let attributed = part.attribute_facts(&lost, 0);
                let attributed = if parts.len() > 1 { attributed.of_none() } else { attributed };
                each(&one.with_ip(begin), index, &attributed)?;
            }
            None => {}
        }
    }
    Ok(())
}

/// The program that a piece of a branch stack is a run of, and which; else the first program.
pub(crate) fn place<'p, 'q, 'f>(
    parts: &'q [Part<'p, 'f>],
    sample: &Sample<'_>,
    piece: Piece,
) -> Option<(usize, &'q Part<'p, 'f>, Result<Facts, Facts>)> {
    let told = parts.iter().enumerate();
    let told = told.map(|(index, part)| (index, part, part.recorded.source.piece(sample, piece)));
    first_of(told, |(.., found)| found.is_ok())
}
