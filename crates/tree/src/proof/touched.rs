//! Structs whose declarations a patch changes, by the texts before and after.

use super::applied::current_text;
use super::overlay::Patch;
use anyhow::Result;
use fieldline_source::{SourceText, StructDefinition};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Ends of names of files that declare structs of C.
const ENDS: &[&str] = &[".h", ".c"];

/// A struct whose declaration a patch changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedStruct {
    /// Its tag, or its typedef's name.
    pub name: String,
    /// `struct` or `union`.
    pub kind: String,
    /// The file and 0-based lines of its declaration before; `None` if it is new.
    pub before: Option<(String, Range<usize>)>,
    /// The file and 0-based lines after; `None` if it goes.
    pub after: Option<(String, Range<usize>)>,
}

impl TouchedStruct {
    /// The file that declares it: the one after, if it stays.
    pub fn file(&self) -> &str {
        self.after.as_ref().or(self.before.as_ref()).map_or("", |(file, _)| file)
    }
}

/// The structs that differ in some files between two states of a tree, by file and line. A struct that went from one
/// file to another is one.
pub fn find_touched(
    tree: &Path,
    before: &Patch,
    after: &Patch,
    files: &[String],
) -> Result<Vec<TouchedStruct>> {
    let mut found: Vec<TouchedStruct> = Vec::new();
    for file in files.iter().filter(|file| ENDS.iter().any(|end| file.ends_with(end))) {
        let old = current_text(tree, before, file)?.unwrap_or_default();
        // What the patch removes is gone, though the tree still has it.
        let new = after.get(file).cloned().unwrap_or_default();
        for touched in compare(file, &old, &new) {
            match found.iter_mut().find(|known| known.name == touched.name) {
                Some(known) => {
                    known.before = known.before.take().or(touched.before);
                    known.after = known.after.take().or(touched.after);
                }
                None => found.push(touched),
            }
        }
    }
    Ok(found)
}

/// A definition in a file.
struct DefinitionText {
    text: Vec<u8>,
    lines: Range<usize>,
    kind: &'static str,
}

fn compare(file: &str, old: &[u8], new: &[u8]) -> Vec<TouchedStruct> {
    let (old, new) = (by_name(old), by_name(new));
    let mut touched = Vec::new();
    for (name, now) in &new {
        let was = old.get(name).map(Vec::as_slice).unwrap_or_default();
        // Of several definitions, for several configurations, the first that differs is named.
        let differs = |index: &usize| {
            was.get(*index).map(|found| &found.text) != now.get(*index).map(|found| &found.text)
        };
        let count = was.len().max(now.len());
        let Some(index) = (0..count).find(differs) else { continue };
        let place = |texts: &[DefinitionText]| {
            texts.get(index).or(texts.first()).map(|found| (file.to_owned(), found.lines.clone()))
        };
        let kind = now.get(index).or(now.first()).map_or_else(String::new, |found| found.kind.to_owned());
        touched.push(TouchedStruct { name: name.clone(), kind, before: place(was), after: place(now) });
    }
    for (name, was) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
        let Some(first) = was.first() else { continue };
        let before = Some((file.to_owned(), first.lines.clone()));
        touched.push(TouchedStruct { name: name.clone(), kind: first.kind.to_owned(), before, after: None });
    }
    touched.sort_by_key(|entry| {
        entry.after.as_ref().or(entry.before.as_ref()).map_or(0, |(_, lines)| lines.start)
    });
    touched
}

fn by_name(text: &[u8]) -> BTreeMap<String, Vec<DefinitionText>> {
    let source = SourceText::new(text);
    let mut found: BTreeMap<String, Vec<DefinitionText>> = BTreeMap::new();
    for definition in source.definitions() {
        let name =
            |definition: &StructDefinition| definition.tag.clone().or(definition.typedefs.first().cloned());
        let Some(name) = name(&definition) else { continue };
        let range = definition.range(&source);
        let lines = line_of(&source, range.start)..line_of(&source, range.end.saturating_sub(1)) + 1;
        let kind = if definition.is_union { "union" } else { "struct" };
        found.entry(name).or_default().push(DefinitionText {
            text: source.slice(range).to_vec(),
            lines,
            kind,
        });
    }
    found
}

fn line_of(source: &SourceText<'_>, offset: usize) -> usize {
    source.lines().number(offset).saturating_sub(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(old: &str, new: &str) -> Vec<(String, bool, bool)> {
        let found = compare("x.h", old.as_bytes(), new.as_bytes());
        found.into_iter().map(|entry| (entry.name, entry.before.is_some(), entry.after.is_some())).collect()
    }

    #[test]
    fn what_differs_between_the_braces_or_behind_is_touched() {
        let old = "struct a {\n\tint x;\n};\n\nint f(void)\n{\n\treturn 1;\n}\nstruct b {\n\tint y;\n};\n";
        assert_eq!(names(old, old), []);
        assert_eq!(names(old, &old.replace("return 1", "return 2")), []);
        assert_eq!(names(old, &format!("/* longer */\n{old}")), []);
        assert_eq!(names(old, &old.replace("int y", "long y")), [("b".to_owned(), true, true)]);
        let aligned = old.replacen("};", "} __aligned(64);", 1);
        assert_eq!(names(old, &aligned), [("a".to_owned(), true, true)]);
        let renamed = old.replace("struct b", "struct c");
        assert_eq!(names(old, &renamed), [("c".to_owned(), false, true), ("b".to_owned(), true, false)]);
        let typed = "typedef struct {\n\tint y;\n} t;\n";
        assert_eq!(names(typed, &typed.replace("int", "long")), [("t".to_owned(), true, true)]);
    }

    #[test]
    fn of_definitions_for_several_configurations_any_counts() {
        let old = "#ifdef A\nstruct a {\n\tint x;\n};\n#else\nstruct a {\n};\n#endif\n";
        let found = compare(
            "x.h",
            old.as_bytes(),
            old.replace("struct a {\n};", "struct a {\n\tint y;\n};").as_bytes(),
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].after, Some(("x.h".to_owned(), 5..8)));
    }

    #[test]
    fn a_struct_that_goes_elsewhere_is_one() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("a.h"), "struct a {\n\tint x;\n};\n").unwrap();
        let after = Patch::from([
            ("a.h".to_owned(), Vec::new()),
            ("b.h".to_owned(), b"\nstruct a {\n\tint x;\n};\n".to_vec()),
        ]);
        let files = ["a.h".to_owned(), "b.h".to_owned()];
        let found = find_touched(tree.path(), &Patch::new(), &after, &files).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].before, Some(("a.h".to_owned(), 0..3)));
        assert_eq!(found[0].file(), "b.h");
    }
}
