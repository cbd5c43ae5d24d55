//! The hierarchy of cgroups, and files in it.

use crate::error::{Error, Result};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where trees are made.
#[derive(Clone, Debug)]
pub struct GroupFolder {
    /// The root of the hierarchy, as far as it is mounted here.
    pub(crate) root: PathBuf,
    /// The group to make trees in.
    pub(crate) parent: PathBuf,
}

/// A remedy where the controller is used otherwise.
const UNIFIED: &str = "the cpu controller is not in cgroup version 2 here; boot with cgroup_no_v1=all (and \
                       systemd.unified_cgroup_hierarchy=1), or name a group that has it (--parent DIR)";

/// A remedy where a group above keeps the controller to itself.
const NOT_GIVEN: &str =
    "the group above gives it no cpu controller (echo +cpu to its cgroup.subtree_control)";

impl GroupFolder {
    /// The hierarchy of this machine; trees are made in `parent`, or in its root.
    ///
    /// # Errors
    ///
    /// None is mounted, or the group has no cpu controller.
    pub fn find(parent: Option<&Path>) -> Result<Self> {
        let mounts = Path::new("/proc/self/mounts");
        let root = mount_point(&read(mounts)?).ok_or_else(|| Error::NoCgroups {
            place: mounts.to_owned(),
            what: "no cgroup version 2 is mounted (mount -t cgroup2 none /sys/fs/cgroup)".to_owned(),
        })?;
        let parent = parent.map_or_else(|| root.clone(), Path::to_owned);
        if !has_cpu(&parent, "cgroup.controllers")? {
            let is_given_out = parent != root && has_cpu(&root, "cgroup.controllers")?;
            let what = if is_given_out { NOT_GIVEN } else { UNIFIED };
            return Err(Error::NoCgroups { place: parent, what: what.to_owned() });
        }
        Ok(Self { root, parent })
    }
}

/// The first place where cgroup version 2 is mounted (proc_pid_mounts(5)); blanks in it are written in octal.
fn mount_point(mounts: &str) -> Option<PathBuf> {
    let rows = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let place = rows
        .filter(|words| words.get(2) == Some(&"cgroup2"))
        .find_map(|words| words.get(1).copied().map(str::to_owned));
    place.map(|place| PathBuf::from(place.replace("\\040", " ")))
}

/// Whether a file of a group lists the cpu controller.
pub(super) fn has_cpu(group: &Path, file: &str) -> Result<bool> {
    Ok(read(&group.join(file))?.split_whitespace().any(|name| name == "cpu"))
}

pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Error::file(path))
}

/// Writes to a file that is there: files of groups are never made.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Error::file(path))
}

/// The groups in a group.
pub(super) fn child_groups(group: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    let groups = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    groups.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hierarchy_of_version_2_is_found() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup2 /mnt/a\\040b cgroup2 rw 0 0\ncgroup2 /c cgroup2 rw 0 0\n";
        assert_eq!(mount_point(mounts), Some(PathBuf::from("/mnt/a b")));
        assert_eq!(mount_point("proc /proc proc rw 0 0\n"), None);
    }
}
