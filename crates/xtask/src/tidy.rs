//! The architecture as a test: what may be named where. docs/ARCHITECTURE.md says why.

#[cfg(test)]
mod tests {
    use crate::tools::shell::root;
    use std::path::{Path, PathBuf};

    /// Sources of a crate without its tests folder.
    fn sources(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                found.extend(sources(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
        found.sort();
        found
    }

    fn crate_sources(name: &str) -> Vec<PathBuf> {
        sources(&root().join("crates").join(name).join("src"))
    }

    /// The code of a file up to its test module.
    fn code(path: &Path) -> String {
        let text = std::fs::read_to_string(path).unwrap();
        text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
    }

    fn places(files: &[PathBuf], words: &[&str]) -> Vec<String> {
        let mut places = Vec::new();
        for file in files {
            for (number, line) in code(file).lines().enumerate() {
                let is_comment = line.trim_start().starts_with("//");
                if !is_comment && words.iter().any(|word| line.contains(word)) {
                    places.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
                }
            }
        }
        places
    }

    #[test]
    fn pure_crates_do_no_input_or_output() {
        let words =
            ["std::fs", "std::env", "std::process", "std::net", "println!", "SystemTime", "Instant::now"];
        for name in ["layout", "plan", "check", "source"] {
            let found = places(&crate_sources(name), &words);
            assert!(found.is_empty(), "belongs into cli or debuginfo:\n{}", found.join("\n"));
        }
    }

    #[test]
    fn a_dependency_is_named_where_it_belongs() {
        let all = ["layout", "debuginfo", "profile", "plan", "check", "source", "record", "cli"];
        let homes: [(&str, &[&str]); 8] = [
            ("gimli", &["debuginfo"]),
            ("object::", &["debuginfo"]),
            ("iced_x86", &["profile"]),
            ("yaxpeax_arm", &["profile"]),
            ("similar::", &["source"]),
            ("nix::", &["record"]),
            ("perf_event::", &["record"]),
            ("clap", &["cli"]),
        ];
        for (word, homes) in homes {
            for name in all.iter().filter(|name| !homes.contains(name)) {
                let uses = format!("use {word}");
                let found = places(&crate_sources(name), &[&uses]);
                assert!(found.is_empty(), "{word} is for {homes:?} only:\n{}", found.join("\n"));
            }
        }
    }

    #[test]
    fn each_disassembler_stands_in_its_processors_module() {
        for (word, home) in [("iced_x86", "code/x86"), ("yaxpeax_arm", "code/aarch64")] {
            let files: Vec<PathBuf> = crate_sources("profile")
                .into_iter()
                .filter(|file| !file.to_string_lossy().contains(home))
                .collect();
            let found = places(&files, &[word]);
            assert!(found.is_empty(), "belongs into {home}:\n{}", found.join("\n"));
        }
    }

    #[test]
    fn source_has_never_heard_of_profiles_and_check_not_of_plans() {
        let found =
            places(&crate_sources("source"), &["fieldline_profile", "fieldline_debuginfo", "AccessProfile"]);
        assert!(found.is_empty(), "{}", found.join("\n"));
        let found = places(&crate_sources("check"), &["fieldline_plan"]);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn unsafe_code_stands_in_one_place() {
        let mut found = Vec::new();
        for name in ["layout", "debuginfo", "profile", "plan", "check", "source", "record", "cli", "xtask"] {
            found.extend(places(&crate_sources(name), &["unsafe {", "unsafe fn", "unsafe impl"]));
        }
        found.retain(|place| !place.contains("tidy.rs"));
        assert_eq!(found.len(), 1, "{}", found.join("\n"));
        assert!(found[0].contains("elf.rs"), "{}", found[0]);
    }

    #[test]
    fn no_code_knows_the_structs_of_the_recordings() {
        let words = ["cfs_rq", "sched_entity", "throttle_count", "leaf_cfs_rq", "6.12.107", "c1.mem"];
        for name in ["layout", "debuginfo", "profile", "plan", "check", "source", "record", "cli"] {
            let files: Vec<PathBuf> =
                crate_sources(name).into_iter().filter(|file| !file.ends_with("tests.rs")).collect();
            let found = places(&files, &words);
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
    }

    #[test]
    fn dependencies_are_explained() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let explained = std::fs::read_to_string(root().join("docs/DEPENDENCIES.md")).unwrap();
        let section = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for line in section.lines().filter(|line| line.contains('=') && !line.starts_with('#')) {
            let name = line.split([' ', '=', '.']).next().unwrap();
            let known = name.starts_with("fieldline-") || explained.contains(name);
            assert!(known, "{name} is not in docs/DEPENDENCIES.md");
        }
    }

    #[test]
    fn fixtures_are_small_and_listed() {
        for entry in walk(&root().join("fixtures")) {
            let size = std::fs::metadata(&entry).unwrap().len();
            assert!(size <= 1 << 20, "{}: {size} bytes", entry.display());
            let folder = entry.parent().unwrap();
            let fixtures = root().join("fixtures");
            let mut below = folder.ancestors().take_while(|folder| **folder != fixtures);
            let listed = folder == fixtures || below.any(|folder| folder.join("README.md").exists());
            assert!(listed, "{}: no README.md says how it was made", entry.display());
        }
    }

    fn walk(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
        }
        found
    }
}
