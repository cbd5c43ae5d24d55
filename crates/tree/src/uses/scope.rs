//! Which files can know a struct.

use super::by_file::names;
use fieldline_layout::{Layout, Member};
use fieldline_source::uses::UsedStruct;
use std::fs::File;
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
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size <= largest {
        text.reserve_exact(size as usize + 1);
        file.take(largest).read_to_end(&mut text)?;
    }
    Ok(text)
}

/// Whether a file can know what a header declares: a header below `include` is known everywhere, one of an
/// architecture in all code but other architectures', any other in its own folder and below.
pub(super) fn is_in_scope(path: &str, header: &str) -> bool {
    let top = path.split('/').next().unwrap_or_default();
    if OTHER_CODE.contains(&top) {
        return false;
    }
    let arch = |path: &str| Some(path.strip_prefix("arch/")?.split('/').next()?.to_owned());
    let is_public = header.starts_with("include/") || header.contains("/include/");
    match (is_public, arch(header), arch(path)) {
        (true, Some(own), Some(other)) => own == other,
        (true, ..) => true,
        (false, ..) => path.starts_with(folder_of(header)),
    }
}

/// Whether a folder holds files in scope, or leads to some.
pub(super) fn leads_to_scope(folder: &str, header: &str) -> bool {
    let inside = format!("{folder}/");
    is_in_scope(&inside, header) || folder_of(header).starts_with(&inside)
}

/// The folder of a path, with `/`; empty at the top.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

pub(super) fn used_struct(layout: &Layout) -> UsedStruct {
    let members = layout.members.iter().enumerate().flat_map(|(number, member)| {
        names(std::slice::from_ref(member)).into_iter().map(move |name| (name.to_owned(), number))
    });
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
        assert!(
            leads_to_scope("kernel", "kernel/sched/sched.h") && !leads_to_scope("mm", "kernel/sched/sched.h")
        );
    }
}
