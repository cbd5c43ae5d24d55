//! Code elsewhere in the tree that depends on the order of members: constraints and notes.

mod by_file;
mod kept_findings;
mod kept_words;
mod left_out;
mod macro_uses;
mod meant;
mod sayings;
mod scope;
mod view;
mod words;

use anyhow::{Context, Result};
pub(crate) use by_file::{UsesByFile, has_name, names, summarize_reasons};
pub(crate) use kept_words::{program, write_whole};
pub(crate) use scope::{DeclaredStruct, read_up_to};
pub(crate) use view::BuildView;

use fieldline_source::uses::{FileUses, UsedStruct, find_uses};
use kept_findings::KeptFindings;
use kept_words::{Stamp, WordsFile};
use macro_uses::PendingMacro;
use meant::{NameFinder, TreeFiles};
use scope::{LARGEST, is_in_scope, leads_to_scope, used_struct};
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
    let mut files = files_below(tree, "", structs).with_context(|| tree.display().to_string())?;
    files.sort_unstable();
    let kept = kept.filter(|_| files.len() > MANY);
    let before =
        kept.filter(|_| view.is_none()).map(|folder| KeptFindings::new((tree, folder), &files, structs));
    if let Some(found) = before.as_ref().and_then(KeptFindings::find) {
        return Ok(found);
    }
    let mut found = match view {
        Some(view) => left_out::find(tree, &files, structs, view),
        None => find_anywhere((tree, kept), &files, structs),
    };
    for struct_uses in &mut found {
        struct_uses.drop_repeated();
    }
    if let Some(before) = before {
        before.keep(&found);
    }
    Ok(found)
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
            return (false, vec![FileUses::default(); structs.len()]);
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
            match is_in_scope(path, declared.header) {
                true => find_uses(path, &text, subject),
                false => FileUses::default(),
            }
        });
        (is_tagged, wanted.collect::<Vec<FileUses>>())
    });
    let said = files.iter().zip(&by_file).filter(|(_, (is_tagged, _))| *is_tagged);
    let tagged: Vec<String> = said.map(|(path, _)| path.clone()).collect();
    let mut found = vec![UsesByFile::default(); structs.len()];
    let mut waiting = Vec::new();
    for (path, (_, findings)) in files.iter().zip(by_file) {
        for (struct_index, (struct_uses, findings)) in found.iter_mut().zip(findings).enumerate() {
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
    let files = TreeFiles { all: files, tagged: &tagged, words: &words };
    meant::add_uses(tree, files, structs, &mut found);
    found
}

/// C files below a folder of the tree that any of the structs can be known in.
fn files_below(tree: &Path, folder: &str, structs: &[DeclaredStruct<'_>]) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let may_know = |declared: &DeclaredStruct<'_>| kind.is_dir() || is_in_scope(&path, declared.header);
        if path.starts_with('.') || !structs.iter().any(may_know) {
            continue;
        }
        if kind.is_dir() && structs.iter().any(|declared| leads_to_scope(&path, declared.header)) {
            folders.push(path);
        } else if kind.is_file() && meant::is_code(&path) {
            files.push(path);
        }
    }
    let below = fieldline_parallel::map(&folders, |folder| files_below(tree, folder, structs));
    for more in below {
        files.extend(more?);
    }
    Ok(files)
}
