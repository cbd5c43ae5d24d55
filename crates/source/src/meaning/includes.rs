//! Which files include which.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Files by number, with all that each includes, directly or through others.
#[derive(Clone, Debug, Default)]
pub(super) struct IncludeGraph {
    files: Arc<Files>,
    /// A file that isn't among them: its number, its path and what it includes.
    own: Option<(usize, String, FxHashSet<usize>)>,
}

#[derive(Debug, Default)]
struct Files {
    paths: Vec<String>,
    by_name: FxHashMap<Vec<u8>, Vec<usize>>,
    direct: Vec<Vec<usize>>,
    /// Files that another includes.
    included: FxHashSet<usize>,
    /// All that each file includes.
    reached: Vec<FxHashSet<usize>>,
}

impl IncludeGraph {
    /// From paths, each with the paths that its `#include` lines name.
    pub(super) fn new(files: &[(&str, Vec<&[u8]>)]) -> Self {
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let mut by_name: FxHashMap<Vec<u8>, Vec<usize>> = FxHashMap::default();
        for (number, path) in paths.iter().enumerate() {
            by_name.entry(last(path.as_bytes()).to_vec()).or_default().push(number);
        }
        let mut graph = Files { paths, by_name, ..Files::default() };
        graph.direct = files.iter().map(|(own, named)| graph.resolve(own, named)).collect();
        graph.included = graph.direct.iter().flatten().copied().collect();
        graph.reached = fieldline_parallel::map(&graph.direct, |direct| graph.reach(direct));
        Self { files: Arc::new(graph), own: None }
    }

    /// With one more file, which gets the next number.
    pub(super) fn with_file(&self, path: &str, named: &[&[u8]]) -> Self {
        let reached = self.files.reach(&self.files.resolve(path, named));
        let number = self.files.paths.len();
        Self { files: self.files.clone(), own: Some((number, path.to_owned(), reached)) }
    }

    /// Whether a file includes another.
    pub(super) fn is_known(&self, file: usize, other: usize) -> bool {
        match &self.own {
            Some((number, _, reached)) if *number == file => reached.contains(&other),
            _ => self.files.reached.get(file).is_some_and(|reached| reached.contains(&other)),
        }
    }

    pub(super) fn is_included(&self, file: usize) -> bool {
        self.files.included.contains(&file)
    }

    /// How many folders two files have in common.
    pub(super) fn common_folders(&self, first: usize, second: usize) -> usize {
        common_folders(self.path(first), self.path(second))
    }

    fn path(&self, file: usize) -> &str {
        match &self.own {
            Some((number, path, _)) if *number == file => path,
            _ => self.files.paths.get(file).map_or("", String::as_str),
        }
    }
}

impl Files {
    /// The files that `#include` lines of a file mean: of several, those nearest to it.
    fn resolve(&self, own: &str, named: &[&[u8]]) -> Vec<usize> {
        let mut found = Vec::new();
        for named in named {
            let same = self.by_name.get(last(named)).into_iter().flatten().copied();
            let path = |number: usize| self.paths.get(number).map_or("", String::as_str);
            let all: Vec<usize> = same.filter(|number| is_path_of(path(*number), named)).collect();
            let best = all.iter().map(|number| common_folders(own, path(*number))).max();
            found.extend(all.into_iter().filter(|number| Some(common_folders(own, path(*number))) == best));
        }
        found
    }

    fn reach(&self, from: &[usize]) -> FxHashSet<usize> {
        let mut waiting = from.to_vec();
        let mut found: FxHashSet<usize> = from.iter().copied().collect();
        while let Some(file) = waiting.pop() {
            let direct = self.direct.get(file).into_iter().flatten();
            waiting.extend(direct.copied().filter(|next| found.insert(*next)));
        }
        found
    }
}

fn common_folders(first: &str, second: &str) -> usize {
    let [first, second] = [first, second].map(|path| path.rsplit_once('/').unwrap_or_default().0.split('/'));
    first.zip(second).take_while(|(left, right)| left == right && !left.is_empty()).count()
}

/// A path's last part.
fn last(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Whether an `#include` of a path means a file.
pub(super) fn is_path_of(file: &str, included: &[u8]) -> bool {
    let Ok(included) = std::str::from_utf8(included) else { return false };
    let included = included.trim_start_matches("../").trim_start_matches("./");
    file.strip_suffix(included).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_know_what_they_include_and_the_nearest_of_a_name() {
        let files: Vec<(&str, Vec<&[u8]>)> = vec![
            ("a/x.h", vec![]),
            ("b/x.h", vec![b"y.h"]),
            ("b/y.h", vec![]),
            ("b/u.c", vec![b"x.h", b"stdio.h"]),
            ("z.h", vec![]),
        ];
        let graph = IncludeGraph::new(&files);
        assert!(graph.is_known(3, 1) && graph.is_known(3, 2) && !graph.is_known(3, 0));
        assert!(graph.is_included(2) && !graph.is_included(4));
        assert_eq!(graph.common_folders(1, 3), 1);
        let graph = graph.with_file("a/v.c", &[b"x.h"]);
        assert!(graph.is_known(5, 0) && !graph.is_known(5, 1));
    }
}
