//! The front end: loaded once, asked for one unit after the other.

use crate::addresses;
use crate::addresses::UnitFlows;
use crate::clang::{Library, LoadError, Message, ParsedUnit};
use crate::demand::{CodeUse, Subject};
use crate::error::Error;
use crate::flow::Flow;
use crate::records::{Records, absolute};
use crate::report;
use crate::rules;
use crate::sum::View;
use crate::tree::{MOST_INSTANCES, Tree};
use crate::unit::{SourceUnit, words};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A loaded libclang. Threads may share it, each with units of its own.
#[derive(Clone, Debug)]
pub struct Frontend {
    library: Library,
    version: String,
    resources: PathBuf,
}

impl Frontend {
    /// Finds and loads the newest libclang.
    pub fn load() -> Result<Self, Error> {
        let library = Library::load().map_err(|error| match error {
            LoadError::Static => Error::Static,
            LoadError::Missing => Error::Missing,
            LoadError::Old(path) => Error::Old(path),
        })?;
        let version = library.version();
        let resources = resources(library.path(), &version);
        let resources = resources.ok_or_else(|| Error::Headers(library.path().to_owned()))?;
        Ok(Self { library, version, resources })
    }

    /// The sentence in which clang names itself, part of what results depend on.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The file of libclang, which `LIBCLANG_PATH` may name to save other processes the search.
    pub fn library(&self) -> &Path {
        self.library.path()
    }

    /// The folder of clang's builtin headers.
    pub fn resources(&self) -> &Path {
        &self.resources
    }

    /// The uses of the subjects in a unit that depend on the order of their members. Errors in the unit are part of
    /// the result: the unit is not known then. `read_elsewhere`: headers, absolute, whose static functions another unit
    /// reads: of these only what this unit calls is read.
    pub fn uses(
        &self,
        unit: &SourceUnit,
        subjects: &[Subject],
        read_elsewhere: &BTreeSet<&Path>,
    ) -> Result<UnitUses, Error> {
        let parsed = self.parse(unit)?;
        let (tree, library) = Tree::read(&parsed);
        let records = Records::new(subjects, &unit.directory, &tree);
        let is_c = unit.file.extension().is_some_and(|end| end == "c");
        let tree = match is_c && !read_elsewhere.is_empty() {
            true => tree.without_unreached(&records, |file| read_elsewhere.contains(file)),
            false => tree,
        };
        let flow = Flow::read(&tree, &records);
        let view = View { tree: &tree, records: &records, flow: &flow };
        let mut found = rules::findings(view);
        found.extend(rules::of_library(&library, &records));
        let flows = addresses::read(view, parsed.address_size());
        let uses = report::uses(&found, &records);
        let mut errors: Vec<Diagnostic> =
            parsed.errors().into_iter().map(|message| diagnostic(unit, message)).collect();
        errors.extend(library.is_cut.then(|| too_many_instances(unit)));
        let files = parsed.files().iter().map(|file| records.path(file)).collect();
        let skipped = parsed.skipped().into_iter().map(|(file, first, last)| SkippedLines {
            file: records.path(&file),
            first,
            last,
        });
        let has_lists = rules::has_lists(view);
        Ok(UnitUses { uses, flows, errors, has_lists, files, skipped: skipped.collect() })
    }

    /// The places in a unit that say some members of a struct, by the members' own names.
    ///
    /// # Errors
    /// If the unit's file isn't there, or if libclang gives up.
    pub fn named_members(
        &self,
        unit: &SourceUnit,
        subject: &Subject,
        members: &BTreeSet<&str>,
    ) -> Result<NamedMembers, Error> {
        let parsed = self.parse(unit)?;
        let (tree, _) = Tree::read(&parsed);
        let records = Records::new(std::slice::from_ref(subject), &unit.directory, &tree);
        let places = report::named::places(&tree, &records, members);
        let errors = parsed.errors().into_iter().map(|message| diagnostic(unit, message)).collect();
        Ok(NamedMembers { places, errors })
    }

    fn parse(&self, unit: &SourceUnit) -> Result<ParsedUnit, Error> {
        if !unit.file.is_file() {
            let message = "the build compiled it, but it isn't there".to_owned();
            return Err(Error::Content { file: unit.file.clone(), message });
        }
        ParsedUnit::parse(&self.library, &words(unit, &self.resources))
            .map_err(|code| Error::Unit { file: unit.file.clone(), code })
    }
}

fn diagnostic(unit: &SourceUnit, message: Message) -> Diagnostic {
    let file = match message.place.file.is_empty() {
        true => PathBuf::new(),
        false => absolute(&unit.directory, Path::new(&message.place.file)),
    };
    Diagnostic { file, line: message.place.line, message: message.text }
}

fn too_many_instances(unit: &SourceUnit) -> Diagnostic {
    let message = format!("its templates become more than {MOST_INSTANCES} functions");
    Diagnostic { file: unit.file.clone(), line: 1, message }
}

/// The folder of builtin headers of a libclang, which stands beside it or where Debian has it.
fn resources(library: &Path, version: &str) -> Option<PathBuf> {
    let numbers: String = version.split("version ").nth(1)?.split([' ', '-', '~']).next()?.to_owned();
    let major = numbers.split('.').next()?;
    let real = library.canonicalize().ok()?;
    let mut folders: Vec<PathBuf> = [library, real.as_path()]
        .iter()
        .filter_map(|path| path.parent())
        .map(|folder| folder.join("clang"))
        .collect();
    folders.push(format!("/usr/lib/llvm-{major}/lib/clang").into());
    folders.push("/usr/lib/clang".into());
    folders.push("/usr/lib64/clang".into());
    let named = folders.iter().flat_map(|folder| [folder.join(major), folder.join(&numbers)]);
    named.into_iter().find(|folder| folder.join("include/stddef.h").is_file())
}

/// An error of the front end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The file, absolute; empty if the command line is at fault.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
    /// The front end's sentence.
    pub message: String,
}

/// Places of a unit's text that say some members of a struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedMembers {
    /// The file, absolute, and the byte of it, each place once: of a name in a macro, where the macro is defined.
    pub places: BTreeSet<(PathBuf, u32)>,
    /// Why parts of the unit could not be read: it may have more places.
    pub errors: Vec<Diagnostic>,
}

/// All uses of the subjects in a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitUses {
    /// By file and line, each once.
    pub uses: Vec<CodeUse>,
    /// Where addresses go: `demands` of all units makes uses of them.
    pub flows: UnitFlows,
    /// Why parts of the unit could not be read. A unit with errors is unknown, never clean.
    pub errors: Vec<Diagnostic>,
    /// Whether a list initialises a subject, or what holds one.
    pub has_lists: bool,
    /// The files that were read, absolute, in order.
    pub files: Vec<PathBuf>,
    /// Lines in them that this build leaves out.
    pub skipped: Vec<SkippedLines>,
}

/// Lines that a condition of the preprocessor leaves out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SkippedLines {
    /// The file, absolute.
    pub file: PathBuf,
    /// The first line.
    pub first: u32,
    /// The last.
    pub last: u32,
}
