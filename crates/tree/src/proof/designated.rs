//! Initialisers by position, as GCC finds them: with `__attribute__((designated_init))` at a struct's definition it
//! reports every value without a member's name (GCC manual, Common Type Attributes), typedefs and macros followed.

use super::arguments::CompileSite;
use super::compile::command;
use super::overlay::{Overlay, Patch, temporary_folder};
use crate::header::{self, Declaration};
use fieldline_frontend::{SourceUnit, absolute};
use fieldline_layout::Layout;
use fieldline_source::{DefinitionQuery, Edits, SourceText};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How GCC's message goes on behind the place. It is in English where LC_ALL is C.
const MESSAGE: &str = "positional initialization of field in '";
const EXPANSION: &str = "note: in expansion of macro";

/// The tree with the attribute at some structs.
#[derive(Debug)]
pub(crate) struct DesignatedTree {
    overlay: Overlay,
    tree: PathBuf,
    build: PathBuf,
}

/// A value without a member's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PositionalValue {
    /// The struct as GCC names it, without `struct`.
    pub(crate) name: String,
    /// Where it is written, then the macros it comes through; files as the unit knows them.
    pub(crate) places: Vec<(PathBuf, u32)>,
    /// The text there.
    pub(crate) value: String,
}

impl DesignatedTree {
    /// A tree for the structs whose definitions can be marked, each with its file from the top of the tree. `None` if
    /// there is none, or no unit that GCC compiles. Both folders are real paths.
    pub(crate) fn new(
        tree: &Path,
        build: &Path,
        structs: &[(&Layout, &str)],
        units: &[&SourceUnit],
    ) -> Option<Self> {
        let units: Vec<&SourceUnit> = units.iter().copied().filter(|unit| is_of_gcc(unit)).collect();
        if units.is_empty() {
            return None;
        }
        let mut patch = Patch::new();
        for (layout, _) in structs {
            let declaration = Declaration::from(*layout);
            let Ok(header) = header::open(tree, &declaration) else { continue };
            let text = patch.remove(&header.path).unwrap_or(header.text);
            let marked = mark(&text, &declaration).unwrap_or(text);
            patch.insert(header.path, marked);
        }
        let sources = units.iter().filter_map(|unit| unit.file.strip_prefix(tree).ok());
        let sources: BTreeSet<PathBuf> = sources.map(Path::to_owned).collect();
        let overlay = (!patch.is_empty()).then(|| Overlay::new(tree, &patch, &sources).ok())??;
        Some(Self { overlay, tree: tree.to_owned(), build: build.to_owned() })
    }

    /// GCC's reports on a unit; nothing if another compiler built it or it can't be compiled.
    pub(crate) fn find(&self, unit: &SourceUnit) -> Vec<PositionalValue> {
        if !is_of_gcc(unit) {
            return Vec::new();
        }
        let Ok(scratch) = temporary_folder("fieldline-unit-") else { return Vec::new() };
        let site = CompileSite { tree: &self.tree, build: &self.build, overlay: Some(self.overlay.path()) };
        // `-w` would hide the messages.
        let arguments = unit.arguments.iter().filter(|word| *word != "-w").cloned().collect();
        let unit = &SourceUnit { arguments, ..unit.clone() };
        let Some((_, mut command)) = command(unit, site, scratch.path()) else { return Vec::new() };
        command.args(["-fsyntax-only", "-Wno-error", "-Werror=designated-init", "-fmax-errors=0"]);
        command.args(["-fno-diagnostics-show-caret", "-fdiagnostics-color=never"]);
        let Ok(output) = command.output() else { return Vec::new() };
        let messages = String::from_utf8_lossy(&output.stderr);
        parse(&messages, |name| self.original(&absolute(&unit.directory, Path::new(name))))
    }

    /// A file of the tree in place of the overlay's.
    fn original(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.overlay.path()).map_or_else(|_| path.to_owned(), |inner| self.tree.join(inner))
    }
}

/// The text with the attribute behind the struct's body.
fn mark(text: &[u8], declaration: &Declaration) -> Option<Vec<u8>> {
    let source = SourceText::new(text);
    let query = DefinitionQuery::for_name(&declaration.name).with_line(declaration.line);
    let definition = source.find(&query).ok()?;
    let mut edits = Edits::default();
    edits.insert(definition.attribute(&source, " __attribute__((designated_init))")).ok()?;
    Some(edits.apply(text))
}

/// Whether GCC compiles the unit as C: g++ doesn't know the attribute.
fn is_of_gcc(unit: &SourceUnit) -> bool {
    let program = unit.arguments.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    let is_c = unit.file.extension().is_some_and(|end| end == "c");
    is_c && !program.contains("clang") && !program.contains("++")
}

fn parse(messages: &str, original: impl Fn(&str) -> PathBuf) -> Vec<PositionalValue> {
    let mut found: Vec<PositionalValue> = Vec::new();
    let mut is_open = false;
    for line in messages.lines() {
        let Some((place, column, rest)) = split_place(line) else { continue };
        let place = (original(place.0), place.1);
        if let Some((_, named)) = rest.split_once(MESSAGE) {
            let name = named.split('\'').next().unwrap_or_default();
            let name = name.split(" {aka").next().unwrap_or(name).trim_start_matches("struct ").to_owned();
            let value = value_at(&place.0, place.1, column);
            found.push(PositionalValue { name, places: vec![place], value });
            is_open = true;
        } else if rest.contains(EXPANSION) {
            found
                .last_mut()
                .filter(|_| is_open)
                .into_iter()
                .for_each(|value| value.places.push(place.clone()));
        } else {
            is_open &= rest.trim_start().starts_with("note:");
        }
    }
    found
}

/// `FILE:LINE:COLUMN: rest`.
fn split_place(line: &str) -> Option<((&str, u32), usize, &str)> {
    let (place, rest) = line.split_once(": ")?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let number = parts.next()?.parse().ok()?;
    Some(((parts.next()?, number), column, rest))
}

/// The text from a column on up to a comma or a closing brace.
fn value_at(path: &Path, line: u32, column: usize) -> String {
    let text = fieldline_files::read(path).unwrap_or_default();
    let line = text.split(|byte| *byte == b'\n').nth(line.saturating_sub(1) as usize).unwrap_or_default();
    let rest = line.get(column.saturating_sub(1)..).unwrap_or_default();
    let end = rest.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(rest.len());
    String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).trim().to_owned()
}

impl PositionalValue {
    /// Whether it may be the `0` of `{0}`, which clears a whole object.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(
            self.value.trim_start_matches(['{', ' ']),
            "0" | "NULL" | "0L" | "0U" | "'\\0'" | "false" | ""
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_places_and_macros() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        std::fs::write(&path, "struct s a = { 7, 8 };\nstruct s b = INIT;\n").unwrap();
        let name = path.display();
        let text = format!(
            "{name}: In function 'f':\n\
             {name}:1:16: error: positional initialization of field in 'struct s' declared with 'designated_init' attribute [-Werror=designated-init]\n\
             {name}:1:16: note: (near initialization for 'a')\n\
             b.h:4:16: error: positional initialization of field in 't' {{aka 'struct s'}} declared with\n\
             {name}:2:14: note: in expansion of macro 'INIT'\n\
             {name}:3:1: warning: other\n\
             {name}:9:14: note: in expansion of macro 'OTHER'\n"
        );
        let found = parse(&text, |name| PathBuf::from(name));
        let first =
            PositionalValue { name: "s".to_owned(), places: vec![(path.clone(), 1)], value: "7".to_owned() };
        assert_eq!(found[0], first);
        assert_eq!(found[1].places, [("b.h".into(), 4), (path, 2)]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn definitions_are_marked_behind_their_bodies() {
        let declaration =
            Declaration { name: "s".to_owned(), file: None, line: None, members: Vec::new(), inherited: 0 };
        let marked = mark(b"typedef struct { int a; } s, *p;\n", &declaration).unwrap();
        assert_eq!(marked, b"typedef struct { int a; } __attribute__((designated_init)) s, *p;\n");
    }
}
