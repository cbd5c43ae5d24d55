//! Tables of a struct's members as the kernel has them by cacheline, reordered with the struct.
//!
//! Two forms: columns apart by blanks, with a row `..struct ..name` below the heads (Linux 6.8 to 6.12), and
//! reStructuredText's simple tables between borders of `=` (since 6.14; docutils, "Simple Tables"). Rows are moved whole,
//! so that columns stay. A row whose name is no member's stays behind the row it was behind.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A row for a member that a table lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewRow {
    /// The member's name.
    pub(crate) name: String,
    /// Its type as C spells it.
    pub(crate) type_name: String,
}

/// A table in a document.
struct MemberTable {
    /// The lines of each row, in order.
    rows: Vec<Range<usize>>,
    /// Columns in characters; none in the form without borders.
    columns: Vec<Range<usize>>,
    /// Lines of borders and heads, which get wider with a column.
    frame: Vec<usize>,
    /// The columns of types and names.
    type_column: usize,
    name_column: usize,
    /// Where the heads of both begin, in characters.
    starts: [usize; 2],
}

/// How the rows of a table change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewOrder<'o> {
    /// Where each member stands, by name.
    pub(crate) places: &'o BTreeMap<String, usize>,
    /// Members whose rows move; others stay, whatever order they have.
    pub(crate) moved: &'o BTreeSet<String>,
    /// Rows for members that the table may lack.
    pub(crate) added: &'o [NewRow],
}

/// The document with the rows of members that move behind those of the members that they follow, and with new rows. `line`
/// is the 0-based line of the table's first row or of its `..struct`. `None` if it has another form.
pub(crate) fn reorder(text: &str, line: usize, order: NewOrder<'_>) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let table = MemberTable::find(&lines, line)?;
    let names: Vec<String> = table.rows.iter().map(|row| table.name(&lines, row)).collect();
    let added: Vec<&NewRow> = order.added.iter().filter(|row| !names.contains(&row.name)).collect();
    let mut blocks = sortable_blocks(&table, &lines, &names, order.places);
    let widened = table.widen(&mut lines, &mut blocks, &added);
    let is_kept = |block: &Block| block.place.is_none() || !order.moved.contains(&block.name);
    let (mut kept, mut moving): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(is_kept);
    for row in added {
        let (name, place) = (row.name.clone(), order.places.get(&row.name).copied());
        moving.push(Block { name, place, lines: vec![widened.row_text(row)] });
    }
    moving.sort_by_key(|block| block.place);
    for block in moving {
        let behind =
            kept.iter().enumerate().filter(|(_, other)| other.place.is_some() && other.place <= block.place);
        let behind = behind.max_by_key(|(_, other)| other.place).map(|(at, _)| at + 1);
        // Rows in front of the first that is known stay there.
        let first = || kept.iter().position(|other| other.place.is_some()).unwrap_or(kept.len());
        kept.insert(behind.unwrap_or_else(first), block);
    }
    let (first, last) = (table.rows.first()?.start, table.rows.last()?.end);
    let rows: Vec<String> = kept.into_iter().flat_map(|block| block.lines).collect();
    lines.splice(first..last, rows);
    let mut out = lines.join("\n");
    if text.ends_with('\n') {
        out.push('\n');
    }
    Some(out)
}

/// How many of a table's rows are of known members, of how many.
pub(crate) fn count_known(
    text: &str,
    line: usize,
    places: &BTreeMap<String, usize>,
) -> Option<(usize, usize)> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let table = MemberTable::find(&lines, line)?;
    let is_known = |row: &&Range<usize>| places.contains_key(&table.name(&lines, row));
    Some((table.rows.iter().filter(is_known).count(), table.rows.len()))
}

/// A row of a known member with those behind it that go with it.
struct Block {
    name: String,
    place: Option<usize>,
    lines: Vec<String>,
}

fn sortable_blocks(
    table: &MemberTable,
    lines: &[String],
    names: &[String],
    places: &BTreeMap<String, usize>,
) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (row, name) in table.rows.iter().zip(names) {
        let own = lines.get(row.clone()).unwrap_or_default().to_vec();
        match (places.get(name), blocks.last_mut()) {
            (None, Some(block)) => block.lines.extend(own),
            (place, _) => blocks.push(Block { name: name.clone(), place: place.copied(), lines: own }),
        }
    }
    blocks
}

impl MemberTable {
    fn find(lines: &[String], line: usize) -> Option<Self> {
        let own = lines.get(line)?;
        if own.split_whitespace().any(|word| word.starts_with("..")) {
            Self::plain(lines, line)
        } else {
            Self::bordered(lines, line)
        }
    }

    /// The form without borders; `line` is that of `..struct`, below the heads.
    fn plain(lines: &[String], line: usize) -> Option<Self> {
        let heads = lines.get(line.checked_sub(1)?)?;
        let words: Vec<&str> = heads.split_whitespace().collect();
        let (type_column, name_column) = head_places(&words)?;
        let mut rows: Vec<Range<usize>> = Vec::new();
        for (at, text) in
            lines.iter().enumerate().skip(line + 1).take_while(|(_, text)| !text.trim().is_empty())
        {
            match rows.last_mut().filter(|_| text.starts_with([' ', '\t'])) {
                Some(row) => row.end = at + 1,
                None => rows.push(at..at + 1),
            }
        }
        let starts = ["Type", "Name"].map(|head| char_place(heads, head));
        Some(Self { rows, columns: Vec::new(), frame: Vec::new(), type_column, name_column, starts })
    }

    /// The form with borders; `line` is within it.
    fn bordered(lines: &[String], line: usize) -> Option<Self> {
        let is_border = |at: &usize| lines.get(*at).is_some_and(|text| is_border(text));
        let top = (0..=line).rev().find(is_border)?;
        // The line that was found may be the first below the heads.
        let top = (top.saturating_sub(2)..top).find(is_border).unwrap_or(top);
        let middle = (top + 1..lines.len()).find(is_border)?;
        let bottom = (middle + 1..lines.len()).find(is_border)?;
        let columns = border_columns(lines.get(top)?);
        let heads = lines.get(top + 1).filter(|_| middle == top + 2)?;
        let cells: Vec<String> = columns.iter().map(|column| cell(heads, column)).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let (type_column, name_column) = head_places(&cells)?;
        let mut rows: Vec<Range<usize>> = Vec::new();
        for (at, line) in lines.iter().enumerate().take(bottom).skip(middle + 1) {
            // Text goes on where the first column is empty; so do blank lines.
            let is_first = columns.first().is_some_and(|first| !cell(line, first).is_empty());
            match rows.last_mut().filter(|_| !is_first) {
                Some(row) => row.end = at + 1,
                None => rows.push(at..at + 1),
            }
        }
        let starts =
            [type_column, name_column].map(|column| columns.get(column).map_or(0, |column| column.start));
        let frame = vec![top, top + 1, middle, bottom];
        Some(Self { rows, columns, frame, type_column, name_column, starts })
    }

    /// The name of a row's member, without bounds and widths: `name[16]`, `flag:1`, `rack.mstamp`.
    fn name(&self, lines: &[String], row: &Range<usize>) -> String {
        let Some(line) = lines.get(row.start) else { return String::new() };
        let text = match self.columns.get(self.name_column) {
            Some(column) => cell(line, column),
            None => line.split_whitespace().nth(self.name_column).unwrap_or_default().to_owned(),
        };
        let text = text.trim_start_matches('*');
        let end =
            text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(text.len());
        text.get(..end).unwrap_or_default().to_owned()
    }

    /// Makes the columns of types and names as wide as new rows need. Returns the table with these.
    fn widen(&self, lines: &mut [String], blocks: &mut [Block], added: &[&NewRow]) -> RowForm {
        let mut form = RowForm { starts: self.starts, is_bordered: !self.columns.is_empty() };
        for (column, text) in [(self.type_column, 0), (self.name_column, 1)] {
            let Some(range) = self.columns.get(column) else { continue };
            let needed = added.iter().map(|row| form.texts(row)[text].chars().count()).max().unwrap_or(0);
            let more = needed.saturating_sub(range.len());
            if more == 0 {
                continue;
            }
            // The columns before it may have grown already.
            let end = range.end + form.starts[text] - self.starts[text];
            for at in &self.frame {
                if let Some(line) = lines.get_mut(*at) {
                    insert_at(line, end, more, if is_border(line) { '=' } else { ' ' });
                }
            }
            for line in blocks.iter_mut().flat_map(|block| &mut block.lines) {
                insert_at(line, end, more, ' ');
            }
            if text == 0 {
                form.starts[1] += more;
            }
        }
        form
    }
}

/// Where a new row's cells go.
struct RowForm {
    starts: [usize; 2],
    is_bordered: bool,
}

impl RowForm {
    /// Type and name as the table spells them.
    fn texts(&self, row: &NewRow) -> [String; 2] {
        let type_name = row.type_name.replace(" *", "*");
        // Without borders a blank would begin another cell.
        let type_name = if self.is_bordered { type_name } else { type_name.replace(' ', "_") };
        [type_name, row.name.clone()]
    }

    fn row_text(&self, row: &NewRow) -> String {
        let [type_name, name] = self.texts(row);
        let indent = " ".repeat(self.starts[0]);
        let width = self.starts[1].saturating_sub(self.starts[0]);
        let gap = if type_name.chars().count() < width { "" } else { " " };
        format!("{indent}{type_name:<width$}{gap}{name}")
    }
}

/// Inserts characters at a place in a line that reaches beyond it.
fn insert_at(line: &mut String, place: usize, count: usize, filler: char) {
    if let Some((at, _)) = line.char_indices().nth(place) {
        line.insert_str(at, &filler.to_string().repeat(count));
    } else if filler == '=' {
        line.push_str(&"=".repeat(count));
    }
}

/// The columns headed Type and Name.
fn head_places(heads: &[&str]) -> Option<(usize, usize)> {
    let place = |wanted: &str| heads.iter().position(|head| head.eq_ignore_ascii_case(wanted));
    Some((place("type")?, place("name")?))
}

fn char_place(text: &str, word: &str) -> usize {
    let at = text.to_ascii_lowercase().find(&word.to_ascii_lowercase()).unwrap_or(0);
    text.get(..at).map_or(0, |before| before.chars().count())
}

/// A line of runs of `=`, at least two.
fn is_border(text: &str) -> bool {
    let is_run = |word: &str| word.bytes().all(|byte| byte == b'=');
    text.split_whitespace().count() > 1 && text.split_whitespace().all(is_run)
}

fn border_columns(border: &str) -> Vec<Range<usize>> {
    let mut columns: Vec<Range<usize>> = Vec::new();
    for (at, letter) in border.chars().enumerate() {
        match columns.last_mut().filter(|column| column.end == at) {
            Some(column) if letter == '=' => column.end = at + 1,
            _ if letter == '=' => columns.push(at..at + 1),
            _ => {}
        }
    }
    columns
}

fn cell(line: &str, column: &Range<usize>) -> String {
    line.chars().skip(column.start).take(column.len()).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(names: &[&str]) -> BTreeMap<String, usize> {
        names.iter().enumerate().map(|(place, name)| ((*name).to_owned(), place)).collect()
    }

    /// Every member moves.
    fn reorder_all(
        text: &str,
        line: usize,
        places: &BTreeMap<String, usize>,
        added: &[NewRow],
    ) -> Option<String> {
        let moved = places.keys().cloned().collect();
        reorder(text, line, NewOrder { places, moved: &moved, added })
    }

    fn row(name: &str, type_name: &str) -> NewRow {
        NewRow { name: name.to_owned(), type_name: type_name.to_owned() }
    }

    const PLAIN: &str = "box struct\n==========\n\nType       Name     tx  Comments\n..struct   ..box             \nint        \
        lid      -   f\nu8         hinge[4] rw  g\nodd        gone     -\nint         lock    -   h\n";

    #[test]
    fn rows_without_borders_move_whole() {
        let new = reorder_all(PLAIN, 4, &places(&["lock", "hinge", "lid"]), &[]).unwrap();
        let rows: Vec<&str> = new.lines().skip(5).collect();
        let expected = [
            "int         lock    -   h",
            "u8         hinge[4] rw  g",
            "odd        gone     -",
            "int        lid      -   f",
        ];
        assert_eq!(rows, expected);
        assert_eq!(reorder_all(PLAIN, 4, &places(&["lid", "hinge", "lock"]), &[]).unwrap(), PLAIN);
        let wide = [row("state", "struct state *")];
        let new = reorder_all(PLAIN, 4, &places(&["lid", "state", "hinge", "lock"]), &wide).unwrap();
        assert_eq!(new.lines().nth(6), Some("struct_state* state"));
    }

    const BORDERED: &str = "box struct\n==========\n\n======== ======== ==\nType     Name     tx\n======== ======== ==\nint      \
        lid\nu8       hinge[4] rw\n                  more\nlong     lock     rw\n======== ======== ==\n\nText.\n";

    #[test]
    fn rows_between_borders_move_with_what_goes_on() {
        let new = reorder_all(BORDERED, 4, &places(&["lock", "hinge", "lid"]), &[]).unwrap();
        let rows: Vec<&str> = new.lines().skip(6).take(4).collect();
        assert_eq!(
            rows,
            ["long     lock     rw", "u8       hinge[4] rw", "                  more", "int      lid"]
        );
        assert_eq!(new.lines().count(), BORDERED.lines().count());
        assert_eq!(reorder_all(BORDERED, 6, &places(&["lid", "hinge", "lock"]), &[]).unwrap(), BORDERED);
        assert_eq!(count_known(BORDERED, 4, &places(&["lid"])), Some((1, 3)));
    }

    #[test]
    fn columns_get_as_wide_as_new_rows_need() {
        let added = [row("a_long_member", "struct long_name *"), row("lid", "int")];
        let new =
            reorder_all(BORDERED, 4, &places(&["lid", "a_long_member", "hinge", "lock"]), &added).unwrap();
        let expected = "================= ============= ==\nType              Name          tx\n\
            ================= ============= ==\nint               lid\nstruct long_name* a_long_member\n\
            u8                hinge[4]      rw\n                                more\nlong              lock          rw\n\
            ================= ============= ==\n";
        assert!(new.contains(expected), "{new}");
    }

    #[test]
    fn in_a_table_of_another_order_only_what_moves_is_moved() {
        let text = "box struct\n==========\n\nType Name\n..struct ..box\nint d\nint a\nint c\nint b\n";
        let moved = BTreeSet::from(["d".to_owned()]);
        let places = places(&["a", "d", "b", "c"]);
        let new = reorder(text, 4, NewOrder { places: &places, moved: &moved, added: &[] }).unwrap();
        assert!(new.ends_with("int a\nint d\nint c\nint b\n"), "{new}");
        let moved = BTreeSet::from(["a".to_owned()]);
        let new = reorder(text, 4, NewOrder { places: &places, moved: &moved, added: &[] }).unwrap();
        assert_eq!(new.lines().nth(5), Some("int a"), "{new}");
    }

    #[test]
    fn other_forms_are_left_alone() {
        assert_eq!(reorder_all("a  b\nc  d\n", 0, &places(&["b"]), &[]), None);
        assert_eq!(reorder_all("", 0, &places(&[]), &[]), None);
        for end in (0..BORDERED.len()).filter(|end| BORDERED.is_char_boundary(*end)) {
            for line in 0..12 {
                reorder_all(&BORDERED[..end], line, &places(&["lock", "lid"]), &[row("x", "long long long")]);
            }
        }
    }
}
