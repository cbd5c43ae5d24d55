//! The tree of cgroups: made, killed and removed. Only groups that bear our mark are touched.
//!
//! * `mark`: the mark.
//! * `folder`: the hierarchy.

mod folder;
mod mark;

pub use folder::GroupFolder;

use crate::bandwidth::LeafBandwidth;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::options::TreeShape;
use folder::{child_groups, has_cpu, read, write};
use mark::{GroupMark, Owner};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the names of our groups begin.
const PREFIX: &str = "fieldline-bench.";
/// Time that killed processes have to be gone, and between two looks.
const KILL_TIME: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(10);
/// Most levels of a hierarchy that are searched.
const MAX_LEVELS: usize = 64;

/// A tree of ours. Dropping it kills what runs in it and removes it.
#[derive(Debug)]
pub(crate) struct GroupTree {
    top: PathBuf,
    leaves: Vec<PathBuf>,
}

impl GroupTree {
    /// Makes a tree; what was made is removed again if that fails.
    pub(crate) fn make(
        folder: &GroupFolder,
        shape: TreeShape,
        bandwidth: Option<LeafBandwidth>,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let top = folder.parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&top).map_err(Error::file(&top))?;
        let mut tree = Self { top: top.clone(), leaves: Vec::new() };
        let enables = !has_cpu(&folder.parent, "cgroup.subtree_control")?;
        GroupMark::own(enables).set(&top)?;
        if enables {
            write(&folder.parent.join("cgroup.subtree_control"), "+cpu")?;
        }
        tree.make_below(&top, shape.depth, shape.width, interrupt)?;
        for leaf in &tree.leaves {
            bandwidth.iter().try_for_each(|bandwidth| limit(leaf, *bandwidth))?;
        }
        Ok(tree)
    }

    fn make_below(&mut self, group: &Path, depth: u32, width: u32, interrupt: &Interrupt) -> Result<()> {
        interrupt.check()?;
        if depth == 0 {
            self.leaves.push(group.to_owned());
            return Ok(());
        }
        write(&group.join("cgroup.subtree_control"), "+cpu")?;
        for index in 0..width {
            let child = group.join(format!("g{index}"));
            fs::create_dir(&child).map_err(Error::file(&child))?;
            self.make_below(&child, depth - 1, width, interrupt)?;
        }
        Ok(())
    }

    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    pub(crate) fn leaves(&self) -> &[PathBuf] {
        &self.leaves
    }

    /// Kills what runs in it, and removes it.
    pub(crate) fn remove(mut self) -> Result<()> {
        let top = std::mem::take(&mut self.top);
        remove_tree(&top).map(|_| ())
    }
}

impl Drop for GroupTree {
    fn drop(&mut self) {
        if !self.top.as_os_str().is_empty() {
            // The next start removes what is left.
            let _ = remove_tree(&self.top);
        }
    }
}

fn limit(leaf: &Path, bandwidth: LeafBandwidth) -> Result<()> {
    write(&leaf.join("cpu.max"), &format!("{} {}", bandwidth.quota, bandwidth.period))
}

/// Removes the trees that a killed benchmark left, anywhere in the hierarchy; what was done and what was left, in words.
///
/// # Errors
///
/// A tree of ours can't be removed.
pub fn remove_stale(folder: &GroupFolder) -> Result<Vec<String>> {
    let mut found = Vec::new();
    find_named(&folder.root, MAX_LEVELS, &mut found);
    found.sort();
    found
        .iter()
        .map(|top| remove_if_stale(top))
        .collect::<Result<Vec<_>>>()
        .map(|notes| notes.into_iter().flatten().collect())
}

fn find_named(group: &Path, levels: usize, found: &mut Vec<PathBuf>) {
    for child in child_groups(group) {
        let name = child.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(PREFIX) {
            found.push(child);
        } else if levels > 0 {
            find_named(&child, levels - 1, found);
        }
    }
}

fn remove_if_stale(top: &Path) -> Result<Option<String>> {
    let place = top.display();
    let Some(mark) = GroupMark::of_group(top) else {
        return Ok(Some(format!("{place} has a name like ours, but not our mark: it is left alone")));
    };
    match mark.owner() {
        Owner::Own => Ok(None),
        Owner::Running(process) => {
            Ok(Some(format!("{place} belongs to process {process}, which runs: it is left alone")))
        }
        Owner::Unknown => Ok(Some(format!(
            "{place} was made in another process namespace: whether it is in use isn't known, it is left alone"
        ))),
        Owner::Gone => {
            let groups = remove_tree(top)?;
            Ok(Some(format!("{place}: a killed benchmark left {groups} groups, which are removed")))
        }
    }
}

/// Kills what runs in a tree of ours and removes it with all below; how many groups these were.
fn remove_tree(top: &Path) -> Result<usize> {
    let enabled = GroupMark::of_group(top).is_some_and(|mark| mark.enabled);
    kill(top)?;
    let groups = remove_groups(top)?;
    if let Some(parent) = top.parent().filter(|_| enabled) {
        disable_cpu(parent);
    }
    Ok(groups)
}

/// Takes the cpu controller from a group's children again, unless there are any: they may use it by now.
fn disable_cpu(parent: &Path) {
    if child_groups(parent).is_empty() {
        // It may be in use in a way that isn't seen here: then the kernel refuses.
        let _ = write(&parent.join("cgroup.subtree_control"), "-cpu");
    }
}

/// Kills all processes of a tree, and waits until they are gone.
fn kill(top: &Path) -> Result<()> {
    let end = Instant::now() + KILL_TIME;
    while is_populated(top)? {
        if fs::write(top.join("cgroup.kill"), "1").is_err() {
            kill_each(top);
        }
        if Instant::now() > end {
            let what = "processes in it don't end".to_owned();
            return Err(Error::NoCgroups { place: top.to_owned(), what });
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Whether a group or one below has processes (Documentation/admin-guide/cgroup-v2.rst, `cgroup.events`).
fn is_populated(top: &Path) -> Result<bool> {
    let path = top.join("cgroup.events");
    match read(&path) {
        Ok(text) => Ok(text.lines().any(|line| line == "populated 1")),
        Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Kills processes by number, on kernels without `cgroup.kill` (before 5.14).
fn kill_each(group: &Path) {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    for process in text.lines().filter_map(|line| rustix::process::Pid::from_raw(line.parse().ok()?)) {
        // It may be gone.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
    child_groups(group).iter().for_each(|child| kill_each(child));
}

fn remove_groups(group: &Path) -> Result<usize> {
    let mut groups = 1;
    for child in child_groups(group) {
        groups += remove_groups(&child)?;
    }
    remove_group(group)?;
    Ok(groups)
}

/// Removes an empty group. It is busy for a moment after its last process.
fn remove_group(group: &Path) -> Result<()> {
    let end = Instant::now() + KILL_TIME;
    loop {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < end => {
                std::thread::sleep(PAUSE);
            }
            other => return other.map_err(Error::file(group)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that takes the place of a hierarchy; none where folders can't be marked.
    fn hierarchy() -> Option<(tempfile::TempDir, GroupFolder)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        GroupMark::own(false).set(&path).ok()?;
        Some((folder, GroupFolder { root: path.clone(), parent: path }))
    }

    fn make(folder: &GroupFolder, name: &str, mark: Option<&GroupMark>) -> PathBuf {
        let top = folder.parent.join("slice").join(format!("{PREFIX}{name}"));
        fs::create_dir_all(top.join("g0/g1")).unwrap();
        fs::create_dir_all(top.join("g1")).unwrap();
        if let Some(mark) = mark {
            mark.set(&top).unwrap();
        }
        top
    }

    #[test]
    fn only_marked_trees_of_processes_that_are_gone_are_removed() {
        let Some((_folder, folder)) = hierarchy() else { return };
        let gone = GroupMark { start: 1, ..GroupMark::own(false) };
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let running = GroupMark::of_process(child.id(), false);
        let elsewhere = GroupMark { namespace: "pid:[1]".to_owned(), ..GroupMark::own(false) };
        let stale = make(&folder, "1", Some(&gone));
        let kept = [
            make(&folder, "2", None),
            make(&folder, "3", Some(&running)),
            make(&folder, "4", Some(&elsewhere)),
            make(&folder, "5", Some(&GroupMark::own(false))),
        ];
        let other = folder.parent.join("slice/other");
        fs::create_dir_all(&other).unwrap();
        let notes = remove_stale(&folder).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!stale.exists() && other.exists());
        assert!(kept.iter().all(|top| top.join("g0/g1").exists()), "{notes:?}");
        assert!(notes.len() == 4 && notes[0].contains("left 4 groups"), "{notes:?}");
    }

    #[test]
    fn a_hierarchy_that_gives_out_no_cpu_is_refused_and_stays_as_it_was() {
        let Some((_folder, folder)) = hierarchy() else { return };
        let interrupt = Interrupt::new().unwrap();
        let made = GroupTree::make(&folder, TreeShape { depth: 1, width: 2 }, None, &interrupt);
        assert!(made.is_err());
        assert!(child_groups(&folder.parent).is_empty());
    }
}
