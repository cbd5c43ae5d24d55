//! Members meant to share a cacheline.

use serde::{Deserialize, Serialize};

/// Members meant to share a cacheline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// How it is used.
    pub kind: GroupKind,
    /// Declared indices in order of place.
    pub members: Vec<usize>,
    /// Bytes from its first member to the end of its last.
    pub bytes: u64,
    /// Offset in bytes of its first member.
    pub first_offset: u64,
    /// Share of the visits that touch it.
    pub visits: f64,
    /// Share of stores among its accesses.
    pub stores: f64,
    /// Whether the source should align it.
    pub alignment: GroupAlignment,
    /// Why.
    pub why: String,
    /// What aligning it costs; empty for a cold group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub padding: Vec<Padding>,
}

/// How a group is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// Touched often and mostly read.
    HotReadMostly,
    /// Touched often and written.
    HotWritten,
    /// Hardly touched.
    Cold,
}

/// How the source should align a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupAlignment {
    /// Not at all.
    None,
    /// To the cacheline (`__cacheline_group_begin_aligned`).
    Aligned,
    /// To the cacheline where that has as many bytes as the recorded machine's.
    Conditional,
}

/// Bytes the struct grows by if a group is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Padding {
    /// Line size in bytes it is compiled for.
    pub line: u64,
    /// If it is aligned on all machines.
    pub aligned: u64,
    /// If it is aligned only where a line is as long as the recorded machine's.
    pub conditional: u64,
}
