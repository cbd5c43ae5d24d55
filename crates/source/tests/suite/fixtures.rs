//! Source fixtures: small structs of our own writing, each with an order and what must come out.
//!
//! Every directory of `tests/fixtures` holds `before.h` and `case.txt`, and `after.h` unless the case is
//! refused. `case.txt` has lines `key: value`:
//!
//! * `struct`: the name to look for; `line`: the line debug info has, if needed.
//! * `members`: what debug info declares, in order; `-` is an unnamed struct or union.
//! * `order`: the wanted order; the n-th unnamed member is `-n`.
//! * `refused`: the whole refusal, if there is one.
//! * `note`: one expected note; may come several times, in order.
//!
//! `FIELDLINE_BLESS=1` rewrites `after.h`.

use fieldline_source::{
    DefinitionQuery, ExpectedMember, Join, Reordering, SourceRefusal, SourceText, StructBody,
};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct FixtureCase {
    name: String,
    line: Option<u32>,
    members: Vec<ExpectedMember>,
    order: Vec<usize>,
    refused: Option<String>,
    notes: Vec<String>,
}

impl FixtureCase {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut case = Self::default();
        for line in text.lines() {
            let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{path:?}: {line}"));
            match key {
                "struct" => case.name = value.to_owned(),
                "line" => case.line = Some(value.parse().unwrap()),
                "members" => case.members = value.split_whitespace().map(member).collect(),
                "order" => case.order = case.indices(value),
                "refused" => case.refused = Some(value.to_owned()),
                "note" => case.notes.push(value.to_owned()),
                _ => panic!("{path:?}: unknown key {key}"),
            }
        }
        case
    }

    fn indices(&self, order: &str) -> Vec<usize> {
        order.split_whitespace().map(|word| self.index(word)).collect()
    }

    fn index(&self, word: &str) -> usize {
        let mut all = self.members.iter().enumerate();
        match word.strip_prefix('-') {
            Some(number) => {
                let mut unnamed = all.filter(|(_, member)| member.name.is_none());
                unnamed.nth(number.parse::<usize>().unwrap() - 1).unwrap().0
            }
            None => {
                all.find(|(_, member)| member.name.as_deref() == Some(word))
                    .unwrap_or_else(|| panic!("{word}"))
                    .0
            }
        }
    }

    fn run(&self, text: &[u8]) -> Result<Reordering, SourceRefusal> {
        let source = SourceText::new(text);
        let definition = source.find(&DefinitionQuery::for_name(&self.name).with_line(self.line))?;
        let body = StructBody::parse(&source, &definition)?;
        let join = Join::new(&body, &self.members)?;
        let declared: Vec<usize> = (0..self.members.len()).collect();
        let unchanged = join.reorder(&declared)?;
        assert!(unchanged.edits.is_empty(), "the declared order must change nothing: {unchanged:?}");
        join.reorder(&self.order)
    }
}

fn member(word: &str) -> ExpectedMember {
    match word {
        "-" => ExpectedMember::unnamed(),
        name => ExpectedMember::named(name),
    }
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn check(directory: &Path) -> Result<(), String> {
    let before = fs::read(directory.join("before.h")).unwrap();
    let case = FixtureCase::read(&directory.join("case.txt"));
    let outcome = case.run(&before);
    match (&case.refused, outcome) {
        (Some(wanted), Err(refusal)) if refusal.to_string() == *wanted => Ok(()),
        (Some(wanted), Err(refusal)) => Err(format!("refused with {refusal:?}: {refusal}\nwanted: {wanted}")),
        (Some(wanted), Ok(_)) => Err(format!("not refused; wanted: {wanted}")),
        (None, Err(refusal)) => Err(format!("refused: {refusal}")),
        (None, Ok(reordering)) => compare(directory, &case, &before, &reordering),
    }
}

fn compare(
    directory: &Path,
    case: &FixtureCase,
    before: &[u8],
    reordering: &Reordering,
) -> Result<(), String> {
    let path = directory.join("after.h");
    let after = reordering.edits.apply(before);
    if std::env::var_os("FIELDLINE_BLESS").is_some() {
        fs::write(&path, &after).unwrap();
    }
    let wanted = fs::read(&path).unwrap_or_default();
    let notes: Vec<String> = reordering.notes.iter().map(ToString::to_string).collect();
    if after != wanted {
        return Err(format!("got:\n{}", String::from_utf8_lossy(&after)));
    }
    if notes != case.notes {
        return Err(format!("notes: {notes:#?}"));
    }
    Ok(())
}

#[test]
fn every_fixture_comes_out_as_written() {
    let cases = cases();
    assert!(cases.len() >= 30, "only {} cases found", cases.len());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case).err().map(|error| format!("{}: {error}", case.display())))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
