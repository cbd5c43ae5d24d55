//! Every struct of a kernel tree: needs `FIELDLINE_TREE`, the tree's folder.
//!
//! The join with real debug info needs `FIELDLINE_MEMBERS` too: a file with a line path TAB line TAB
//! struct|union TAB name TAB members` for each type, members joined by commas, `-` for an unnamed one.

use crate::generate::{expected, shuffled};
use fieldline_source::{DefinitionQuery, ExpectedMember, Join, SourceRefusal, SourceText, StructBody};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose headers are read.
const FOLDERS: [&str; 2] = ["include/linux", "kernel/sched"];
/// Refusals beyond this share are a fault of ours.
const MOST_REFUSED: f64 = 0.03;

#[derive(Default)]
struct Tally {
    structs: usize,
    members: usize,
    orders: usize,
    refused: BTreeMap<String, usize>,
    refusals: usize,
}

impl Tally {
    fn refuse(&mut self, stage: &str, refusal: impl std::fmt::Debug) {
        let kind = format!("{refusal:?}");
        let kind = kind.split([' ', '{']).next().unwrap_or_default();
        *self.refused.entry(format!("{stage}: {kind}")).or_default() += 1;
        self.refusals += 1;
    }
}

fn headers(tree: &Path) -> Vec<PathBuf> {
    let folders = FOLDERS.iter().map(|folder| fs::read_dir(tree.join(folder)).unwrap());
    let paths = folders.flatten().map(|entry| entry.unwrap().path());
    let mut headers: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "h")).collect();
    headers.sort();
    headers
}

/// Reads every struct of a file as if every condition held that can, writes it in its own order and in
/// another.
fn read(path: &Path, tally: &mut Tally) {
    let text = fs::read(path).unwrap();
    let source = SourceText::new(&text);
    for definition in source.definitions() {
        tally.structs += 1;
        let place = format!("{}:{} {}", path.display(), definition.line, definition.name());
        let body = match StructBody::parse(&source, &definition) {
            Ok(body) => body,
            Err(refusal) => {
                tally.refuse("body", &refusal);
                println!("{place}: {refusal}");
                continue;
            }
        };
        let members = expected(&body);
        let join = match Join::new(&body, &members) {
            Ok(join) => join,
            Err(refusal) => {
                tally.refuse("join", &refusal);
                println!("{place}: {refusal}");
                continue;
            }
        };
        tally.members += members.len();
        let declared: Vec<usize> = (0..members.len()).collect();
        let same = join.reorder(&declared).unwrap_or_else(|refusal| panic!("{place}: {refusal}"));
        assert!(same.edits.is_empty(), "{place}: the declared order changes {:?}", same.edits);
        let seed = u64::from(definition.line);
        if let Err(refusal) = join.reorder(&shuffled(&join.constraints(), seed)) {
            tally.refuse("order", &refusal);
            println!("{place}: {refusal}");
        }
        tally.orders += 1;
    }
}

#[test]
#[ignore = "reads the tree that FIELDLINE_TREE names; cargo xtask kernel runs it"]
fn every_struct_of_a_kernel_tree_is_read() {
    let tree = std::env::var_os("FIELDLINE_TREE").unwrap();
    let mut tally = Tally::default();
    for header in headers(Path::new(&tree)) {
        read(&header, &mut tally);
    }
    println!(
        "{} structs, {} members, {} orders written, {} refused: {:?}",
        tally.structs, tally.members, tally.orders, tally.refusals, tally.refused
    );
    assert!(tally.structs > 1000, "this is no kernel tree");
    let share = tally.refusals as f64 / tally.structs as f64;
    assert!(share <= MOST_REFUSED, "{:.1} % refused", share * 100.0);
}

/// One type of debug info.
struct DebugInfoType<'r> {
    path: &'r str,
    line: u32,
    name: &'r str,
    members: Vec<ExpectedMember>,
}

impl<'r> DebugInfoType<'r> {
    fn parse(row: &'r str) -> Self {
        let fields: Vec<&str> = row.split('\t').collect();
        let members = fields[4].split(',').filter(|name| !name.is_empty());
        let member = |name| match name {
            "-" => ExpectedMember::unnamed(),
            name => ExpectedMember::named(name),
        };
        Self {
            path: fields[0],
            line: fields[1].parse().unwrap(),
            name: fields[3],
            members: members.map(member).collect(),
        }
    }

    fn check(&self, text: &[u8]) -> Result<(), SourceRefusal> {
        let source = SourceText::new(text);
        let definition = source.find(&DefinitionQuery::for_name(self.name).with_line(Some(self.line)))?;
        let body = StructBody::parse(&source, &definition)?;
        let join = Join::new(&body, &self.members)?;
        let declared: Vec<usize> = (0..self.members.len()).collect();
        assert!(join.reorder(&declared)?.edits.is_empty(), "{}", self.name);
        join.reorder(&shuffled(&join.constraints(), u64::from(self.line)))?;
        Ok(())
    }
}

#[test]
#[ignore = "reads the tree that FIELDLINE_TREE names, and its members by debug info from FIELDLINE_MEMBERS"]
fn debug_info_joins_with_its_tree() {
    let tree = std::env::var_os("FIELDLINE_TREE").unwrap();
    let members = std::env::var_os("FIELDLINE_MEMBERS").unwrap();
    let rows = fs::read_to_string(members).unwrap();
    let mut rows: Vec<DebugInfoType> = rows.lines().map(DebugInfoType::parse).collect();
    rows.sort_by_key(|row| row.path);
    let mut defined = 0;
    let mut refused = Vec::new();
    for rows in rows.chunk_by(|first, other| first.path == other.path) {
        let Ok(text) = fs::read(Path::new(&tree).join(rows[0].path)) else {
            continue;
        };
        for row in rows {
            match row.check(&text) {
                // Made by a macro: there is no definition to find.
                Err(SourceRefusal::NotFound { .. }) => continue,
                Err(refusal) => refused.push(format!("{}:{} {}: {refusal}", row.path, row.line, row.name)),
                Ok(()) => {}
            }
            defined += 1;
        }
    }
    println!("{defined} structs defined in the tree, {} refused\n{}", refused.len(), refused.join("\n"));
    assert!(defined > 1000, "these members are of another tree");
    assert!(refused.len() * 100 <= defined, "more than 1 % refused");
}
