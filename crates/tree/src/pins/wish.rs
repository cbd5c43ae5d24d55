//! Pins as a file has them, and as wishes about members.

use fieldline_debuginfo::types::distance;
use fieldline_layout::constraint::{LineKind, LineWish, Pin, Wishes};

/// A file of pins.
#[derive(Clone, Debug)]
pub struct PinFile {
    pub(super) path: String,
    pub(super) structs: Vec<StructPins>,
}

#[derive(Clone, Debug)]
pub(super) struct StructPins {
    pub(super) name: Name,
    pub(super) wishes: Vec<Wish>,
}

/// A line of a struct's pins, or one of its lists.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) directive: Directive,
    pub(super) members: Vec<Name>,
}

/// A name and its 1-based line in the file.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) line: usize,
}

/// What a pin asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Keep,
    First,
    Last,
    SameLine,
    Apart,
    Group,
}

impl Directive {
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

    /// What it asks of cachelines, if it is about those; then its value is a list of lists.
    pub(super) fn line_kind(self) -> Option<LineKind> {
        match self {
            Self::SameLine => Some(LineKind::Same),
            Self::Apart => Some(LineKind::Apart),
            Self::Group => Some(LineKind::Group),
            Self::Keep | Self::First | Self::Last => None,
        }
    }
}

/// A wish whose members are known.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) directive: Directive,
    /// Declared indices, each once.
    pub(super) members: Vec<usize>,
    /// 1-based line of the first name.
    pub(super) line: usize,
    /// The wish and where it stands, for reports.
    pub(super) reason: String,
}

impl Resolved {
    pub(super) fn add_to(self, wishes: &mut Wishes) {
        if let Some(kind) = self.directive.line_kind() {
            wishes.lines.push(LineWish { kind, members: self.members, reason: self.reason });
            return;
        }
        let pins = match self.directive {
            Directive::First => &mut wishes.first,
            Directive::Last => &mut wishes.last,
            _ => &mut wishes.keep,
        };
        let pin = |member| Pin { member, reason: self.reason.clone() };
        pins.extend(self.members.into_iter().map(pin));
    }
}

/// 1-based line of a byte of a text.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// `; did you mean 'x'?` for the nearest of some names, the first of equals.
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let near = names.into_iter().min_by_key(|other| distance(name, other));
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}
