//! Units compiled before and after a patch of others: the smallest ones that show the structs it touches.

use super::arguments::CompileSite;
use super::build::borrowed_note;
use super::compile::{CompileOutcome, check_read, compile};
use super::overlay::{Overlay, Patch, temporary_folder};
use super::touched::TouchedStruct;
use super::units::{CompileUnit, CompileUnits};
use crate::builds;
use crate::code::check_regular;
use anyhow::{Context, Result};
use fieldline_debuginfo::types;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A build folder in which states of the tree are compiled. Its objects are removed when it is dropped.
#[derive(Debug)]
pub struct PatchBuild {
    tree: PathBuf,
    folder: PathBuf,
    work: TempDir,
    /// Units as compiled so far, by state and name: the state after one patch is the one before the next.
    compiled: Mutex<BTreeMap<(usize, String), Compiled>>,
}

/// A state of the tree: its number, and the files that differ from the tree's.
#[derive(Clone, Copy, Debug)]
pub struct TreeState<'s> {
    /// How many patches made it.
    pub number: usize,
    /// The files that these changed.
    pub files: &'s Patch,
}

/// A unit of one state.
#[derive(Clone, Debug)]
enum Compiled {
    Object(PathBuf),
    Failed(String),
    /// It can't be compiled so that it reads the changed files.
    Unusable(String),
}

/// A patch's structs in one build.
#[derive(Clone, Debug, Default)]
pub struct ShownPatch {
    /// Units that show some of them.
    pub units: Vec<PatchedUnit>,
    /// Structs that no unit shows: name, file, and why.
    pub missing: Vec<(String, String, String)>,
    /// Units that no longer compile, with what the compiler said.
    pub broken: Vec<(String, String)>,
    /// Notes, a sentence each.
    pub notes: Vec<String>,
}

impl ShownPatch {
    /// Adds what further units show. Structs that none of these shows are not missed.
    pub fn add(&mut self, further: Self) {
        self.units.extend(further.units);
        self.broken.extend(further.broken);
        self.notes.extend(further.notes);
    }
}

/// A unit compiled before and after a patch.
#[derive(Clone, Debug)]
pub struct PatchedUnit {
    /// Its source from the top of the tree.
    pub name: String,
    /// The object before.
    pub before: PathBuf,
    /// The object after.
    pub after: PathBuf,
    /// The structs that it shows, before or after.
    pub structs: Vec<String>,
}

impl PatchBuild {
    /// Opens a build folder of a tree.
    pub fn open(tree: &Path, folder: &Path) -> Result<Self> {
        let real = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
        let (tree, folder) = (real(tree)?, real(folder)?);
        for folder in [&tree, &folder] {
            check_regular(folder)?;
        }
        Ok(Self { tree, folder, work: temporary_folder("fieldline-mail-")?, compiled: Mutex::default() })
    }

    /// Compiles what shows the structs that a patch touches, before and after it.
    pub fn show(
        &self,
        before: TreeState<'_>,
        after: TreeState<'_>,
        touched: &[TouchedStruct],
    ) -> Result<ShownPatch> {
        self.show_inner(before, after, touched).with_context(|| self.folder.display().to_string())
    }

    fn show_inner(
        &self,
        before: TreeState<'_>,
        after: TreeState<'_>,
        touched: &[TouchedStruct],
    ) -> Result<ShownPatch> {
        let units = CompileUnits::open(&self.tree, &self.folder)?;
        let mut shown = ShownPatch::default();
        for file in files(touched) {
            let own = touched.iter().filter(|entry| entry.file() == file && !is_shown(&shown, entry));
            let mut rest: Vec<&TouchedStruct> = own.collect();
            // Another file's unit may show them all.
            for unit in &mut shown.units {
                let seen = structs_in(&[&unit.before, &unit.after], &rest)?;
                rest.retain(|entry| !seen.contains(&entry.name));
                unit.structs.extend(seen);
            }
            if !rest.is_empty() {
                self.show_file(&units, [before, after], &rest, &mut shown)?;
            }
        }
        Ok(shown)
    }

    /// Tries units of a file until its structs are shown.
    fn show_file(
        &self,
        units: &CompileUnits<'_>,
        states: [TreeState<'_>; 2],
        touched: &[&TouchedStruct],
        shown: &mut ShownPatch,
    ) -> Result<()> {
        let mut rest = touched.to_vec();
        let mut tried = Vec::new();
        let known = rest.first().map(|entry| entry.before.as_ref().map_or(entry.file(), |(file, _)| file));
        // A folder that the build lacks has no unit: that is a reason, not an error.
        let candidates = units.units_of_header(known.unwrap_or_default()).unwrap_or_else(|why| {
            tried.push(format!("{why:#}"));
            Vec::new()
        });
        for unit in candidates {
            let pair = fieldline_parallel::map(&states, |state| self.compile(&unit, *state));
            let mut pair = pair.into_iter();
            let (Some(was), Some(now)) = (pair.next().transpose()?, pair.next().transpose()?) else {
                continue;
            };
            let before = match was {
                Compiled::Object(object) => object,
                Compiled::Failed(why) | Compiled::Unusable(why) => {
                    tried.push(format!("{} does not compile: {why}", unit.name));
                    continue;
                }
            };
            let after = match now {
                Compiled::Object(object) => object,
                Compiled::Unusable(why) => {
                    tried.push(why);
                    continue;
                }
                Compiled::Failed(why) => {
                    if !structs_in(&[&before], &rest)?.is_empty() {
                        shown.broken.push((unit.name, why));
                        return Ok(());
                    }
                    tried.push(format!("{} does not compile with the patch: {why}", unit.name));
                    continue;
                }
            };
            let seen = structs_in(&[&before, &after], &rest)?;
            if seen.is_empty() {
                tried.push(format!("{} has none of them", unit.name));
                continue;
            }
            rest.retain(|entry| !seen.contains(&entry.name));
            shown.notes.extend(borrowed_note(&unit));
            shown.units.push(PatchedUnit { name: unit.name, before, after, structs: seen });
            if rest.is_empty() {
                return Ok(());
            }
        }
        let why =
            if tried.is_empty() { "no unit of the build reads it".to_owned() } else { tried.join("; ") };
        shown
            .missing
            .extend(rest.iter().map(|entry| (entry.name.clone(), entry.file().to_owned(), why.clone())));
        Ok(())
    }

    fn compile(&self, unit: &CompileUnit, state: TreeState<'_>) -> Result<Compiled> {
        let key = (state.number, unit.name.clone());
        let known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let object =
            self.work.path().join(format!("{}-{}.o", state.number, unit.name.replace(['/', '.'], "-")));
        let compiled = self.compile_state(unit, state, &object)?;
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).insert(key, compiled.clone());
        Ok(compiled)
    }

    fn compile_state(&self, unit: &CompileUnit, state: TreeState<'_>, object: &Path) -> Result<Compiled> {
        let site = CompileSite { tree: &self.tree, build: &self.folder, overlay: None };
        if state.files.is_empty() {
            return Ok(match compile(&unit.compiled, site, object)? {
                CompileOutcome::Done(_) => Compiled::Object(object.to_owned()),
                CompileOutcome::Failed(why) => Compiled::Failed(why),
            });
        }
        let overlay = Overlay::new(&self.tree, state.files, &BTreeSet::from([PathBuf::from(&unit.name)]))?;
        let site = CompileSite { overlay: Some(overlay.path()), ..site };
        match compile(&unit.compiled, site, object)? {
            CompileOutcome::Failed(why) => {
                let top = format!("{}/", overlay.path().display());
                Ok(Compiled::Failed(why.replace(&top, "")))
            }
            CompileOutcome::Done(read) => {
                // A file that the unit doesn't read can't be read from the wrong place either.
                let wrong = |name: &&String| read.contains(&self.tree.join(name));
                let wrong: Vec<&str> = state.files.keys().filter(wrong).map(String::as_str).collect();
                match check_read(&read, site, &wrong, Path::new(&unit.name)) {
                    Ok(()) => Ok(Compiled::Object(object.to_owned())),
                    Err(why) => Ok(Compiled::Unusable(why.to_string())),
                }
            }
        }
    }

    /// A path that debug info of this build names, from the top of the tree where it lies there.
    pub fn path_in_tree<'p>(&self, path: &'p str) -> &'p str {
        let tree = self.tree.to_str().unwrap_or_default();
        if let Some(inner) = path.strip_prefix(tree).and_then(|rest| rest.strip_prefix('/')) {
            return inner;
        }
        // Folders of states have names of their own.
        match path.split_once("/fieldline-tree-").and_then(|(_, rest)| rest.split_once('/')) {
            Some((_, inner)) => inner,
            None => path.strip_prefix("./").unwrap_or(path),
        }
    }
}

/// The files of some structs, each once: where they were declared before.
fn files(touched: &[TouchedStruct]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for entry in touched {
        if !files.iter().any(|file| file == entry.file()) {
            files.push(entry.file().to_owned());
        }
    }
    files
}

fn is_shown(shown: &ShownPatch, entry: &TouchedStruct) -> bool {
    shown.units.iter().any(|unit| unit.structs.contains(&entry.name))
}

/// The structs that some objects have.
fn structs_in(objects: &[&PathBuf], wanted: &[&TouchedStruct]) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    for object in objects {
        types::with_types(object, None, None, |types| {
            for entry in wanted {
                if !builds::layouts(types, &entry.name)?.is_empty() {
                    found.insert(entry.name.clone());
                }
            }
            Ok(())
        })?;
    }
    let order = wanted.iter().map(|entry| entry.name.clone());
    Ok(order.filter(|name| found.contains(name)).collect())
}
