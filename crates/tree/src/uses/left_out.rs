//! Uses in text that a build leaves out: files that it doesn't compile, and lines under conditions that don't hold.
//!
//! A front end reads all that is compiled. Here each file is read by itself, with the headers that say a name of the
//! structs. A file counts for a struct if it can know its members: if it includes the struct's header, directly or
//! through others.

use super::by_file::UsesByFile;
use super::macro_uses::{self, PendingMacro};
use super::meant::{read, subject};
use super::sayings::{Names, tags};
use super::scope::{DeclaredStruct, Definition, Scope, is_header, used_struct};
use super::view::BuildView;
use fieldline_source::meaning::{KnownName, MeantUse, ReadFile, TargetStruct, UnitReader, include_paths};
use fieldline_source::uses::{StructUse, UseDemand, UsedStruct, find_uses};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most bytes of headers that files are read with.
const MOST_HEADERS: usize = 48 << 20;

/// The files of a tree that may include others, by what they include.
struct Includes {
    by_name: BTreeMap<String, Vec<String>>,
    /// For each struct, the files that include its header.
    knowing: Vec<BTreeSet<String>>,
}

/// A header that says a name of a struct.
struct Header {
    path: String,
    text: Vec<u8>,
    said: Vec<usize>,
}

/// The findings in one file.
#[derive(Default)]
struct Findings {
    uses: Vec<(usize, StructUse)>,
    waiting: Vec<PendingMacro>,
}

/// Everything that all files are searched for.
struct Search<'s> {
    tree: &'s Path,
    structs: &'s [DeclaredStruct<'s>],
    used: &'s [UsedStruct],
    view: &'s BuildView<'s>,
    includes: &'s Includes,
    /// By struct.
    scopes: &'s [Scope],
}

/// Uses in what a build leaves out, by struct.
pub(super) fn find(
    tree: &Path,
    files: &[String],
    structs: &[DeclaredStruct<'_>],
    view: &BuildView<'_>,
) -> Vec<UsesByFile> {
    let subjects: Vec<TargetStruct> = structs.iter().map(subject).collect();
    let used: Vec<UsedStruct> = structs.iter().map(|declared| used_struct(declared.layout)).collect();
    let tags = tags(tree, files, structs);
    let names = Names::new(tags.iter().cloned().zip(0..).collect());
    let paths: Vec<&String> = files.iter().filter(|path| is_header(path)).collect();
    let (headers, includes) = read_headers(tree, &paths, structs, &names);
    let mut found = vec![UsesByFile::default(); structs.len()];
    let bytes: usize = headers.iter().map(|header| header.text.len()).sum();
    if bytes > MOST_HEADERS {
        for (uses, declared) in found.iter_mut().zip(structs) {
            uses.0.push((declared.header.to_owned(), too_much(headers.len())));
        }
        return found;
    }
    let scopes = scopes(&headers, structs, &subjects);
    let search = Search { tree, structs, used: &used, view, includes: &includes, scopes: &scopes };
    let read_headers: Vec<ReadFile<'_>> = headers
        .iter()
        .map(|header| ReadFile {
            path: &header.path,
            text: &header.text,
            is_searched: search.is_left_out_header(header),
        })
        .collect();
    let reader = UnitReader::new(read_headers, &subjects);
    let mut all: Vec<(String, Findings)> = search.headers(&headers, &reader);
    let mut wanted: Vec<(KnownName, usize)> = tags.into_iter().zip(0..).collect();
    wanted.extend(reader.names());
    let names = Names::new(wanted);
    let units: Vec<&String> =
        files.iter().filter(|path| !is_header(path) && view.may_leave_out(path)).collect();
    let more = fieldline_parallel::map(&units, |path| ((*path).clone(), search.unit(path, &names, &reader)));
    all.extend(more);
    let mut waiting = Vec::new();
    for (path, findings) in all {
        for (number, used) in findings.uses {
            if let Some(uses) = found.get_mut(number) {
                uses.0.push((path.clone(), used));
            }
        }
        waiting.extend(findings.waiting);
    }
    let paths: Vec<String> = paths.into_iter().cloned().collect();
    for (number, path, used) in macro_uses::follow_macros(tree, &paths, (structs, &used), waiting) {
        if let Some(uses) = found.get_mut(number) {
            uses.0.push((path, used));
        }
    }
    found
}

/// The scopes of structs, by the headers that define their names.
fn scopes(headers: &[Header], structs: &[DeclaredStruct<'_>], subjects: &[TargetStruct]) -> Vec<Scope> {
    let scope = |(declared, subject): (&DeclaredStruct<'_>, &TargetStruct)| {
        let define = |header: &Header| (header.path.clone(), Definition::find(&header.text, &subject.name));
        Scope::new(declared.header, &headers.iter().map(define).collect::<Vec<_>>())
    };
    structs.iter().zip(subjects).map(scope).collect()
}

fn too_much(count: usize) -> StructUse {
    let description =
        format!("{count} headers say a name of the structs asked for, more than are read at once");
    StructUse { line: 1, demand: UseDemand::Whole, members: Vec::new(), description }
}

impl Search<'_> {
    fn is_left_out_header(&self, header: &Header) -> bool {
        self.view.may_leave_out(&header.path)
            && !said_outside(&header.said, &header.path, &header.text, self).is_empty()
    }

    /// Whether a file can know a struct.
    fn knows(&self, path: &str, included: &[String], number: usize) -> bool {
        let Some(declared) = self.structs.get(number) else { return false };
        let is_in_scope = self.scopes.get(number).is_some_and(|scope| scope.knows(path));
        is_in_scope && (path == declared.header || self.includes.leads_to(path, included, number))
    }

    /// Uses in headers.
    fn headers(&self, headers: &[Header], reader: &UnitReader<'_>) -> Vec<(String, Findings)> {
        let mut found: BTreeMap<usize, Findings> = BTreeMap::new();
        for (number, header) in headers.iter().enumerate() {
            if self.is_left_out_header(header) {
                let included = include_paths(&header.text);
                let said: Vec<usize> = header.said.to_vec();
                let said: Vec<usize> =
                    said.into_iter().filter(|said| self.knows(&header.path, &included, *said)).collect();
                found.insert(number, self.as_text(&header.path, &header.text, &said));
            }
        }
        for meant in reader.header_uses() {
            let Some(header) = headers.get(meant.file) else { continue };
            let included = include_paths(&header.text);
            if self.knows(&header.path, &included, meant.subject) {
                found.entry(meant.file).or_default().uses.push((meant.subject, meant.used));
            }
        }
        let named = found
            .into_iter()
            .filter_map(|(number, findings)| Some((headers.get(number)?.path.clone(), findings)));
        named.collect()
    }

    /// Uses in a file.
    fn unit(&self, path: &str, names: &Names, reader: &UnitReader<'_>) -> Findings {
        let text = read(self.tree, path).bytes;
        let lines = Lines::new(&text);
        let has_read = self.view.has_read(path);
        let said = names.said(&text, |at| !has_read || self.view.leaves_out(path, lines.number(at)));
        if said.is_empty() {
            return Findings::default();
        }
        let included = include_paths(&text);
        let known: Vec<usize> =
            said.into_iter().filter(|number| self.knows(path, &included, *number)).collect();
        if known.is_empty() {
            return Findings::default();
        }
        let mut found = self.as_text(path, &text, &known);
        let meant = reader.unit_uses(ReadFile { path, text: &text, is_searched: true });
        let own = meant.into_iter().filter(|meant: &MeantUse| known.contains(&meant.subject));
        found.uses.extend(own.map(|meant| (meant.subject, meant.used)));
        found
    }

    /// Uses that show without types.
    fn as_text(&self, path: &str, text: &[u8], said: &[usize]) -> Findings {
        let mut findings = Findings::default();
        for number in said {
            let Some(used) = self.used.get(*number) else { continue };
            let found = find_uses(path, text, used);
            findings.uses.extend(found.uses.into_iter().map(|used| (*number, used)));
            let pending =
                |unresolved| PendingMacro { struct_index: *number, path: path.to_owned(), unresolved };
            findings.waiting.extend(found.unresolved.into_iter().map(pending));
        }
        findings
    }
}

/// Of the structs that a text says, those that it says where the build leaves it out.
fn said_outside(said: &[usize], path: &str, text: &[u8], search: &Search<'_>) -> Vec<usize> {
    if !search.view.has_read(path) {
        return said.to_vec();
    }
    let lines = Lines::new(text);
    let is_outside = |number: &&usize| {
        let Some(declared) = search.structs.get(**number) else { return false };
        let name = fieldline_layout::types::split_namespace(&declared.layout.name).1;
        memchr::memmem::find_iter(text, name.as_bytes())
            .any(|at| search.view.leaves_out(path, lines.number(at)))
    };
    said.iter().filter(is_outside).copied().collect()
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &[u8]) -> Self {
        Self(memchr::memchr_iter(b'\n', text).collect())
    }

    /// The number of the line that a place is in.
    fn number(&self, at: usize) -> u32 {
        self.0.partition_point(|end| *end < at) as u32 + 1
    }
}

/// Headers that say a name, and what includes what.
fn read_headers(
    tree: &Path,
    paths: &[&String],
    structs: &[DeclaredStruct<'_>],
    names: &Names,
) -> (Vec<Header>, Includes) {
    let read = fieldline_parallel::map(paths, |path| {
        let text = read(tree, path).bytes;
        let mut said = names.said(&text, |_| true);
        let own =
            (0..structs.len()).filter(|number| structs.get(*number).is_some_and(|own| own.header == **path));
        said.extend(own);
        let included = include_paths(&text);
        let header = (!said.is_empty()).then(|| Header { path: (*path).clone(), text, said });
        (header, included)
    });
    let named: Vec<(&str, &[String])> =
        paths.iter().zip(&read).map(|(path, (_, included))| (path.as_str(), included.as_slice())).collect();
    let includes = Includes::new(&named, structs);
    (read.into_iter().filter_map(|(header, _)| header).collect(), includes)
}

impl Includes {
    fn new(files: &[(&str, &[String])], structs: &[DeclaredStruct<'_>]) -> Self {
        let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in files.iter().map(|(path, _)| *path).chain(structs.iter().map(|declared| declared.header))
        {
            let known = by_name.entry(last(path).to_owned()).or_default();
            if !known.iter().any(|own| own == path) {
                known.push(path.to_owned());
            }
        }
        let mut includes = Self { by_name, knowing: Vec::new() };
        let mut from: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (path, included) in files {
            for target in included.iter().flat_map(|named| includes.files_of(named)) {
                from.entry(target.clone()).or_default().push(path);
            }
        }
        let mut known: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for declared in structs {
            known.entry(declared.header).or_insert_with(|| above(&from, declared.header));
        }
        includes.knowing =
            structs.iter().map(|declared| known.get(declared.header).cloned().unwrap_or_default()).collect();
        includes
    }

    /// Files that an `#include` may mean.
    fn files_of(&self, named: &str) -> impl Iterator<Item = &String> {
        let end = named.trim_start_matches("../").trim_start_matches("./").to_owned();
        let same = self.by_name.get(last(named)).into_iter().flatten();
        same.filter(move |path| {
            path.strip_suffix(end.as_str()).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        })
    }

    /// Whether a file includes a struct's header.
    fn leads_to(&self, path: &str, included: &[String], number: usize) -> bool {
        let Some(knowing) = self.knowing.get(number) else { return false };
        knowing.contains(path)
            // An `#include` of a macro may be of anything.
            || included.iter().any(|named| named.is_empty() || self.files_of(named).any(|file| knowing.contains(file)))
    }
}

/// A file and all that include it.
fn above(from: &BTreeMap<String, Vec<&str>>, header: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([header.to_owned()]);
    let mut waiting = vec![header.to_owned()];
    while let Some(path) = waiting.pop() {
        for next in from.get(&path).into_iter().flatten() {
            if found.insert((*next).to_owned()) {
                waiting.push((*next).to_owned());
            }
        }
    }
    found
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
