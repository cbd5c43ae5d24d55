//! Pins as a file has them, and as requests about members.

use fieldline_debuginfo::types::edit_distance;
use fieldline_layout::constraint::{CachelineRequest, CachelineRequestKind, PinnedMember, PlacementRequests};

/// A file of pins.
#[derive(Clone, Debug)]
pub struct PinFile {
    pub(super) path: String,
    pub(super) structs: Vec<StructPins>,
}

#[derive(Clone, Debug)]
pub(super) struct StructPins {
    pub(super) name: PinnedName,
    pub(super) requests: Vec<PinRequest>,
}

/// A line of a struct's pins, or one of its lists.
#[derive(Clone, Debug)]
pub(super) struct PinRequest {
    pub(super) directive: PinDirective,
    pub(super) members: Vec<PinnedName>,
}

/// A name and its 1-based line in the file.
#[derive(Clone, Debug)]
pub(super) struct PinnedName {
    pub(super) text: String,
    pub(super) line: usize,
}

/// Keys of pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PinDirective {
    Keep,
    First,
    Last,
    SameLine,
    Apart,
    Group,
}

impl PinDirective {
    pub(super) const ALL: [Self; 6] =
        [Self::Keep, Self::First, Self::Last, Self::SameLine, Self::Apart, Self::Group];

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::First => "first",
            Self::Last => "last",
            Self::SameLine => "same-line",
            Self::Apart => "apart",
            Self::Group => "group",
        }
    }

    /// Its kind of cacheline request, if it is one; then its value is a list of lists.
    pub(super) fn line_kind(self) -> Option<CachelineRequestKind> {
        match self {
            Self::SameLine => Some(CachelineRequestKind::Same),
            Self::Apart => Some(CachelineRequestKind::Separate),
            Self::Group => Some(CachelineRequestKind::Group),
            Self::Keep | Self::First | Self::Last => None,
        }
    }
}

/// A request whose members are known.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPin {
    pub(super) directive: PinDirective,
    /// Declared indices, each once.
    pub(super) members: Vec<usize>,
    /// 1-based line of the first name.
    pub(super) line: usize,
    /// The request and where it is written, for reports.
    pub(super) reason: String,
}

impl ResolvedPin {
    pub(super) fn add_to(self, requests: &mut PlacementRequests) {
        if let Some(kind) = self.directive.line_kind() {
            let Self { members, reason, .. } = self;
            return requests.line_requests.push(CachelineRequest { kind, members, reason });
        }
        let pins = match self.directive {
            PinDirective::First => &mut requests.first,
            PinDirective::Last => &mut requests.last,
            _ => &mut requests.keep,
        };
        let pin = |member| PinnedMember { member, reason: self.reason.clone() };
        pins.extend(self.members.into_iter().map(pin));
    }
}

/// 1-based line of a byte of a text.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// `; did you mean 'x'?` for the nearest of some names, the first of equals.
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let near = names.into_iter().min_by_key(|other| edit_distance(name, other));
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}
