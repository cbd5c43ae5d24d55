//! Counts of perf as an `AccessProfile`, which has no instructions, CPUs, times, levels or objects.

use super::counts::{MemoryOperation, PerfOutputForm, TypeCountRow, TypeCounts};
use crate::aggregate::{add_coverage, add_tally};
use fieldline_access::access::{Access, AccessProfile, EventCoverage, Recording, TypeProfile};
use fieldline_layout::Layout;
use std::collections::{BTreeMap, BTreeSet};

/// The counts are of another program than the one given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountsMismatch {
    /// An offset lies behind the struct's end.
    #[error(
        "{type_name} has {size} bytes in the program given, but was touched at offset {offset}: it is of another build"
    )]
    Offset {
        /// The type as perf spells it.
        type_name: String,
        /// Bytes it has.
        size: u64,
        /// Where it was touched.
        offset: u64,
    },
    /// A type of another size.
    #[error(
        "{type_name} has {size} bytes in the program given, but {recorded} where perf counted: it is of another build"
    )]
    Size {
        /// The type as perf spells it.
        type_name: String,
        /// Bytes it has.
        size: u64,
        /// Bytes it had.
        recorded: u64,
    },
    /// No count is of the program.
    #[error("no type is of a program with build id {given}; build ids counted: {recorded}")]
    BuildId {
        /// The program's build id.
        given: String,
        /// Those in the file.
        recorded: String,
    },
}

/// Tag of a type that may be a struct: `struct NAME`, `union NAME`, `class NAME`, or a typedef's name.
fn struct_tag(type_name: &str) -> Option<&str> {
    let bare = ["struct ", "union ", "class "].iter().find_map(|kind| type_name.strip_prefix(kind));
    let name = bare.unwrap_or(type_name).trim();
    let is_derived = name.ends_with(['*', ']', ')']) || ["", "struct", "union", "class"].contains(&name);
    (!is_derived).then_some(name)
}

/// The reason identifier of perf's types in parentheses.
fn reason(row: &TypeCountRow) -> Option<&'static str> {
    match row.type_name.as_str() {
        "(stack operation)" | "(stack canary)" => Some("stack"),
        name if name.starts_with('(') => Some("unknown_to_perf"),
        _ if row.offset.is_none() => Some("no_member"),
        _ => None,
    }
}

/// Tags of all types that may be structs, each once.
#[must_use]
pub fn tags(counts: &TypeCounts) -> Vec<String> {
    let tags: BTreeSet<&str> = counts.rows.iter().filter_map(|row| struct_tag(&row.type_name)).collect();
    tags.into_iter().map(str::to_owned).collect()
}

/// The profile of perf's counts. `build_id` is the given program's; `layouts` finds the layouts of a tag. Of
/// several, the first is taken that contains every offset.
///
/// # Errors
/// If the counts are of another program.
pub fn profile(
    counts: &TypeCounts,
    file: &str,
    build_id: Option<&str>,
    layouts: impl FnMut(&str) -> Vec<Layout>,
) -> Result<AccessProfile, CountsMismatch> {
    let mut sum = CountSum::new(counts);
    let rows: Vec<&TypeCountRow> = counts.rows.iter().filter(|row| has_build_id(row, build_id)).collect();
    check_build_id(counts, &rows, build_id)?;
    sum.types = choose_layouts(&rows, layouts);
    for row in rows {
        sum.add(row)?;
    }
    let recording = Recording {
        file: file.to_owned(),
        build_id: build_id.map(str::to_owned),
        samples: sum.coverage.iter().map(|event| event.total.samples).sum(),
        ..Recording::default()
    };
    Ok(sum.finish(recording, blind_spots(counts)))
}

/// Whether a row is of the program, by build id if both have one.
fn has_build_id(row: &TypeCountRow, build_id: Option<&str>) -> bool {
    match (&row.build_id, build_id) {
        (Some(recorded), Some(given)) => recorded.trim_end_matches('0') == given.trim_end_matches('0'),
        _ => true,
    }
}

fn check_build_id(
    counts: &TypeCounts,
    rows: &[&TypeCountRow],
    build_id: Option<&str>,
) -> Result<(), CountsMismatch> {
    let Some(given) = build_id.filter(|_| rows.is_empty() && !counts.rows.is_empty()) else { return Ok(()) };
    let recorded: BTreeSet<&str> = counts.rows.iter().filter_map(|row| row.build_id.as_deref()).collect();
    let recorded: Vec<&str> = recorded.into_iter().collect();
    Err(CountsMismatch::BuildId { given: given.to_owned(), recorded: recorded.join(", ") })
}

/// The layout of each tag; none for those that are no structs.
fn choose_layouts(
    rows: &[&TypeCountRow],
    mut layouts: impl FnMut(&str) -> Vec<Layout>,
) -> BTreeMap<String, Option<Layout>> {
    let mut extents: BTreeMap<&str, (u64, Option<u64>)> = BTreeMap::new();
    for row in rows.iter().filter(|row| reason(row).is_none()) {
        let (Some(tag), Some(offset)) = (struct_tag(&row.type_name), row.offset) else { continue };
        let (last, size) = extents.entry(tag).or_default();
        (*last, *size) = (offset.max(*last), size.or(row.type_size));
    }
    let choose = |(tag, (last, size)): (&str, (u64, Option<u64>))| {
        let mut found = layouts(tag);
        let fits = |layout: &Layout| last < layout.size && size.is_none_or(|size| size == layout.size);
        let at = found.iter().position(fits).unwrap_or(0);
        (tag.to_owned(), (at < found.len()).then(|| found.swap_remove(at)))
    };
    extents.into_iter().map(choose).collect()
}

/// Key of an access: place, size and function.
type CountKey = (u64, u64, u32);

#[derive(Debug, Default)]
struct CountSum {
    coverage: Vec<EventCoverage>,
    functions: Vec<String>,
    known_functions: BTreeMap<String, u32>,
    /// By tag; without a layout for types that are no structs.
    types: BTreeMap<String, Option<Layout>>,
    accesses: BTreeMap<String, BTreeMap<CountKey, Access>>,
}

impl CountSum {
    fn new(counts: &TypeCounts) -> Self {
        let coverage =
            counts.events.iter().map(|event| EventCoverage { event: event.clone(), ..Default::default() });
        Self { coverage: coverage.collect(), ..Self::default() }
    }

    fn add(&mut self, row: &TypeCountRow) -> Result<(), CountsMismatch> {
        let reason = reason(row);
        if let Some(event) = self.coverage.get_mut(row.event) {
            add_coverage(event, reason, row.tally);
        }
        let (Some(tag), Some(offset), None) = (struct_tag(&row.type_name), row.offset, reason) else {
            return Ok(());
        };
        let Some(Some(found)) = self.types.get(tag) else { return Ok(()) };
        check_row(row, offset, found.size)?;
        let function = self.function(row.function.as_deref());
        let accesses = self.accesses.entry(tag.to_owned()).or_default();
        let access = accesses.entry((offset, row.size, function)).or_insert_with(|| Access {
            function,
            offset,
            size: row.size,
            ..Access::default()
        });
        let is_store = row.operation == MemoryOperation::Store;
        add_tally(if is_store { &mut access.stores } else { &mut access.loads }, row.tally);
        Ok(())
    }

    fn function(&mut self, name: Option<&str>) -> u32 {
        let Some(name) = name else { return u32::MAX };
        let next = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        *self.known_functions.entry(name.to_owned()).or_insert_with(|| {
            self.functions.push(name.to_owned());
            next
        })
    }

    fn finish(self, recording: Recording, blind_spots: Vec<String>) -> AccessProfile {
        let mut types = self.types;
        let type_profile = |(name, accesses): (String, BTreeMap<CountKey, Access>)| {
            let layout = types.remove(&name).flatten();
            let (size, fingerprint) =
                layout.as_ref().map_or((0, 0), |layout| (layout.size, layout.fingerprint()));
            let accesses = accesses.into_values().collect();
            TypeProfile { name, size, fingerprint, layout, accesses, ..TypeProfile::default() }
        };
        AccessProfile {
            recordings: vec![recording],
            coverage: self.coverage,
            blind_spots,
            types: self.accesses.into_iter().map(type_profile).collect(),
            functions: self.functions,
            ..AccessProfile::empty()
        }
    }
}

fn check_row(row: &TypeCountRow, offset: u64, size: u64) -> Result<(), CountsMismatch> {
    let type_name = row.type_name.clone();
    match row.type_size {
        _ if offset >= size => Err(CountsMismatch::Offset { type_name, size, offset }),
        Some(recorded) if recorded != size => Err(CountsMismatch::Size { type_name, size, recorded }),
        _ => Ok(()),
    }
}

/// Sentences on the limits of such counts.
fn blind_spots(counts: &TypeCounts) -> Vec<String> {
    let mut sentences = vec![
        "perf's own counts by type: no times and CPUs, so no windows, no joint visits and no false sharing; \
         profile the recording itself for these"
            .to_owned(),
        "perf's own types: accesses to a struct in another are counted for one of them only".to_owned(),
    ];
    let is_report = counts.form == PerfOutputForm::Report;
    if is_report {
        sentences.push("rows that perf left out (--percent-limit) are not counted".to_owned());
    }
    if counts.rows.iter().all(|row| row.function.is_none()) {
        let how = if is_report { "; perf report -s type,typeoff,symbol prints them" } else { "" };
        sentences.push(format!("no functions, so each struct's accesses count as one visit{how}"));
    }
    if counts.form == PerfOutputForm::Annotate {
        sentences.push("offsets are those of members, not of accesses".to_owned());
    }
    let unknown =
        counts.rows.iter().filter(|row| row.operation == MemoryOperation::Unknown && reason(row).is_none());
    let samples = unknown.fold(0_u64, |sum, row| sum.saturating_add(row.tally.samples));
    if samples > 0 {
        sentences
            .push(format!("{samples} samples do not say whether they loaded or stored and count as loads"));
    }
    if counts.rows.iter().all(|row| row.tally.period == 0) {
        sentences.push("no periods".to_owned());
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_access::access::SampleCount;

    fn row(type_name: &str, offset: Option<u64>, samples: u64, operation: MemoryOperation) -> TypeCountRow {
        TypeCountRow {
            event: 0,
            dso: None,
            build_id: None,
            type_name: type_name.to_owned(),
            type_size: None,
            offset,
            size: 0,
            function: Some("walk".to_owned()),
            operation,
            tally: SampleCount { samples, period: 0 },
        }
    }

    fn counts(rows: Vec<TypeCountRow>) -> TypeCounts {
        let mut counts = TypeCounts::new(PerfOutputForm::Report);
        counts.event("loads");
        TypeCounts { rows, ..counts }
    }

    /// A layout of some bytes and no members.
    fn layout(size: u64) -> Layout {
        fieldline_layout::testing::layout("thing", size, Vec::new())
    }

    #[test]
    fn rows_add_up_and_coverage_is_total() {
        let rows = vec![
            row("struct thing", Some(8), 3, MemoryOperation::Load),
            row("struct thing", Some(8), 4, MemoryOperation::Store),
            row("struct thing", Some(8), 5, MemoryOperation::Unknown),
            row("struct thing*", Some(0), 6, MemoryOperation::Load),
            row("(stack operation)", Some(0), 7, MemoryOperation::Load),
            row("(unknown)", Some(0), 8, MemoryOperation::Load),
            row("struct thing", None, 9, MemoryOperation::Load),
        ];
        let found = profile(&counts(rows), "report", None, |_| vec![layout(8), layout(16)]).unwrap();
        let event = &found.coverage[0];
        let lost: Vec<(&str, u64)> =
            event.unattributed.iter().map(|(reason, tally)| (reason.as_str(), tally.samples)).collect();
        assert_eq!((event.total.samples, event.attributed.samples), (42, 18));
        assert_eq!(lost, [("no_member", 9), ("stack", 7), ("unknown_to_perf", 8)]);
        let [access] = found.types[0].accesses.as_slice() else { panic!("{found:?}") };
        assert_eq!((access.loads.samples, access.stores.samples, access.offset), (8, 4, 8));
        assert!(found.types[0].cpus.is_empty() && found.windows.is_empty() && found.blocks.is_empty());
        assert!(found.blind_spots.iter().any(|spot| spot.starts_with("5 samples do not say")));
    }

    #[test]
    fn other_builds_are_refused() {
        let far = counts(vec![row("struct thing", Some(16), 1, MemoryOperation::Load)]);
        assert!(matches!(
            profile(&far, "", None, |_| vec![layout(16)]),
            Err(CountsMismatch::Offset { offset: 16, .. })
        ));
        let mut sized = counts(vec![row("struct thing", Some(8), 1, MemoryOperation::Load)]);
        sized.rows[0].type_size = Some(24);
        assert!(matches!(
            profile(&sized, "", None, |_| vec![layout(16)]),
            Err(CountsMismatch::Size { recorded: 24, .. })
        ));
        sized.rows[0].build_id = Some("ab".to_owned());
        let refused = profile(&sized, "", Some("cd"), |_| vec![layout(24)]);
        assert!(matches!(refused, Err(CountsMismatch::BuildId { .. })), "{refused:?}");
        assert!(profile(&sized, "", Some("ab00"), |_| vec![layout(24)]).is_ok());
    }
}
