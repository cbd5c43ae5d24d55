//! Code elsewhere in the tree that depends on the order of members: constraints and notes.

mod bases;
mod by_file;
mod kept_findings;
mod kept_words;
mod left_out;
mod macro_uses;
mod meant;
pub mod places;
mod sayings;
mod scope;
mod view;
mod words;

use anyhow::{Context, Result};
pub(crate) use by_file::{UsesByFile, first_declared, member_named, names, summarize_reasons};
pub(crate) use kept_words::{program, write_whole};
pub(crate) use scope::{DeclaredStruct, read_up_to};
pub(crate) use view::BuildView;

use fieldline_source::uses::{FileUses, UsedStruct, find_uses};
use kept_findings::KeptFindings;
use kept_words::{Stamp, WordsFile};
use macro_uses::PendingMacro;
use meant::{NameFinder, TreeFiles};
use scope::{Definition, LARGEST, Scope, is_other_code, is_possible, used_struct};
use std::path::Path;
use std::sync::Mutex;

/// Of trees with more files, words and findings are kept.
const MANY: usize = 4000;

/// Uses of structs in a tree; with a build, those alone that it leaves out. `kept`: a folder for what is kept of large
/// trees between runs.
pub(crate) fn find_in_tree(
    (tree, kept): (&Path, Option<&Path>),
    structs: &[DeclaredStruct<'_>],
    view: Option<&BuildView<'_>>,
) -> Result<Vec<UsesByFile>> {
    let mut stamped = files_below(tree, "").with_context(|| tree.display().to_string())?;
    stamped.sort_unstable_by(|this, other| this.0.cmp(&other.0));
    let kept = kept.filter(|_| stamped.len() > MANY);
    let before =
        kept.filter(|_| view.is_none()).map(|folder| KeptFindings::new((tree, folder), &stamped, structs));
    let known = before.as_ref().and_then(KeptFindings::find);
    let files: Vec<String> = stamped.into_iter().map(|(path, _)| path).collect();
    let is_known = known.is_some();
    let mut found = known.unwrap_or_else(|| match view {
        Some(view) => left_out::find(tree, &files, structs, view),
        None => find_anywhere((tree, kept), &files, structs),
    });
    found.iter_mut().for_each(UsesByFile::drop_repeated);
    if let Some(before) = before.filter(|_| !is_known) {
        before.keep(&found);
    }
    bases::add_uses(tree, &files, structs, &mut found, |bases| find_anywhere((tree, None), &files, bases));
    Ok(found)
}

/// Findings in a file, by struct.
struct FileFindings {
    /// Whether it says the tag of a struct, or can't be read.
    is_tagged: bool,
    uses: Vec<FileUses>,
    defined: Vec<Definition>,
}

impl FileFindings {
    fn none(structs: usize) -> Self {
        let (uses, defined) = (vec![FileUses::default(); structs], vec![Definition::default(); structs]);
        Self { is_tagged: false, uses, defined }
    }
}

/// The scopes of structs.
fn scopes(files: &[String], findings: &[FileFindings], structs: &[DeclaredStruct<'_>]) -> Vec<Scope> {
    let scope = |(number, declared): (usize, &DeclaredStruct<'_>)| {
        let defined = files.iter().zip(findings).filter_map(|(path, findings)| {
            let found = findings.defined.get(number).filter(|found| **found != Definition::default())?;
            Some((path.clone(), *found))
        });
        Scope::new(declared.header, &defined.collect::<Vec<_>>())
    };
    structs.iter().enumerate().map(scope).collect()
}

/// Uses in all files.
fn find_anywhere(
    (tree, kept): (&Path, Option<&Path>),
    files: &[String],
    structs: &[DeclaredStruct<'_>],
) -> Vec<UsesByFile> {
    let subjects: Vec<UsedStruct> = structs.iter().map(|declared| used_struct(declared.layout)).collect();
    let tags = NameFinder::for_tags(structs);
    let words_file = kept.map(|folder| WordsFile::open(folder, tree));
    let words = words_file.as_ref().map(WordsFile::words).unwrap_or_default();
    let learned = Mutex::new(Vec::new());
    let by_file = fieldline_parallel::map(files, |path| {
        let stamp = words_file.as_ref().and_then(|_| Stamp::read(&tree.join(path)));
        if words.lacks(path, stamp, tags.wanted()) {
            return FileFindings::none(structs.len());
        }
        // A file that vanishes or can't be read says nothing; the header itself was read before.
        let text = read_up_to(&tree.join(path), LARGEST).unwrap_or_default();
        if let Some(stamp) = stamp.filter(|_| !words.knows(path, stamp))
            && let Ok(mut learned) = learned.lock()
        {
            learned.push((path, stamp, kept_words::filter(text.clone())));
        }
        let is_tagged = text.is_empty() || tags.is_in(&text);
        let wanted = structs.iter().zip(&subjects).map(|(declared, subject)| {
            let may_know = is_tagged && is_possible(path, declared.header);
            if may_know { find_uses(path, &text, subject) } else { FileUses::default() }
        });
        let defined = structs.iter().map(|declared| match is_tagged {
            true => Definition::find(&text, &meant::subject(declared).name),
            false => Definition::default(),
        });
        FileFindings { is_tagged, uses: wanted.collect(), defined: defined.collect() }
    });
    let scopes = scopes(files, &by_file, structs);
    let said = files.iter().zip(&by_file).filter(|(_, findings)| findings.is_tagged);
    let tagged: Vec<String> = said.map(|(path, _)| path.clone()).collect();
    let mut found = vec![UsesByFile::default(); structs.len()];
    let mut waiting = Vec::new();
    for (path, findings) in files.iter().zip(by_file) {
        let by_struct = found.iter_mut().zip(findings.uses).zip(&scopes).enumerate();
        for (struct_index, ((struct_uses, findings), _)) in
            by_struct.filter(|(_, (_, scope))| scope.knows(path))
        {
            struct_uses.0.extend(findings.uses.into_iter().map(|used| (path.clone(), used)));
            let pending = |unresolved| PendingMacro { struct_index, path: path.clone(), unresolved };
            waiting.extend(findings.unresolved.into_iter().map(pending));
        }
    }
    for (index, path, used) in macro_uses::follow_macros(tree, files, (structs, &subjects), waiting) {
        if let Some(struct_uses) = found.get_mut(index) {
            struct_uses.0.push((path, used));
        }
    }
    if let Some(file) = &words_file {
        file.keep(&words, &learned.into_inner().unwrap_or_default());
    }
    let files = TreeFiles { all: files, tagged: &tagged, scopes: &scopes, words: &words };
    meant::add_uses(tree, files, structs, &mut found);
    found
}

/// C files below a folder of the tree, each with its stamp. An entry of a folder has its metadata without the way to it
/// being looked up again.
fn files_below(tree: &Path, folder: &str) -> std::io::Result<Vec<(String, Option<Stamp>)>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if path.starts_with('.') || is_other_code(&path) {
            continue;
        }
        if kind.is_dir() {
            folders.push(path);
        } else if kind.is_file() && meant::is_code(&path) {
            files.push((path, entry.metadata().ok().as_ref().map(Stamp::from)));
        } else if meant::is_code(&path) {
            fieldline_files::check_entry(&entry.path())?;
        }
    }
    let below = fieldline_parallel::map(&folders, |folder| files_below(tree, folder));
    for more in below {
        files.extend(more?);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files with code that make a tree a large one.
    const FILLERS: usize = 4001;

    #[test]
    fn a_name_in_a_large_tree_is_known_beyond_its_folder() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        (0..FILLERS).for_each(|number| write(&format!("f/{number}.c"), ""));
        write(
            "include/task.h",
            "struct own;\nstruct entity { struct own *own; };\nstruct task { struct entity e; };\n",
        );
        let set = "#include <task.h>\nstruct own { int a; int b; };\nstruct group { struct own **own; };\n\
                   static inline void set(struct task *task, struct group *group, int cpu)\n\
                   {\n\ttask->e.own = group->own[cpu];\n}\n";
        write("k/own.h", set);
        let first = "int *first(struct own *own)\n{\n\treturn (int *)own;\n}\n";
        write("e/user.c", &format!("#include \"../k/own.h\"\n{first}"));
        write("d/own.h", "struct own { int x; };\n");
        write("d/user.c", &format!("#include \"own.h\"\n{first}"));
        let member = |name: &str, at: u32| {
            format!(
                r#"{{"name": "{name}", "bit_offset": {at}, "bit_size": 32, "type_name": "int", "align": 4}}"#
            )
        };
        let layout = format!(
            r#"{{"name": "own", "kind": "struct", "size": 8, "align": 4, "items": [], "members": [{}, {}]}}"#,
            member("a", 0),
            member("b", 32)
        );
        let layout = serde_json::from_str(&layout).unwrap();
        let structs = [DeclaredStruct { layout: &layout, header: "k/own.h" }];
        let found = find_in_tree((tree.path(), None), &structs, None).unwrap().remove(0).0;
        let places: Vec<(&str, u32)> = found.iter().map(|(path, used)| (path.as_str(), used.line)).collect();
        assert_eq!(places, [("e/user.c", 4)], "{found:?}");
    }
}
