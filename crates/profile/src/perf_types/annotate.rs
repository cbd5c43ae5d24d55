//! `perf annotate --data-type[=TYPE] -n --stdio`.
//!
//! One section a type: a head with its samples, then its members in the order of declaration, nested. A row's
//! number is that of all samples whose offset is in the member, and views of a union repeat each other.
//! Offsets of single accesses can't be had back: a sample counts for the innermost member that holds it; what
//! only a later view of a union shows, for the bytes that the views before lack.

use super::counts::{Error, MemoryOperation, PerfOutputForm, TypeCountRow, TypeCounts, hexadecimal};
use fieldline_access::access::SampleCount;
use std::collections::{BTreeMap, BTreeSet};

/// How a section begins.
pub(super) const SECTION_PREFIX: &str = "Annotate type: '";

/// Names of events, with a number: perf prints a section an event for each type, but not which event.
const EVENT: &str = "event";

/// More rows than a type has.
const LINE_LIMIT: usize = 1 << 15;
/// Nesting deeper than any struct's.
const DEPTH_LIMIT: usize = 256;

/// A row of a type.
#[derive(Debug, Clone, Copy)]
struct AnnotatedMember {
    samples: u64,
    offset: u64,
    size: u64,
    is_open: bool,
}

/// The type of a section.
#[derive(Debug, Default)]
struct TypeSection {
    event: usize,
    type_name: String,
    dso: String,
    size: Option<u64>,
    /// The type and members that are open.
    open_members: Vec<AnnotatedMember>,
    /// Size and samples, by offset.
    counted: BTreeMap<u64, (u64, u64)>,
    /// Bytes of members so far: begin and end of ranges.
    covered: BTreeMap<u64, u64>,
    lines: usize,
    /// Samples in no member.
    unassigned: u64,
}

pub(super) fn parse(text: &str) -> Result<TypeCounts, Error> {
    let mut counts = TypeCounts::new(PerfOutputForm::Annotate);
    // A type that comes again begins another event: perf prints all types of one event before those of the
    // next.
    let (mut event_number, mut types) = (0, BTreeSet::new());
    let mut section: Option<TypeSection> = None;
    for (line, number) in text.lines().zip(1..) {
        if let Some(head) = line.strip_prefix(SECTION_PREFIX) {
            let parsed = TypeSection::parse(head);
            let mut next = parsed.ok_or_else(|| Error::line(number, "is not a head of a type"))?;
            let type_key = (next.type_name.clone(), next.dso.clone());
            if event_number == 0 || types.contains(&type_key) {
                event_number += 1;
                types.clear();
            }
            types.insert(type_key);
            next.event = counts.event(&format!("{EVENT} {event_number}"));
            section.replace(next).into_iter().for_each(|section| section.finish(&mut counts.rows));
        } else if let Some(section) = &mut section {
            section.add_line(line).map_err(|problem| Error::line(number, problem))?;
        }
    }
    section.into_iter().for_each(|section| section.finish(&mut counts.rows));
    Ok(counts)
}

impl TypeSection {
    /// `TYPE' in DSO (N samples):`.
    fn parse(head: &str) -> Option<Self> {
        let (type_name, rest) = head.split_once("' in ")?;
        let (dso, _) = rest.rsplit_once(" (")?;
        Some(Self { type_name: type_name.to_owned(), dso: dso.to_owned(), ..Self::default() })
    }

    fn add_line(&mut self, text: &str) -> Result<(), String> {
        let trimmed = text.trim();
        if trimmed.starts_with("};") {
            return self.close();
        }
        if trimmed.is_empty() || trimmed.starts_with("===") || trimmed.starts_with('#') {
            return Ok(());
        }
        if trimmed.contains("offset") && trimmed.ends_with("field") {
            let problem = "has no numbers of samples; print them by perf annotate -n";
            return if trimmed.starts_with("Samples") { Ok(()) } else { Err(problem.into()) };
        }
        self.lines += 1;
        if self.lines > LINE_LIMIT {
            return Err(format!("is the type's row after {LINE_LIMIT}, more than any struct has"));
        }
        let line = parse_member(text)
            .ok_or_else(|| format!("{trimmed:?} is not of the form SAMPLES OFFSET SIZE MEMBER"))?;
        self.size.get_or_insert(line.size);
        if line.is_open {
            if self.open_members.len() == DEPTH_LIMIT {
                return Err(format!("is nested more than {DEPTH_LIMIT} deep"));
            }
            self.open_members.push(line);
        } else {
            self.add_member(line);
        }
        Ok(())
    }

    /// Samples already counted in a line's bytes.
    fn counted_in(&self, line: AnnotatedMember) -> u64 {
        let end = line.offset.saturating_add(line.size.max(1));
        let inside = self.counted.range(line.offset..end);
        inside.fold(0, |sum, (_, (_, samples))| sum.saturating_add(*samples))
    }

    /// Counts what no member before it has. Of a union's later view that is in the bytes the views before
    /// lack.
    fn add_member(&mut self, line: AnnotatedMember) {
        let new = line.samples.saturating_sub(self.counted_in(line));
        let end = line.offset.saturating_add(line.size);
        let begin = Some(self.first_uncovered(line.offset)).filter(|at| *at < end).unwrap_or(line.offset);
        if new > 0 {
            let sum = self.counted.entry(begin).or_insert((end.saturating_sub(begin), 0));
            sum.1 = sum.1.saturating_add(new);
        }
        let known = self.covered.entry(line.offset).or_insert(end);
        *known = end.max(*known);
    }

    /// The first byte from `at` on that no member before covers.
    fn first_uncovered(&self, mut at: u64) -> u64 {
        while let Some((_, end)) = self.covered.range(..=at).next_back().filter(|(_, end)| **end > at) {
            at = *end;
        }
        at
    }

    /// Ends a member; what its members left is between them.
    fn close(&mut self) -> Result<(), String> {
        let open = self.open_members.pop().ok_or("closes what nothing opened")?;
        if self.open_members.is_empty() {
            self.unassigned = open.samples.saturating_sub(self.counted_in(open));
        }
        Ok(())
    }

    fn finish(self, rows: &mut Vec<TypeCountRow>) {
        let row = |offset: Option<u64>, size: u64, samples: u64| TypeCountRow {
            event: self.event,
            dso: Some(self.dso.clone()),
            build_id: None,
            type_name: self.type_name.clone(),
            type_size: self.size,
            offset,
            size,
            function: None,
            operation: MemoryOperation::Unknown,
            tally: SampleCount { samples, period: 0 },
        };
        rows.extend(self.counted.iter().map(|(offset, (size, samples))| row(Some(*offset), *size, *samples)));
        if self.unassigned > 0 {
            rows.push(row(None, 0, self.unassigned));
        }
    }
}

/// `SAMPLES OFFSET SIZE MEMBER;` or `… MEMBER {`.
fn parse_member(text: &str) -> Option<AnnotatedMember> {
    let mut columns = text.split_whitespace();
    let samples = columns.next()?.parse().ok()?;
    let (offset, size) = (hexadecimal(columns.next()?)?, hexadecimal(columns.next()?)?);
    Some(AnnotatedMember { samples, offset, size, is_open: text.trim_end().ends_with('{') })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Annotate type: 'struct thing' in [kernel.kallsyms] (110 samples):
============================================================================
 Samples     offset       size  field
     110          0       0x20  struct thing\t {
      60          0        0x8      union \t {
      20          0        0x2          struct \t {
      20          0        0x1              u8\tlocked;
       0        0x1        0x1              u8\tpending;
                                        };
      60          0        0x8          u64\tall;
                                    };
       7        0x8        0x4      unsigned int\tcount;
      40       0x10        0x8      struct list\tlink {
      30       0x10        0x8          struct list*\tnext;
                                    };
                                };

Annotate type: 'union other' in /bin/a (3 samples):
============================================================================
 Samples     offset       size  field
       3          0        0x8  union other\t {
       3          0        0x8      u64\tvalue;
                                };
";

    #[test]
    fn each_sample_counts_once() {
        let counts = parse(TEXT).unwrap();
        let rows: Vec<_> = counts
            .rows
            .iter()
            .map(|row| (row.type_name.as_str(), row.offset, row.size, row.tally.samples))
            .collect();
        let expected = [
            ("struct thing", Some(0), 1, 20),
            ("struct thing", Some(2), 6, 40),
            ("struct thing", Some(8), 4, 7),
            ("struct thing", Some(16), 8, 30),
            ("struct thing", None, 0, 13),
            ("union other", Some(0), 8, 3),
        ];
        assert_eq!(rows, expected);
        assert_eq!((counts.rows[0].type_size, counts.rows[5].dso.as_deref()), (Some(32), Some("/bin/a")));
    }

    #[test]
    fn a_type_that_comes_again_is_of_another_event() {
        let counts = parse(&format!("{TEXT}\n{TEXT}")).unwrap();
        assert_eq!(counts.events, ["event 1", "event 2"]);
        let half = counts.rows.len() / 2;
        assert!(counts.rows.iter().enumerate().all(|(at, row)| row.event == usize::from(at >= half)));
    }

    #[test]
    fn what_is_broken_is_named_with_its_line() {
        let percent = TEXT.replace(" Samples  ", " Percent  ");
        assert!(parse(&percent).unwrap_err().to_string().starts_with("line 3: has no numbers of samples"));
        let broken = TEXT.replace("0x10        0x8      struct", "0x10        8y      struct");
        assert!(parse(&broken).unwrap_err().to_string().starts_with("line 13: "));
        let deep =
            format!("{}{}", &TEXT[..TEXT.find("     110").unwrap()], "  1  0  0x8  struct a {\n".repeat(300));
        assert!(parse(&deep).unwrap_err().to_string().contains("nested more than"));
    }
}
