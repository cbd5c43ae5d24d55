//! Layouts stored in a file: sorted, one member a line, so that a change of a struct is a change of lines.
//!
//! Declaration lines and files are left out: they change without the layout.

use crate::field::prune;
use fieldline_layout::{Layout, Member};
use serde::{Deserialize, Serialize};

/// Value of [`Baseline::format`].
pub const FORMAT: &str = "fieldline-baseline";
/// Value of [`Baseline::version`] this crate writes and reads.
pub const VERSION: u64 = 1;

/// Layouts of a file, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Always [`FORMAT`].
    pub format: String,
    /// Format version.
    pub version: u64,
    /// Bytes of a cacheline of the machine.
    pub cacheline: u64,
    /// Bytes of a pointer.
    pub pointer: u64,
    /// The debug info they were read from: `dwarf` or `btf`.
    pub debug_format: String,
    /// The types.
    pub types: Vec<BaselineLayout>,
}

/// A stored layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineLayout {
    /// struct, union or class.
    pub kind: String,
    /// Tag, or the typedef's name of one without.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Alignment in bytes written at the struct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit_align: Option<u64>,
    /// Members, as in a layout.
    pub members: Vec<Member>,
}

/// Error: a baseline whose JSON is valid has an impossible layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {why}")]
pub struct InvalidBaseline {
    /// The type.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl Baseline {
    /// Makes a baseline of layouts.
    pub fn new(layouts: Vec<Layout>, cacheline: u64, pointer: u64, debug_format: &str) -> Self {
        let mut types: Vec<BaselineLayout> = layouts.into_iter().map(BaselineLayout::new).collect();
        types.sort_by(|a, b| (&a.name, &a.kind).cmp(&(&b.name, &b.kind)));
        let (format, debug_format) = (FORMAT.to_owned(), debug_format.to_owned());
        Self { format, version: VERSION, cacheline, pointer, debug_format, types }
    }

    /// The layouts.
    ///
    /// # Errors
    /// If a member lies behind the end of its struct.
    pub fn layouts(self) -> Result<Vec<Layout>, InvalidBaseline> {
        self.types.into_iter().map(BaselineLayout::layout).collect()
    }
}

impl BaselineLayout {
    fn new(mut layout: Layout) -> Self {
        prune(&mut layout);
        layout.members.iter_mut().for_each(clear_lines);
        let Layout { kind, name, size, align, explicit_align, members, .. } = layout;
        Self { kind, name, size, align, explicit_align, members }
    }

    fn layout(self) -> Result<Layout, InvalidBaseline> {
        let Self { kind, name, size, align, explicit_align, members } = self;
        if let Some(member) = members.iter().find(|member| member.bit_end() > size.saturating_mul(8)) {
            let why = format!("{} ends at bit {}, behind the {size} bytes", member.label(), member.bit_end());
            return Err(InvalidBaseline { name, why });
        }
        let empty = Layout { kind, name, align, explicit_align, ..Layout::default() };
        Ok(Layout::from_members(&empty, members, size))
    }
}

fn clear_lines(member: &mut Member) {
    (member.file, member.line) = (None, None);
    member.members.iter_mut().for_each(clear_lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{layout, longs, member};

    #[test]
    fn layouts_come_back_as_they_were_kept() {
        let mut second = longs(&["x", "y"]);
        second.name = "another".to_owned();
        let kept = Baseline::new(vec![longs(&["a", "b"]), second.clone()], 64, 8, "dwarf");
        assert_eq!(kept.layouts(), Ok(vec![second, longs(&["a", "b"])]));
    }

    #[test]
    fn lines_of_the_source_are_not_kept() {
        let (mut first, mut second) = (longs(&["a"]), longs(&["a"]));
        (first.members[0].line, second.members[0].line) = (Some(10), Some(20));
        (first.line, second.line) = (Some(9), Some(19));
        assert_eq!(BaselineLayout::new(first), BaselineLayout::new(second));
    }

    #[test]
    fn a_member_behind_the_end_is_refused() {
        let kept = Baseline::new(vec![layout(8, vec![member(Some("a"), 4, 8)])], 64, 8, "dwarf");
        assert!(kept.layouts().unwrap_err().to_string().contains("behind the 8 bytes"));
    }
}
