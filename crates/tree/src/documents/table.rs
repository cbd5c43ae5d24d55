//! Tables in texts: reStructuredText's list, grid and simple tables, and columns apart by blanks alone.
//!
//! A table lists a struct's members if it says so (a row `..struct ..name`), or if what stands around it
//! names the struct and most of its rows have a cell that is a member's name, all in the same column.

use crate::uses;
use fieldline_layout::Layout;
use fieldline_layout::types::split_namespace;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer members than this are chance.
const FEWEST: usize = 3;
/// So many lines above a table may introduce it.
const ABOVE: usize = 6;
/// Directives whose content is a table, one cell a list item.
const LISTS: &[&str] = &["flat-table", "list-table", "csv-table"];

/// A run of rows.
#[derive(Default)]
struct DocumentTable<'t> {
    /// Index of the first line.
    line: usize,
    /// Its directive's title, if it has one.
    title: &'t str,
    rows: Vec<TableRow<'t>>,
}

struct TableRow<'t> {
    line: usize,
    cells: Vec<&'t str>,
}

/// A struct whose members documents may list.
pub(crate) struct ListedStruct {
    pub(super) name: String,
    /// Names that a table can give its members.
    pub(super) members: BTreeSet<String>,
}

impl From<&Layout> for ListedStruct {
    fn from(layout: &Layout) -> Self {
        let name = split_namespace(&layout.name).1.to_owned();
        let members = uses::names(&layout.members).into_iter().map(str::to_owned);
        Self { name, members: members.collect() }
    }
}

/// 1-based first lines of the tables that list members of a struct. `stem` is the file's name.
pub(super) fn find_member_tables(text: &str, stem: &str, target: &ListedStruct) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let name = target.name.as_str();
    if !lines.iter().any(|line| has_word(line, name)) {
        return Vec::new();
    }
    let context = TableContext::new(&lines, stem, name);
    let found = parse_tables(&lines).into_iter().filter_map(|table| {
        let names = |row: &&TableRow<'_>| row.cells.iter().any(|cell| cell.strip_prefix("..") == Some(name));
        let own = table.rows.iter().find(names).map(|row| row.line + 1);
        let is_list = || lists_members(&table, &target.members) && context.names_struct(&table);
        own.or_else(|| is_list().then_some(table.line + 1))
    });
    found.collect()
}

/// Whether most rows have a member's name in one column.
fn lists_members(table: &DocumentTable<'_>, members: &BTreeSet<String>) -> bool {
    let mut columns: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for row in &table.rows {
        for (column, cell) in row.cells.iter().enumerate() {
            columns.entry(column).or_default().extend(members.get(strip_markup(cell)).map(String::as_str));
        }
    }
    let most = columns.values().map(BTreeSet::len).max().unwrap_or(0);
    most >= FEWEST.min(members.len()).max(2) && most * 2 >= table.rows.len()
}

/// A cell without marks of text and array bounds: ``` ``name``\ [16] ```, `name[4]`, `*name`. Code that
/// initialises members (`.name`) names them whatever their order.
fn strip_markup(cell: &str) -> &str {
    let cell = cell.trim().trim_start_matches(['`', '*']);
    let end = cell.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(cell.len());
    let (name, rest) = cell.split_at(end);
    let rest = rest.trim_start_matches(['`', '*', '\\', ' ', ':', ',', ';']);
    let is_whole = rest.is_empty() || rest.starts_with('[') && rest.ends_with([']', ';', '`']);
    if is_whole { name } else { "" }
}

/// The text around tables.
struct TableContext<'t> {
    lines: &'t [&'t str],
    stem: &'t str,
    name: &'t str,
    /// Headings by line, the title first, and whether they name the struct.
    headings: Vec<(usize, bool)>,
    /// Lines that declare a type by a directive, and whether it is the struct.
    declared: Vec<(usize, bool)>,
}

impl<'t> TableContext<'t> {
    fn new(lines: &'t [&'t str], stem: &'t str, name: &'t str) -> Self {
        let headings = (0..lines.len()).filter(|at| is_heading(lines, *at));
        let headings = headings.map(|at| (at, heading_names(lines[at], name))).collect();
        let declared = lines.iter().enumerate().filter_map(|(at, line)| Some((at, declared_type(line)?)));
        let declared = declared.map(|(at, tag)| (at, tag == name)).collect();
        Self { lines, stem, name, headings, declared }
    }

    /// Whether title, heading, directive, introduction or first rows of a table name the struct.
    fn names_struct(&self, table: &DocumentTable<'_>) -> bool {
        let last = |marks: &[(usize, bool)]| {
            let above = marks.partition_point(|(line, _)| *line < table.line);
            above.checked_sub(1).and_then(|last| marks.get(last)).is_some_and(|(_, names)| *names)
        };
        let above = self.lines.get(table.line.saturating_sub(ABOVE)..table.line).unwrap_or_default();
        let first = table.rows.iter().take(2).flat_map(|row| &row.cells);
        let is_title = |(line, names): &(usize, bool)| *names && *line < table.line;
        self.stem == self.name
            || heading_names(table.title, self.name)
            || self.headings.first().is_some_and(is_title)
            || last(&self.headings)
            || last(&self.declared)
            || above.iter().chain(first).any(|text| is_struct(text, self.name))
    }
}

/// The type that a directive of the C domain declares: `.. c:type:: name`.
fn declared_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(".. c:")?;
    let rest = rest.strip_prefix("type::").or_else(|| rest.strip_prefix("struct::"))?;
    Some(rest.trim().trim_start_matches("struct "))
}

/// Whether a heading names a struct: a name of one word only where it says that it is a struct.
fn heading_names(text: &str, name: &str) -> bool {
    is_struct(text, name) || name.contains('_') && has_word(text, name)
}

/// Whether a text has `struct name` or `name struct`, marks of text apart.
fn is_struct(text: &str, name: &str) -> bool {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
    let words = words.filter(|word| !word.is_empty() && !word.starts_with(':'));
    let words: Vec<&str> = words.map(|word| word.trim_matches(':')).collect();
    let is_kind = |word: &str| word == "struct" || word == "structure";
    words.windows(2).any(|pair| is_kind(pair[0]) && pair[1] == name || pair[0] == name && is_kind(pair[1]))
}

fn has_word(text: &str, name: &str) -> bool {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| word == name)
}

/// Whether a line is underlined.
fn is_heading(lines: &[&str], at: usize) -> bool {
    let line = lines[at];
    let text = line.trim();
    let below = lines.get(at + 1).map_or("", |line| line.trim_end());
    let is_text = !text.is_empty() && !is_ruler(text);
    is_text && is_ruler(below) && below.len() + 2 >= text.len() && !below.contains(' ')
}

/// A line of one mark only.
fn is_ruler(line: &str) -> bool {
    let mut letters = line.chars();
    let first = letters.next();
    line.len() >= 3
        && first.is_some_and(|first| first.is_ascii_punctuation() && !"|./".contains(first))
        && letters.all(|letter| Some(letter) == first)
}

fn parse_tables<'t>(lines: &[&'t str]) -> Vec<DocumentTable<'t>> {
    let mut tables = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (table, next) = match parse_directive(lines[at]) {
            Some(title) => parse_list_table(lines, at, title),
            None => parse_column_table(lines, at),
        };
        if table.rows.len() > 1 {
            tables.push(table);
        }
        at = next.max(at + 1);
    }
    tables
}

/// The title of a directive whose content is a table.
fn parse_directive(line: &str) -> Option<&str> {
    let (name, title) = line.trim_start().strip_prefix(".. ")?.split_once("::")?;
    LISTS.contains(&name).then(|| title.trim())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The table of a directive: `* - cell` begins a row, `- cell` is the next cell, `a, b` is a row.
fn parse_list_table<'t>(lines: &[&'t str], at: usize, title: &'t str) -> (DocumentTable<'t>, usize) {
    let mut table = DocumentTable { line: at, title, rows: Vec::new() };
    let mut next = at + 1;
    // Lists below cells are deeper than the first row.
    let mut depth = None;
    let is_inside = |line: &&&str| line.trim().is_empty() || indent(line) > indent(lines[at]);
    while let Some(line) = lines.get(next).filter(is_inside) {
        let (text, columns) = (line.trim_start(), indent(line));
        if let Some(cell) = text.strip_prefix("* - ").filter(|_| columns <= *depth.get_or_insert(columns)) {
            table.rows.push(TableRow { line: next, cells: vec![cell] });
        } else if let (Some(cell), Some(row)) = (text.strip_prefix("- "), table.rows.last_mut())
            && depth.is_some_and(|depth| columns == depth + 2)
        {
            row.cells.push(cell);
        } else if depth.is_none() && text.contains(',') {
            let cells = text.split(',').map(|cell| cell.trim().trim_matches('"'));
            table.rows.push(TableRow { line: next, cells: cells.collect() });
        }
        next += 1;
    }
    (table, next)
}

/// The rows from a line on; at most one blank line between two. Indented lines continue a cell.
fn parse_column_table<'t>(lines: &[&'t str], at: usize) -> (DocumentTable<'t>, usize) {
    let mut table = DocumentTable { line: at, ..DocumentTable::default() };
    let mut next = at;
    while let Some(line) = lines.get(next) {
        let is_gap = line.trim().is_empty() && !table.rows.is_empty();
        let goes_on = is_gap && lines.get(next + 1).is_some_and(|line| is_row_or_border(line));
        if is_row_or_border(line) {
            let cells = split_cells(line);
            if cells.len() > 1 && !is_heading(lines, next) {
                table.rows.push(TableRow { line: next, cells });
            }
        } else if !goes_on {
            // A line further in than the first row goes on with a cell of the row above.
            let first = table.rows.first().and_then(|row| lines.get(row.line));
            if line.trim().is_empty() || first.is_none_or(|first| indent(line) <= indent(first)) {
                break;
            }
        }
        next += 1;
    }
    table.line = table.rows.first().map_or(at, |row| row.line);
    (table, next)
}

/// Whether a line is a row or the border of rows.
fn is_row_or_border(line: &str) -> bool {
    let text = line.trim();
    let is_border = !text.is_empty() && text.bytes().all(|byte| b"+-=| ".contains(&byte));
    is_border || split_cells(line).len() > 1
}

/// Cells of a row: between bars, or two blanks or a tab apart. If the first is empty, the line goes on.
fn split_cells(line: &str) -> Vec<&str> {
    let text = line.trim();
    if text.bytes().all(|byte| b"+-=| ".contains(&byte)) {
        return Vec::new();
    }
    if let Some(inside) = text.strip_prefix('|') {
        return inside.trim_end_matches('|').split('|').map(str::trim).collect();
    }
    let cells = text.split('\t').flat_map(|part| part.split("  ")).map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::tests::listed;

    fn found(text: &str, name: &str) -> Vec<usize> {
        let members = ["lid", "hinge", "lock", "state", "count"];
        find_member_tables(text, "notes", &listed(name, &members))
    }

    #[test]
    fn tables_of_every_form_are_found() {
        for text in [
            "The box_s\n=========\n\n===== =====\nlid    covers\nhinge  turns\nlock   closes\n===== =====\n",
            "Members of struct box_s:\n\n+-------+-----+\n| int   | lid |\n+-------+-----+\n| u8    | hinge[4] |\n| u8  | lock |\n",
            ".. flat-table:: struct box_s\n    :widths: 1 2\n\n    * - int\n      - ``lid``\n\tmore\n    * - int\n      - ``hinge``\\ [16]\n    * - u8\n      - ``lock``\n",
            ".. c:type:: box_s\n\n.. list-table::\n\n   * - lid\n     - covers\n   * - hinge\n     - turns\n   * - lock\n     - closes\n",
            ".. csv-table:: box_s\n   :widths: 1\n\n   \"lid\", \"covers\"\n   hinge, turns\n   lock, closes\n",
            "About struct box_s\n\n Offset\tName\tMeaning\n\n 0\tlid\ta\n\t\t\tmore\n 4\thinge\tb\n 8\tlock\tc\n",
        ] {
            assert_eq!(found(text, "box_s").len(), 1, "{text}");
            assert_eq!(found(text, "box_t"), [0; 0], "{text}");
        }
    }

    #[test]
    fn the_first_row_of_a_table_by_cacheline_names_its_struct() {
        let text = "tables\n======\n\nType    Name\n..struct   ..box\nint   top\n";
        assert_eq!(found(text, "box"), [5]);
    }

    #[test]
    fn what_only_looks_like_a_list_is_none() {
        for text in [
            // Not of this struct.
            "Bags\n====\n\nlid    covers\nhinge  turns\nlock   closes\n\nA box_s is something else.\n",
            // Too few members, or few of many rows.
            "box_s\n=====\n\nlid    covers\nhinge  turns\nkey    opens\n",
            "box_s\n=====\n\nlid  a\nhinge  b\nlock  c\nd  d\ne  e\nf  f\ng  g\n",
            // Not in one column.
            "box_s\n=====\n\nlid  a\nb  hinge\nc  d  lock\n",
            // Code.
            "box_s\n=====\n\n    .lid    = a,\n    .hinge  = b,\n    .lock   = c,\n",
            // Prose.
            "box_s\n=====\n\nThe lid, the hinge and the lock of a box_s.\nstate and count too.\n",
        ] {
            assert_eq!(found(text, "box_s"), [0; 0], "{text}");
        }
        // A word of the language is a struct's name only where the text says so.
        let text = "The box\n=======\n\nlid    covers\nhinge  turns\nlock   closes\n";
        assert_eq!(found(text, "box"), [0; 0]);
        assert_eq!(found(&text.replace("The", "struct"), "box"), [4]);
        // The next heading is about something else.
        let text =
            "Notes\n=====\n\nThe box_s\n=========\n\nIt shuts.\n\nBags\n====\n\nlid   a\nhinge  b\nlock  c\n";
        assert_eq!(found(text, "box_s"), [0; 0]);
        assert_eq!(found(&text.replace("Bags\n====\n\n", ""), "box_s"), [9]);
    }

    #[test]
    fn cut_text_does_not_panic() {
        let text = ".. flat-table:: struct box_s\n\n    * - ``l\u{e9}id``\\ [16]\n      - x\n+--+\n|  | lid |\n\tlock\t\n===\n";
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            found(&text[..end], "box_s");
        }
    }
}
