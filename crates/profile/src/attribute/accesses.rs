//! Accesses of the samples of one recording, attributed by one of several programs.

use super::attributed::Attributed;
use super::program_samples::ProgramSamples;
use crate::gather::{LinkedRange, SampleFacts, StackRange, branch_cpu_mode, split_stack};
use fieldline_perfdata::sample::Sample;

/// The first item that is wanted, or else the first of all.
fn find_or_first<T>(items: impl Iterator<Item = T>, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
    let mut first = None;
    for item in items {
        if is_wanted(&item) {
            return Some(item);
        }
        first = first.or(Some(item));
    }
    first
}

/// The attribution of a sample, and the index of its program.
fn attribute(parts: &[ProgramSamples<'_, '_>], sample: &Sample<'_>) -> Option<(usize, Attributed)> {
    let attributed = parts.iter().map(|part| part.attribute(sample)).enumerate();
    let (index, found) = find_or_first(attributed, |(_, found)| found.ip.is_some())?;
    Some((index, if parts.len() > 1 { found.in_no_program() } else { found }))
}

/// The accesses of a sample: one, or those of the ranges in its branch stack, each as a sample of its own;
/// with the index of the program.
pub(crate) fn for_each_access<E>(
    parts: &[ProgramSamples<'_, '_>],
    sample: &Sample<'_>,
    each: &mut impl FnMut(&Sample<'_>, usize, &Attributed) -> Result<(), E>,
) -> Result<(), E> {
    if !parts.first().is_some_and(|part| part.counts_ranges(sample)) {
        let found = attribute(parts, sample);
        return found.map_or(Ok(()), |(index, attributed)| each(sample, index, &attributed));
    }
    for (range, period) in split_stack(sample) {
        let begin = range.map_or(None, |run| Some(run.begin));
        let mut access_sample = *sample;
        (access_sample.period, access_sample.addr, access_sample.dso, access_sample.cpu_mode) =
            (period, None, None, branch_cpu_mode(sample));
        match locate_range(parts, sample, range) {
            Some((index, part, Ok(run))) => {
                for attributed in part.recorded.straight_line.accesses_in(&run) {
                    let distance = attributed.ip.and_then(|ip| ip.bytes_from(run.begin)).unwrap_or(0);
                    let ip = begin.map(|begin| begin.wrapping_add(distance));
                    each(&access_sample.with_ip(ip), index, attributed)?;
                }
            }
            Some((index, part, Err(failed))) => {
                let attributed = part.attribute_facts(&failed, 0);
                let attributed = if parts.len() > 1 { attributed.in_no_program() } else { attributed };
                each(&access_sample.with_ip(begin), index, &attributed)?;
            }
            None => {}
        }
    }
    Ok(())
}

/// The program that holds a range of a branch stack, and the linked range; else the first program.
pub(crate) fn locate_range<'p, 'q, 'f>(
    parts: &'q [ProgramSamples<'p, 'f>],
    sample: &Sample<'_>,
    range: StackRange,
) -> Option<(usize, &'q ProgramSamples<'p, 'f>, Result<LinkedRange, SampleFacts>)> {
    let ranges = parts.iter().enumerate();
    let ranges = ranges.map(|(index, part)| (index, part, part.recorded.source.link(sample, range)));
    find_or_first(ranges, |(.., found)| found.is_ok())
}
