//! Patches of a plan, as a whole and step by step.

use crate::header::FileChange;
use crate::proof::Patch;

/// The patches of a plan.
#[derive(Default)]
pub struct PatchSet {
    /// File name of the patch and its text.
    pub patches: Vec<(String, Vec<u8>)>,
    /// Remarks, a sentence each.
    pub notes: Vec<String>,
    /// Structs that were refused, and why.
    pub refusals: Vec<(String, String)>,
    /// The same changes step by step.
    pub steps: Vec<PatchStep>,
    /// The changed files as they become.
    pub files: Patch,
}

/// One patch of the series, upon those before it.
#[derive(Clone, Debug, Default)]
pub struct PatchStep {
    /// Its subject.
    pub subject: PatchSubject,
    /// The files it changes.
    pub files: Vec<FileChange>,
    /// Notes for readers of the patch, a sentence each.
    pub notes: Vec<String>,
    /// Whether it uses macros that align on some machines only.
    pub needs_macros: bool,
    /// Names of groups that are marked, by index into the plan's.
    pub groups: Vec<(usize, String)>,
}

/// Subjects of patches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PatchSubject {
    /// Macros that the others use.
    #[default]
    Macros,
    /// The struct with this tag.
    Struct(String),
    /// Members aligned in the struct with this tag, which keep their order.
    Alignment(String),
}

impl PatchStep {
    /// The tag of the struct that is reordered.
    pub fn name(&self) -> Option<&str> {
        match &self.subject {
            PatchSubject::Macros | PatchSubject::Alignment(_) => None,
            PatchSubject::Struct(name) => Some(name),
        }
    }
}
