//! Offsets of members in the kernel's structs.

use super::names;
use crate::error::{Error, Result};
use fieldline_debuginfo::types::with_types;
use fieldline_layout::layout::Member;
use std::path::Path;

/// Offsets in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemberOffsets {
    /// Of a task.
    pub(super) pid: u64,
    pub(super) tgid: u64,
    pub(super) comm: u64,
    /// Of a cache of objects.
    pub(super) object_size: u64,
    /// Of a module: its name, where its text is and how long.
    pub(super) module: Option<ModuleOffsets>,
}

/// Offsets in a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleOffsets {
    pub(super) name: u64,
    pub(super) text: u64,
    pub(super) text_size: u64,
}

impl MemberOffsets {
    pub(crate) fn read(vmlinux: &Path) -> Result<Self> {
        let [task, cache, module] = with_types(vmlinux, None, None, |types| {
            let members = |name| -> anyhow::Result<Vec<Member>> {
                Ok(types.layouts(name)?.into_iter().next().map_or_else(Vec::new, |layout| layout.members))
            };
            // Kernels can be built without modules.
            let has_modules = !types.find(names::MODULE)?.is_empty();
            let module = if has_modules { members(names::MODULE)? } else { Vec::new() };
            Ok([members(names::TASK)?, members(names::CACHE)?, module])
        })?;
        let offset = |members: &[Member], name: &str, member: &str| {
            find(members, member).ok_or_else(|| Error::Kernel {
                kernel: vmlinux.display().to_string(),
                what: format!("struct {name} has no member {member}"),
            })
        };
        Ok(Self {
            pid: offset(&task, names::TASK, "pid")?,
            tgid: offset(&task, names::TASK, "tgid")?,
            comm: offset(&task, names::TASK, "comm")?,
            object_size: offset(&cache, names::CACHE, "object_size")?,
            module: ModuleOffsets::find(&module),
        })
    }
}

impl ModuleOffsets {
    /// Since Linux 6.4 the text is the first of several parts (`enum mod_mem_type`), before that the first part of the
    /// core.
    fn find(members: &[Member]) -> Option<Self> {
        let name = find(members, "name")?;
        if let Some(parts) = find(members, "mem") {
            // `struct module_memory`: the address, then (after it in 6.13: a flag) the size.
            return Some(Self { name, text: parts, text_size: parts + 8 });
        }
        let text = find(members, "core_layout.base")?;
        Some(Self { name, text, text_size: find(members, "core_layout.text_size")? })
    }
}

/// Bytes from the start of a struct to a member, also in structs within.
fn find(members: &[Member], path: &str) -> Option<u64> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    members.iter().find_map(|member| match (&member.name, rest) {
        (Some(name), None) if name == first => Some(member.offset()),
        (Some(name), Some(rest)) if name == first => find(&member.members, rest),
        (None, _) => find(&member.members, path),
        _ => None,
    })
}
