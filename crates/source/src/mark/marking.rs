//! Groups to be marked, and markers that are there.

use crate::body::{MemberShape, Statement};
use crate::scan::ConditionLiteral;
use std::ops::Range;

/// How names of group markers begin (include/linux/cache.h).
pub(super) const MARKER: &str = "__cacheline_group_";

/// A group to be marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupToMark {
    /// Its name.
    pub name: String,
    /// Its members, by declared index.
    pub members: Range<usize>,
    /// Text of a comment above the first marker.
    pub comment: String,
    /// The markers, each a declaration with its semicolon.
    pub begin: String,
    /// Stands behind the last member.
    pub end: String,
}

/// A member between markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredMember {
    /// Its name.
    pub name: String,
    /// The conditions around it, outermost first, those of the markers among them.
    pub conditions: Vec<ConditionLiteral>,
}

/// The rest of the name of a group's marker, such as `begin__hot`.
pub(super) fn marker_name(statement: &Statement) -> Option<&str> {
    let mut markers = statement.declarators().iter().filter(|member| member.shape == MemberShape::Marker);
    markers.find_map(|member| member.name.as_deref()?.strip_prefix(MARKER))
}

/// The group that a marker is of.
pub(super) fn group_name(statement: &Statement) -> Option<&str> {
    marker_name(statement).and_then(|name| name.split_once("__")).map(|(_, group)| group)
}
