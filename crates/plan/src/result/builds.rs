//! What became of other builds of a struct.

use serde::{Deserialize, Serialize};

/// Whether orders were judged in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildJudged {
    /// They were.
    Yes,
    /// It places every order like one that is judged, so that its figures are the same.
    Alike,
    /// They weren't.
    No,
}

/// What became of another build of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildNote {
    /// What it is called.
    pub build: String,
    /// Cacheline size in bytes it was compiled for.
    pub line: u64,
    /// Size of the struct as declared, in bytes; absent if the build doesn't have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether orders were judged in it.
    pub judged: BuildJudged,
    /// The build it is like, or why it wasn't judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Declared indices of members it doesn't have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<usize>,
    /// Members that only it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}
