//! Which files can know a struct.

use super::by_file::names;
use fieldline_layout::{Layout, Member};
use fieldline_source::meaning::KnownName;
use fieldline_source::uses::UsedStruct;
use memchr::memmem;
use std::io::Read;
use std::path::Path;

/// Folders at the top of a kernel tree whose code is none of the kernel's, or is not C.
const OTHER_CODE: &[&str] = &["Documentation", "LICENSES", "rust", "samples", "scripts", "tools", "usr"];

/// Larger files are tables: register lists, fonts.
pub(super) const LARGEST: u64 = 1 << 20;

/// A struct and the file of the tree that declares it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeclaredStruct<'d> {
    pub layout: &'d Layout,
    /// Path from the top of the tree, with `/`.
    pub header: &'d str,
}

/// The bytes of a file; none if it has more than `largest`.
pub(crate) fn read_up_to(path: &Path, largest: u64) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = fieldline_files::open(path)?;
    let size = file.metadata()?.len();
    if size <= largest {
        text.reserve_exact(size as usize + 1);
        file.take(largest).read_to_end(&mut text)?;
    }
    Ok(text)
}

/// Whether files include it rather than that it is compiled.
pub(super) fn is_header(path: &str) -> bool {
    let is_included = [".h", ".inc", ".def", ".inl", ".ipp"].iter().any(|end| path.ends_with(end));
    is_included || [".hh", ".hpp", ".hxx"].iter().any(|end| path.ends_with(end))
}

/// Where a text defines a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Definition {
    /// As a tag: `struct name {`.
    pub(super) is_tag: bool,
    /// As a typedef: `} name;`.
    pub(super) is_typedef: bool,
}

impl Definition {
    /// The definitions of a name in a text; conditions of the preprocessor aren't evaluated.
    pub(super) fn find(text: &[u8], name: &str) -> Self {
        let mut found = Self::default();
        let word = KnownName::word(name);
        for start in memmem::find_iter(text, name.as_bytes()) {
            let end = start + name.len();
            if !word.is_said(text, start..end) {
                continue;
            }
            let before = before_attributes(text.get(..start).unwrap_or_default());
            let behind = behind_attributes(text.get(end..).unwrap_or_default());
            let is_keyword = |keyword: &&str| {
                let apart = before.strip_suffix(keyword.as_bytes()).map(<[u8]>::last);
                apart.is_some_and(|last| !last.is_some_and(|byte| is_word(*byte)))
            };
            let mut keywords = ["struct", "union", "class"].iter();
            found.is_tag |= matches!(behind, [b'{' | b':', ..]) && keywords.any(is_keyword);
            found.is_typedef |= before.ends_with(b"}") && matches!(behind, [b';' | b',', ..]);
        }
        found
    }
}

/// Most attributes at one side of a name.
const MOST_ATTRIBUTES: usize = 8;

/// A text up to the attributes that it ends with: words that begin with `__`, and brackets behind them.
fn before_attributes(text: &[u8]) -> &[u8] {
    let mut left = text.trim_ascii_end();
    for _ in 0..MOST_ATTRIBUTES {
        let open = left.strip_suffix(b"))").and_then(|inside| memmem::rfind(inside, b"(("));
        let rest = left.get(..open.unwrap_or(left.len())).unwrap_or_default().trim_ascii_end();
        let word = rest.iter().rev().take_while(|byte| is_word(**byte)).count();
        let (rest, word) = rest.split_at(rest.len() - word);
        if !word.starts_with(b"__") {
            break;
        }
        left = rest.trim_ascii_end();
    }
    left
}

/// A text behind the attributes that it begins with.
fn behind_attributes(text: &[u8]) -> &[u8] {
    let mut left = text.trim_ascii_start();
    for _ in 0..MOST_ATTRIBUTES {
        let word = left.iter().take_while(|byte| is_word(**byte)).count();
        let (word, rest) = left.split_at(word);
        if !word.starts_with(b"__") {
            break;
        }
        let rest = rest.trim_ascii_start();
        let inside = rest.strip_prefix(b"((");
        let behind = inside.and_then(|inside| inside.get(memmem::find(inside, b"))")? + 2..));
        left = behind.unwrap_or(rest).trim_ascii_start();
    }
    left
}

/// Whether a byte is one of a name's.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The files of a tree that can know a struct.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    header: String,
    /// Headers that define another struct of its name.
    others: Vec<String>,
    /// Units that do, for themselves.
    units: Vec<String>,
}

impl Scope {
    /// The scope of a struct that a header declares; `defined`: the definitions of its name, by file.
    pub(super) fn new(header: &str, defined: &[(String, Definition)]) -> Self {
        let own = defined.iter().find(|(path, _)| path == header);
        let is_typedef = own.is_some_and(|(_, own)| own.is_typedef && !own.is_tag);
        let is_same = |found: &Definition| if is_typedef { found.is_typedef } else { found.is_tag };
        let others = defined.iter().filter(|(path, found)| path != header && is_same(found));
        let (others, units) = others.map(|(path, _)| path.clone()).partition(|path| is_header(path));
        Self { header: header.to_owned(), others, units }
    }

    /// Whether a file can know the struct: by its place, or because the name means no other struct there. Of several
    /// definitions those that share most folders with a file are meant.
    pub(super) fn knows(&self, path: &str) -> bool {
        if is_in_scope(path, &self.header) {
            return true;
        }
        let is_elsewhere = !is_possible(path, &self.header) || !is_header(&self.header);
        if is_elsewhere || self.units.iter().any(|unit| unit == path) {
            return false;
        }
        let own = common_folders(path, &self.header);
        self.others.iter().all(|other| common_folders(path, other) <= own)
    }
}

/// How many folders two paths have in common.
pub(super) fn common_folders(first: &str, second: &str) -> usize {
    let [first, second] = [first, second].map(|path| path.rsplit_once('/').unwrap_or_default().0.split('/'));
    first.zip(second).take_while(|(left, right)| left == right && !left.is_empty()).count()
}

/// Whether code of one place may be compiled with a header of another: not that of other programs in the tree, nor of
/// other architectures.
pub(super) fn is_possible(path: &str, header: &str) -> bool {
    let arch = |path: &str| Some(path.strip_prefix("arch/")?.split('/').next()?.to_owned());
    let is_other = arch(header).zip(arch(path)).is_some_and(|(own, other)| own != other);
    !is_other && !is_other_code(path)
}

/// Whether a file or folder belongs to other programs that come with a kernel.
pub(super) fn is_other_code(path: &str) -> bool {
    OTHER_CODE.contains(&path.split('/').next().unwrap_or_default())
}

/// Whether the place of a file says that it can know what a header declares: a header below `include` is known
/// everywhere, any other in its own folder and below.
pub(super) fn is_in_scope(path: &str, header: &str) -> bool {
    let is_public = header.starts_with("include/") || header.contains("/include/");
    is_possible(path, header) && (is_public || path.starts_with(folder_of(header)))
}

/// The folder of a path, with `/`; empty at the top.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

pub(super) fn used_struct(layout: &Layout) -> UsedStruct {
    let members = layout.members.iter().enumerate().flat_map(|(number, member)| {
        names(std::slice::from_ref(member)).into_iter().map(move |name| (name.to_owned(), number))
    });
    // Declared names hide those of base classes.
    let (own, inherited): (Vec<_>, Vec<_>) = members
        .partition(|(_, number)| layout.members.get(*number).is_some_and(|member| !member.is_inherited()));
    let members = own.into_iter().chain(inherited);
    let (tag, prefix_tags) = (layout.name.clone(), prefix_tags(&layout.members));
    UsedStruct { tag, members: members.collect(), prefix_tags }
}

/// Tags of the structs that begin with the first byte.
fn prefix_tags(members: &[Member]) -> Vec<String> {
    let Some(first) = members.iter().find(|member| member.bit_size > 0) else { return Vec::new() };
    let is_leading = first.bit_offset == 0 && first.name.is_some();
    let own = first.type_name.strip_prefix("struct ").filter(|_| is_leading);
    let tag = own.filter(|tag| tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let mut leads: Vec<String> = tag.into_iter().map(str::to_owned).collect();
    if tag.is_some() || first.name.is_none() && !first.is_union {
        leads.extend(self::prefix_tags(&first.members));
    }
    leads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_known_where_they_can_be_included() {
        let known = |path: &str, header: &str| is_in_scope(path, header);
        assert!(known("mm/slub.c", "include/linux/mm_types.h"));
        assert!(known("arch/arm64/kernel/traps.c", "include/linux/sched.h"));
        assert!(!known("tools/perf/util/map.c", "include/linux/sched.h"));
        assert!(known("kernel/sched/fair.c", "kernel/sched/sched.h"));
        assert!(!known("kernel/schedule.c", "kernel/sched/sched.h"));
        assert!(!known("mm/slub.c", "kernel/sched/sched.h"));
        assert!(known("mm/slub.c", "arch/x86/include/asm/processor.h"));
        assert!(!known("arch/arm64/kernel/traps.c", "arch/x86/include/asm/processor.h"));
    }

    #[test]
    fn a_name_with_one_definition_means_it_everywhere() {
        let tag = Definition { is_tag: true, is_typedef: false };
        let defined = |paths: &[&str]| paths.iter().map(|path| ((*path).to_owned(), tag)).collect::<Vec<_>>();
        let single = Scope::new("a/b/own.h", &defined(&["a/b/own.h"]));
        assert!(single.knows("a/b/c.c") && single.knows("a/x.c") && single.knows("include/linux/x.h"));
        assert!(!single.knows("tools/x.c"));
        let several = Scope::new("a/b/own.h", &defined(&["a/b/own.h", "d/other.h", "a/unit.c"]));
        assert!(several.knows("a/x.c") && several.knows("e/x.c"), "no other is nearer");
        assert!(!several.knows("d/x.c") && !several.knows("a/unit.c"));
        assert!(!Scope::new("a/b/own.c", &[]).knows("a/x.c"), "a unit's own");
    }

    #[test]
    fn uses_are_no_definitions() {
        let find = |text: &str| {
            let found = Definition::find(text.as_bytes(), "s");
            (found.is_tag, found.is_typedef)
        };
        assert_eq!(find("struct s { int a; };"), (true, false));
        assert_eq!(find("struct __attribute__((packed)) s\n{ int a; };"), (true, false));
        assert_eq!(find("struct s __aligned((8)) { int a; };"), (true, false));
        assert_eq!(find("class s : base { };"), (true, false));
        assert_eq!(find("typedef struct { int a; } s;"), (false, true));
        assert_eq!(find("typedef struct { int a; } __packed s;"), (false, true));
        assert_eq!(
            find("struct s; struct s *f(struct s *s) { return s; } struct s f(void) {}"),
            (false, false)
        );
        assert_eq!(find("mystruct s { }"), (false, false));
        assert_eq!(find(&("__a ".repeat(200_000) + "s")), (false, false), "no depth");
        assert_eq!(find(&("struct s ".to_owned() + &"__a ".repeat(200_000))), (false, false));
    }
}
