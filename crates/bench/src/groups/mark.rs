//! The mark by which groups of ours are known: an extended attribute with the process that made them.
//!
//! A name alone proves nothing. The attribute vanishes with the group, and nothing else is to be kept in step with it.

use crate::error::{Error, Result};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::fs;
use std::path::Path;

/// Names of the attribute: kernels before 5.7 allow only the second on groups.
const NAMES: [&str; 2] = ["user.fieldline-bench", "trusted.fieldline-bench"];
/// Most bytes of it.
const MAX_BYTES: usize = 512;

/// The mark of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupMark {
    pub(super) process: u32,
    /// When that process began, in ticks since the boot: numbers of processes are used again.
    pub(super) start: u64,
    /// The namespace of processes that the number is in.
    pub(super) namespace: String,
    /// Whether the parent's cpu controller was enabled for it.
    pub(super) enabled: bool,
}

/// The process that made a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// This one.
    Own,
    /// Another one, which runs.
    Running(u32),
    /// It has ended.
    Gone,
    /// Its number means nothing here.
    Unknown,
}

impl GroupMark {
    /// The mark of this process.
    pub(super) fn own(enabled: bool) -> Self {
        Self::of_process(std::process::id(), enabled)
    }

    pub(super) fn of_process(process: u32, enabled: bool) -> Self {
        Self { process, start: start_of(process).unwrap_or(0), namespace: namespace(), enabled }
    }

    /// Writes it to a group.
    pub(super) fn set(&self, group: &Path) -> Result<()> {
        let text = format!("{} {} {} {}", self.process, self.start, u8::from(self.enabled), self.namespace);
        let set = |name: &str| setxattr(group, name, text.as_bytes(), XattrFlags::empty());
        let [usual, older] = NAMES;
        set(usual).or_else(|_| set(older)).map_err(|error| Error::file(group)(error.into()))
    }

    /// The mark of a group, if it has one of ours.
    pub(super) fn of_group(group: &Path) -> Option<Self> {
        let get = |name: &&str| {
            let mut bytes = vec![0; MAX_BYTES];
            let length = getxattr(group, *name, &mut bytes).ok()?;
            bytes.truncate(length);
            String::from_utf8(bytes).ok()
        };
        Self::parse(&NAMES.iter().find_map(get)?)
    }

    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [process, start, enabled, namespace] = words[..] else { return None };
        Some(Self {
            process: process.parse().ok()?,
            start: start.parse().ok()?,
            namespace: namespace.to_owned(),
            enabled: enabled == "1",
        })
    }

    pub(super) fn owner(&self) -> Owner {
        match start_of(self.process) {
            _ if self.namespace != namespace() => Owner::Unknown,
            Some(start) if start == self.start && self.process == std::process::id() => Owner::Own,
            Some(start) if start == self.start => Owner::Running(self.process),
            _ => Owner::Gone,
        }
    }
}

/// When a process began (proc_pid_stat(5), `starttime`). Its name, in parentheses, may hold anything.
fn start_of(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, behind_name) = text.rsplit_once(") ")?;
    behind_name.split(' ').nth(19)?.parse().ok()
}

fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_began_at_another_time_is_another() {
        let own = GroupMark::own(true);
        assert!(own.start > 0 && own.owner() == Owner::Own);
        assert_eq!(GroupMark { start: own.start + 1, ..own.clone() }.owner(), Owner::Gone);
        assert_eq!(GroupMark { namespace: "pid:[1]".to_owned(), ..own }.owner(), Owner::Unknown);
    }

    #[test]
    fn other_attributes_are_no_mark() {
        for text in ["", "1 2 0", "x 2 0 pid:[1]", "1 2 0 pid:[1] more"] {
            assert_eq!(GroupMark::parse(text), None, "{text}");
        }
    }
}
