//! `perf report -s type,typeoff[,symbol][,dso] -n --stdio`.
//!
//! One section an event: comments with its name, a comment with the columns' names, a row a line. Columns
//! stand two blanks or more apart (`tools/perf/ui/hist.c`).

use super::counts::{Error, MemoryOperation, PerfOutputForm, TypeCountRow, TypeCounts, hexadecimal};
use fieldline_access::access::SampleCount;

const OFFSET: &str = "Data Type Offset";
const SAMPLES: &str = "Samples";

/// Whether a line names the columns of a report of types.
pub(super) fn is_head(line: &str) -> bool {
    line.starts_with('#') && line.contains(OFFSET)
}

/// Where the columns that are read stand.
#[derive(Debug, Clone, Copy)]
struct ReportColumns {
    samples: usize,
    offset: usize,
    period: Option<usize>,
    symbol: Option<usize>,
    dso: Option<usize>,
}

impl ReportColumns {
    fn parse(line: &str, number: u64) -> Result<Self, Error> {
        let names: Vec<&str> = cells(line.trim_start_matches('#')).collect();
        let find = |wanted: &str| names.iter().position(|name| *name == wanted);
        let missing_column =
            |what: &str, how: &str| Error::line(number, format!("has no column {what}; print it by {how}"));
        Ok(Self {
            samples: find(SAMPLES).ok_or_else(|| missing_column(SAMPLES, "perf report -n"))?,
            offset: find(OFFSET)
                .ok_or_else(|| missing_column(OFFSET, "perf report -s type,typeoff,symbol"))?,
            period: find("Period"),
            symbol: find("Symbol"),
            dso: find("Shared Object"),
        })
    }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty())
}

pub(super) fn parse(text: &str) -> Result<TypeCounts, Error> {
    let mut counts = TypeCounts::new(PerfOutputForm::Report);
    let mut event = "samples".to_owned();
    let mut columns: Option<ReportColumns> = None;
    for (line, number) in text.lines().zip(1..) {
        if is_head(line) {
            columns = Some(ReportColumns::parse(line, number)?);
        } else if let Some(name) = event_name(line) {
            event = name.to_owned();
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            let columns =
                columns.ok_or_else(|| Error::line(number, "stands in front of the columns' names"))?;
            let index = counts.event(&event);
            let row = parse_row(line, columns, index, MemoryOperation::from_event_name(&event));
            counts.rows.push(row.map_err(|problem| Error::line(number, problem))?);
        }
    }
    Ok(counts)
}

/// `# Samples: 105K of event 'NAME'`; the number is rounded, rows are not.
fn event_name(line: &str) -> Option<&str> {
    let (_, name) = line.strip_prefix("# Samples:")?.split_once(" of event")?;
    name.split_once('\'')?.1.rsplit_once('\'').map(|(name, _)| name)
}

/// The cells of a row. A type without a tag, `struct `, leaves a gap before its offset that parts no columns.
fn row_cells(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for cell in cells(line) {
        match found.last_mut().filter(|_| cell.starts_with('+')) {
            Some(last) => *last = format!("{last} {cell}"),
            None => found.push(cell.to_owned()),
        }
    }
    found
}

fn parse_row(
    line: &str,
    columns: ReportColumns,
    event: usize,
    operation: MemoryOperation,
) -> Result<TypeCountRow, String> {
    let cells = row_cells(line);
    let cell = |index: usize| cells.get(index).map_or("", String::as_str);
    let number = |index: usize| {
        let problem = |_| format!("{:?} is not a number of samples or events", cell(index));
        cell(index).parse::<u64>().map_err(problem)
    };
    let problem = || format!("{:?} is not of the form TYPE +OFFSET (MEMBER)", cell(columns.offset));
    let (type_name, offset) = parse_location(cell(columns.offset)).ok_or_else(problem)?;
    let text = |index: Option<usize>| Some(cell(index?).to_owned()).filter(|text| !text.is_empty());
    Ok(TypeCountRow {
        event,
        dso: text(columns.dso),
        build_id: None,
        type_name: type_name.to_owned(),
        type_size: None,
        offset: Some(offset),
        size: 0,
        function: text(columns.symbol).map(|symbol| bare_symbol(&symbol).to_owned()),
        operation,
        tally: SampleCount {
            samples: number(columns.samples)?,
            period: columns.period.map_or(Ok(0), number)?,
        },
    })
}

/// `TYPE +OFFSET (MEMBER)`.
fn parse_location(cell: &str) -> Option<(&str, u64)> {
    let (type_name, rest) = cell.rsplit_once(" +")?;
    let offset = rest.split(' ').next()?;
    Some((type_name, hexadecimal(offset)?))
}

/// A symbol without the letter for whose it is, `[k] `.
fn bare_symbol(symbol: &str) -> &str {
    let rest = symbol.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    rest.filter(|(letter, _)| letter.len() == 1).map_or(symbol, |(_, symbol)| symbol.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Total Lost Samples: 0
#
# Samples: 1K of event 'cpu/mem-loads,ldlat=3/P'
# Event count (approx.): 200000
#
# Overhead       Samples  Data Type  Data Type Offset  Symbol                IPC   [IPC Coverage]
# ........  ............  .........  ................  ....................  ....................
#
     1.80%          1895  (stack operation)  (stack operation) +0 (no field)  [k] walk                   -      -
     0.64%           674  struct thing  struct thing +0x138 (rq)  [k] run one                        -      -

# Samples: 2  of event 'cpu/mem-stores/P'
# Overhead       Samples  Data Type  Data Type Offset  Symbol
     0.64%             2  struct thing  struct thing +0 (load.weight)  [.] main


# (Tip: something)
";

    #[test]
    fn rows_by_event() {
        let counts = parse(TEXT).unwrap();
        assert_eq!(counts.events, ["cpu/mem-loads,ldlat=3/P", "cpu/mem-stores/P"]);
        let rows: Vec<_> = counts
            .rows
            .iter()
            .map(|row| (row.event, row.type_name.as_str(), row.offset, row.tally.samples, row.operation))
            .collect();
        let expected = [
            (0, "(stack operation)", Some(0), 1895, MemoryOperation::Load),
            (0, "struct thing", Some(0x138), 674, MemoryOperation::Load),
            (1, "struct thing", Some(0), 2, MemoryOperation::Store),
        ];
        assert_eq!(rows, expected);
        let anonymous = TEXT.replace("struct thing  struct thing +0x138", "struct     struct  +0x138");
        let row = &parse(&anonymous).unwrap().rows[1];
        assert_eq!((row.type_name.as_str(), row.offset), ("struct", Some(0x138)));
        assert_eq!(counts.rows[1].function.as_deref(), Some("run one"));
        assert_eq!(counts.rows[2].function.as_deref(), Some("main"));
    }

    #[test]
    fn what_is_missing_or_broken_is_named_with_its_line() {
        let without = TEXT.replace("      Samples  Data", "  Data");
        assert!(parse(&without).unwrap_err().to_string().starts_with("line 6: has no column Samples"));
        let broken = TEXT.replace("+0x138", "+0x");
        assert!(parse(&broken).unwrap_err().to_string().starts_with("line 10: \"struct thing +0x (rq)\""));
        let large = TEXT.replace("674", "99999999999999999999");
        assert!(parse(&large).unwrap_err().to_string().contains("line 10: \"99999999999999999999\""));
        let early = format!("     1.80%   1  struct a\n{TEXT}");
        assert!(parse(&early).unwrap_err().to_string().starts_with("line 1: stands in front"));
    }
}
