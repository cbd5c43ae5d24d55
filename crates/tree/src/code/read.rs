//! Units read on all threads.

use super::assembler::assembled;
use super::cache::{Asked, Cache, Contents};
use super::choice::{Choice, choose};
use super::definitions::defining;
use super::lines::ReadLines;
use super::shared_headers::{SharedHeaders, UnitPart};
use super::texts::Texts;
use crate::proof::designated::{DesignatedTree, PositionalValue};
use crate::uses::names;
use anyhow::{Context, Result};
use fieldline_frontend::{
    CodeUse, Demand, Demands, Frontend, MappedUses, SourceUnit, Subject, UnitFlows, UnitUses, demands,
    mapped, units,
};
use fieldline_layout::Layout;
use fieldline_layout::types::split_namespace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Units that are read before what they say is kept.
const KEPT_AT_ONCE: usize = 64;

/// Most times that units are added because addresses go to functions they define.
const MOST_ROUNDS: usize = 4;

/// The units of a build and the front end that reads them.
#[derive(Debug)]
pub struct CodeReader {
    pub(super) tree: PathBuf,
    pub(super) build: PathBuf,
    pub(super) frontend: Frontend,
    pub(super) units: Vec<SourceUnit>,
    cache: Option<Cache>,
    imported: BTreeSet<String>,
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Units read.
    pub done: usize,
    /// Units to read.
    pub count: usize,
    /// Time that the others will take, at the pace so far.
    pub left: Duration,
}

/// Findings in code about a struct.
#[derive(Clone, Debug, Default)]
pub struct StructCode {
    /// Uses that depend on the order of members, as units show them.
    pub(super) uses: Vec<CodeUse>,
    /// Those that addresses lead to, over all units.
    pub(super) followed: Vec<CodeUse>,
    /// Units that were read because they may see the struct.
    pub(super) units: usize,
    /// Units that may see the struct and could not be read, a sentence each.
    pub(super) unknown: Vec<String>,
    /// Lines that were read, the same for all structs.
    lines: Arc<ReadLines>,
    pub(super) tree: PathBuf,
}

impl CodeReader {
    /// Loads the front end and lists the units of a build. Results are kept in a folder, if one is given.
    pub fn open(tree: &Path, build: &Path, cache: Option<PathBuf>) -> Result<Self> {
        let real = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
        let (tree, build) = (real(tree)?, real(build)?);
        // A folder without a build is refused with or without a front end.
        let units = units(&build)?;
        let frontend = Frontend::load()?;
        let cache = cache.map(|folder| Cache::new(folder, frontend.version()));
        Ok(Self { tree, build, frontend, units, cache, imported: BTreeSet::new() })
    }

    /// Files of the tree that the build compiles or includes, so far as it says so, by their paths from its top.
    pub(crate) fn compiled(&self) -> BTreeSet<String> {
        let files = self.units.iter().flat_map(|unit| std::iter::once(&unit.file).chain(&unit.reads));
        let inside = files.filter_map(|file| Some(file.strip_prefix(&self.tree).ok()?.to_str()?.to_owned()));
        inside.collect()
    }

    /// Functions that the program takes from shared libraries: what they do with a struct is built elsewhere.
    pub fn importing(self, imported: BTreeSet<String>) -> Self {
        Self { imported, ..self }
    }

    /// Reads the units that may see the structs, each given with the file that declares it, from the top of the tree.
    /// `is_thorough`: also finds what else depends on the order of structs none of whose members may move.
    pub fn read(
        &self,
        structs: &[(&Layout, &str)],
        is_thorough: bool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<StructCode>> {
        let subjects: Vec<Subject> = structs.iter().map(|(layout, header)| subject(layout, header)).collect();
        let tags: Vec<String> =
            structs.iter().map(|(layout, _)| split_namespace(&layout.name).1.to_owned()).collect();
        let texts = Texts::read(&[&self.tree, &self.build], &self.units)?;
        let choice = choose(&texts, &self.units, &tags);
        let mut found = vec![StructCode { tree: self.tree.clone(), ..StructCode::default() }; structs.len()];
        let (mut flows, mut lines): (Vec<UnitFlows>, ReadLines) = (Vec::new(), ReadLines::default());
        let mut chosen = choice.units.clone();
        let mut next: Vec<usize> = chosen.keys().copied().collect();
        let (mut demanded, mut shared) = (Demands::default(), SharedHeaders::default());
        for _ in 0..MOST_ROUNDS {
            let parts = shared.divide(next.iter().filter_map(|number| self.units.get(*number)));
            let read = self.read_units(&parts, &choice, (structs, &subjects), progress);
            for ((number, part), result) in next.iter().zip(&parts).zip(read) {
                let seen = chosen.get(number).cloned().unwrap_or_default();
                let unknown = unread_part(part.unit, &result, &self.tree);
                let hidden =
                    if unknown.is_some() { part.seen_alone(&choice.headers) } else { BTreeSet::new() };
                for number in hidden.difference(&seen) {
                    let code = found.get_mut(*number);
                    code.into_iter().for_each(|code| code.unknown.extend(unknown.clone()));
                }
                flows.extend(add_unit(&mut found, &mut lines, unknown.as_ref(), &seen, result));
            }
            let held = if is_thorough { BTreeSet::new() } else { held(&found) };
            demanded = demands(&flows.iter().collect::<Vec<_>>(), &held);
            next = defining(&texts, &self.units, &demanded, &chosen);
            chosen.extend(next.iter().map(|number| (*number, BTreeSet::new())));
            if next.is_empty() {
                break;
            }
        }
        self.add_mapped(
            &mut demanded,
            &flows,
            (&texts, &choice, &mut chosen),
            (structs, &subjects),
            progress,
        );
        add_demanded(&mut found, &demanded);
        add_assembled(&mut found, assembled(&demanded, &texts));
        add_imported(&mut found, &demanded, &self.imported);
        let lines = Arc::new(lines);
        for code in &mut found {
            code.lines = Arc::clone(&lines);
            for uses in [&mut code.uses, &mut code.followed] {
                uses.sort();
                uses.dedup();
            }
        }
        Ok(found)
    }

    /// Adds structs that lie in memory which functions of units that name none of them map. These units are asked for
    /// nothing else: what an allocator does with its memory says nothing of the objects in it.
    fn add_mapped(
        &self,
        demanded: &mut Demands,
        flows: &[UnitFlows],
        (texts, choice, chosen): (&Texts, &Choice, &mut BTreeMap<usize, BTreeSet<usize>>),
        asked: (&[(&Layout, &str)], &[Subject]),
        progress: &(dyn Fn(Progress) + Sync),
    ) {
        let mut others: Vec<UnitFlows> = Vec::new();
        let mut shared = SharedHeaders::default();
        for _ in 0..MOST_ROUNDS {
            let all: Vec<&UnitFlows> = flows.iter().chain(&others).collect();
            let MappedUses { uses, sources } = mapped(&all);
            demanded.uses.extend(uses);
            let wanted = Demands { unread: sources, ..Demands::default() };
            let next = defining(texts, &self.units, &wanted, chosen);
            if next.is_empty() {
                break;
            }
            chosen.extend(next.iter().map(|number| (*number, BTreeSet::new())));
            let parts = shared.divide(next.iter().filter_map(|number| self.units.get(*number)));
            let read = self.read_units(&parts, choice, asked, progress);
            others.extend(read.into_iter().flatten().map(|uses| uses.flows));
        }
        demanded.uses.sort_unstable();
        demanded.uses.dedup();
    }

    /// The results of the chosen units, in their order.
    fn read_units(
        &self,
        units: &[UnitPart<'_>],
        choice: &Choice,
        (structs, subjects): (&[(&Layout, &str)], &[Subject]),
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Vec<Result<UnitUses, fieldline_frontend::Error>> {
        let (mut contents, asked) = (Contents::default(), Asked::new(subjects));
        let kept = fieldline_parallel::map(units, |part| self.cache.as_ref()?.find(part, asked));
        contents.read(kept.iter().flatten().flat_map(|entry| entry.files().to_vec()));
        let kept: Vec<Option<UnitUses>> =
            kept.into_iter().map(|entry| entry.and_then(|entry| entry.uses(&contents))).collect();
        let missing: Vec<&UnitPart<'_>> =
            units.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(part, _)| part).collect();
        let sources: Vec<&SourceUnit> = missing.iter().map(|part| part.unit).collect();
        let designated = DesignatedTree::new(&self.tree, &self.build, structs, &sources);
        let (done, begun) = (AtomicUsize::new(0), Instant::now());
        let read_unit = |part: &&UnitPart<'_>| {
            let unit = part.unit;
            let mut result = self.frontend.uses(unit, subjects, &part.read_elsewhere);
            if let Ok(uses) = &mut result {
                // Where no list makes an object of the structs, no value has a position.
                let may_report = uses.has_lists || !uses.errors.is_empty();
                let designated = designated.as_ref().filter(|_| may_report);
                let values = designated.map(|tree| tree.find(unit)).unwrap_or_default();
                add_positional(uses, subjects, &values);
                uses.skipped
                    .retain(|lines| choice.headers.contains_key(&lines.file) || lines.file == unit.file);
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            let left = begun.elapsed() / done as u32 * (missing.len() - done) as u32;
            progress(Progress { done, count: missing.len(), left });
            result
        };
        let mut read = Vec::with_capacity(missing.len());
        // What is kept now isn't lost if the run is ended.
        for parts in missing.chunks(KEPT_AT_ONCE) {
            let results = fieldline_parallel::map(parts, read_unit);
            self.keep(asked, parts, &results, &mut contents);
            read.extend(results);
        }
        let mut read = read.into_iter();
        let all = kept.into_iter().map(|kept| kept.map(Ok).or_else(|| read.next()));
        all.flatten().collect()
    }
}

impl CodeReader {
    /// Keeps what was found in units.
    fn keep(
        &self,
        asked: Asked,
        parts: &[&UnitPart<'_>],
        results: &[Result<UnitUses, fieldline_frontend::Error>],
        contents: &mut Contents,
    ) {
        let Some(cache) = &self.cache else { return };
        contents.read(results.iter().flatten().flat_map(|uses| uses.files.clone()));
        for (part, uses) in
            parts.iter().zip(results).filter_map(|(part, result)| Some((part, result.as_ref().ok()?)))
        {
            // Where headers are missing, they may be installed before the next run.
            if uses.errors.is_empty() {
                cache.keep(part, asked, uses, contents);
            }
        }
    }
}

pub(super) fn subject(layout: &Layout, header: &str) -> Subject {
    let members = layout
        .members
        .iter()
        .map(|member| names(std::slice::from_ref(member)).into_iter().map(str::to_owned).collect());
    Subject {
        name: layout.name.clone(),
        file: Some(PathBuf::from(header)),
        line: layout.line,
        members: members.collect(),
    }
}

/// Adds initialisers that the build's own compiler finds and the front end does not.
fn add_positional(uses: &mut UnitUses, subjects: &[Subject], values: &[PositionalValue]) {
    for value in values.iter().filter(|value| !value.is_zero()) {
        let Some((file, line)) = value.places.first() else { continue };
        let of_name = subjects.iter().enumerate().filter(|(_, subject)| {
            let name = split_namespace(&subject.name).1;
            name == value.name || value.name.starts_with('<')
        });
        for (subject, _) in of_name {
            let is_at = |used: &CodeUse| {
                let written = used.macro_definition.iter().map(|place| (&place.file, place.line));
                let mut own = written.chain([(&used.file, used.line)]);
                used.subject == subject
                    && own.any(|own| value.places.iter().any(|(file, line)| own == (file, *line)))
            };
            if !uses.uses.iter().any(is_at) {
                let (file, line) = (file.clone(), *line);
                let why = "is initialised by position, as GCC reports".to_owned();
                uses.uses.push(CodeUse {
                    subject,
                    file,
                    line,
                    macro_definition: None,
                    demand: Demand::Whole,
                    why,
                });
            }
        }
    }
}

/// Why a unit, or a part of it, is unknown.
fn unread_part(
    unit: &SourceUnit,
    result: &Result<UnitUses, fieldline_frontend::Error>,
    tree: &Path,
) -> Option<String> {
    let name = |path: &Path| path.strip_prefix(tree).unwrap_or(path).display().to_string();
    match result {
        Ok(uses) => {
            let error = uses.errors.first()?;
            let place = format!("{}:{}", name(&error.file), error.line);
            Some(format!("{} can't be read: {} ({place})", name(&unit.file), error.message))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Structs none of whose members may move, by what units show and hide.
fn held(found: &[StructCode]) -> BTreeSet<usize> {
    let is_held =
        |code: &StructCode| !code.unknown.is_empty() || code.uses.iter().any(|used| used.demand.is_whole());
    found.iter().enumerate().filter(|(_, code)| is_held(code)).map(|(number, _)| number).collect()
}

/// Adds what a unit says to the structs that it may see; gives where addresses go in it.
fn add_unit(
    found: &mut [StructCode],
    lines: &mut ReadLines,
    unknown: Option<&String>,
    seen: &BTreeSet<usize>,
    result: Result<UnitUses, fieldline_frontend::Error>,
) -> Option<UnitFlows> {
    for index in seen {
        if let Some(code) = found.get_mut(*index) {
            code.units += 1;
            code.unknown.extend(unknown.cloned());
        }
    }
    let uses = result.ok()?;
    add_uses(found, &uses);
    lines.add(&uses);
    Some(uses.flows)
}

/// Adds what addresses ask of structs.
fn add_demanded(found: &mut [StructCode], demanded: &Demands) {
    for used in &demanded.uses {
        if let Some(code) = found.get_mut(used.subject) {
            code.followed.push(CodeUse { subject: 0, ..used.clone() });
        }
    }
}

/// Adds what assembler knows of structs. Assembler that is given the offsets by name goes by those.
fn add_assembled(found: &mut [StructCode], uses: Vec<CodeUse>) {
    for used in uses {
        let Some(code) = found.get_mut(used.subject) else { continue };
        if !code.uses.iter().any(|own| matches!(own.demand, Demand::Assembler { .. })) {
            code.followed.push(CodeUse { subject: 0, ..used });
        }
    }
}

/// Adds a unit's uses to the structs they are of.
fn add_uses(found: &mut [StructCode], uses: &UnitUses) {
    for used in &uses.uses {
        if let Some(code) = found.get_mut(used.subject) {
            code.uses.push(CodeUse { subject: 0, ..used.clone() });
        }
    }
}

impl StructCode {
    /// Whether the front end has read a line: a file from the top of the tree, and no condition left the line out.
    pub(crate) fn has_read(&self, path: &str, line: u32) -> bool {
        self.lines.has(&self.tree.join(path), line)
    }

    /// Whether conditions left lines out each time that a file was read; none if it wasn't.
    pub(crate) fn leaves_out(&self, path: &str) -> Option<bool> {
        self.lines.are_left_out(&self.tree.join(path))
    }
}

/// Adds structs whose objects are handed to functions of shared libraries as what they are. A library that this build
/// makes is compiled with the new order.
fn add_imported(found: &mut [StructCode], demanded: &Demands, imported: &BTreeSet<String>) {
    let is_foreign = |function: &String| imported.contains(function) && !demanded.defined.contains(function);
    for (function, uses) in demanded.given.iter().filter(|(function, _)| is_foreign(function)) {
        for used in uses {
            let Some(code) = found.get_mut(used.subject) else { continue };
            let why = format!("its address is handed to {function}, which a shared library has");
            code.followed.push(CodeUse { subject: 0, why, ..used.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::constraint::{PlacementRequests, constraints};
    use fieldline_layout::testing::{layout, member};

    /// A tree with a build of all its C files, and what its code says of `struct item { long a, b, c, d; }`.
    fn read(files: &[(&str, &str)], cache: Option<PathBuf>) -> Option<StructCode> {
        read_importing(files, cache, &[])
    }

    /// The same of a program that takes functions from shared libraries.
    fn read_importing(
        files: &[(&str, &str)],
        cache: Option<PathBuf>,
        imported: &[&str],
    ) -> Option<StructCode> {
        let has_frontend = Frontend::load().is_ok();
        fieldline_testing::is_available("libclang (libclang1-19, libclang-common-19-dev)", has_frontend)
            .then_some(())?;
        let folder = tempfile::tempdir().unwrap();
        let mut commands = Vec::new();
        for (path, text) in files {
            std::fs::write(folder.path().join(path), text).unwrap();
            let command = serde_json::json!({"directory": folder.path(), "file": path, "arguments": ["gcc", "-c", path]});
            commands.extend(path.ends_with(".c").then_some(command));
        }
        let database = serde_json::to_vec(&commands).unwrap();
        std::fs::write(folder.path().join("compile_commands.json"), database).unwrap();
        let reader = CodeReader::open(folder.path(), folder.path(), cache).unwrap();
        let reader = reader.importing(imported.iter().map(|name| (*name).to_owned()).collect());
        let layout = item();
        Some(reader.read(&[(&layout, "item.h")], false, &|_| {}).unwrap().remove(0))
    }

    fn item() -> Layout {
        let members = ["a", "b", "c", "d"].into_iter().zip([0, 8, 16, 24]);
        let mut item = layout("item", 32, members.map(|(name, offset)| member(name, offset, 8, 8)).collect());
        (item.file, item.line) = (Some("item.h".to_owned()), Some(1));
        item
    }

    #[test]
    fn functions_of_shared_libraries_hold_what_they_are_handed() {
        let unit = "#include \"item.h\"\nvoid show(struct item *); void f(struct item *p) { show(p); }\n";
        let files = [("item.h", ITEM), ("a.c", unit)];
        for (imported, count) in [(&["show"][..], 1), (&["hide"][..], 0)] {
            let Some(code) = read_importing(&files, None, imported) else { return };
            let whole = code.followed.iter().filter(|used| used.demand == Demand::Whole);
            assert_eq!(whole.count(), count, "{:?}", code.followed);
        }
    }

    #[test]
    fn libraries_of_the_same_build_hold_nothing() {
        let unit = "#include \"item.h\"\nvoid show(struct item *); void f(struct item *p) { show(p); }\n";
        let library = "#include \"item.h\"\nint seen; void show(struct item *p) { seen = p->c; }\n";
        let files = [("item.h", ITEM), ("a.c", unit), ("library.c", library)];
        let Some(code) = read_importing(&files, None, &["show"]) else { return };
        assert!(code.followed.is_empty() && code.uses.is_empty(), "{:?}", code.followed);
    }

    const ITEM: &str = "struct item { long a; long b; long c; long d; };\n";

    #[test]
    fn demands_become_constraints_with_their_places() {
        let use_c = "#include \"item.h\"\nstruct item one = { 1, 2 };\nvoid f(struct item *p);\n";
        let Some(code) = read(&[("item.h", ITEM), ("use.c", use_c), ("other.c", "int x;\n")], None) else {
            return;
        };
        assert_eq!(code.units(), 1);
        assert!(code.has_read("use.c", 2) && !code.has_read("other.c", 1));
        let (mut requests, item) = (PlacementRequests::default(), item());
        let limits = code.add_to(&mut requests, &item);
        assert_eq!(limits, crate::code::demands::CodeLimits::default());
        let found = constraints(&item, &requests).unwrap();
        let held: Vec<_> = found.units.iter().map(|unit| unit.constraint.is_some()).collect();
        assert_eq!(held, [true, true, false, false]);
        let reason = &found.units[0].constraint.as_ref().unwrap().reason;
        assert!(reason.ends_with("(use.c:2)"), "{reason}");
    }

    #[test]
    fn a_unit_that_cannot_be_read_holds_all() {
        let broken = "#include \"item.h\"\n#include \"missing.h\"\nstruct item one;\n";
        let Some(code) = read(&[("item.h", ITEM), ("use.c", broken)], None) else { return };
        let limits = code.add_to(&mut PlacementRequests::default(), &item());
        assert_eq!(limits.whole, ["use.c can't be read: 'missing.h' file not found (use.c:2)"]);
    }

    #[test]
    fn lines_that_the_build_leaves_out_are_not_read() {
        let use_c = "#include \"item.h\"\n#ifdef NEVER\nstruct item one = { 1 };\n#endif\nstruct item two;\n";
        let Some(code) = read(&[("item.h", ITEM), ("use.c", use_c)], None) else { return };
        assert!(!code.has_read("use.c", 3) && code.has_read("use.c", 5) && code.has_read("item.h", 1));
        assert!(code.uses.is_empty(), "{:?}", code.uses);
    }

    #[test]
    fn results_are_the_same_when_kept() {
        let cache = tempfile::tempdir().unwrap();
        let use_c = "#include \"item.h\"\nstruct item one = { 1, 2 };\n";
        let files = [("item.h", ITEM), ("use.c", use_c)];
        let Some(first) = read(&files, Some(cache.path().to_owned())) else { return };
        let kept = std::fs::read_dir(cache.path()).unwrap().count();
        assert_eq!((!first.uses.is_empty(), kept), (true, 1));
    }

    #[test]
    fn what_gcc_alone_finds_holds_all() {
        let value = |value: &str| PositionalValue {
            name: "item".to_owned(),
            places: vec![("/a.c".into(), 3)],
            value: value.to_owned(),
        };
        let subjects = [Subject { name: "item".to_owned(), ..Subject::default() }];
        let mut uses = UnitUses::default();
        add_positional(&mut uses, &subjects, &[value("0")]);
        assert!(uses.uses.is_empty());
        add_positional(&mut uses, &subjects, &[value("1"), value("2")]);
        assert_eq!(uses.uses.len(), 1);
        assert_eq!(uses.uses[0].demand, Demand::Whole);
    }
}
