//! Licences of the program and of the crates that it is linked with, in Debian's machine-readable form
//! (copyright-format 1.0).

use crate::tools::shell::{self, root};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const FORMAT: &str = "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/";

/// Files of the project with a licence of their own: QEMU's, which loads the plugin.
const PLUGIN: &str =
    "Files: crates/guest/plugin/*\nCopyright: 2026 The fieldline authors\nLicense: GPL-2.0+\n";

/// Licences whose text Debian's base system has, with the files.
const COMMON: [(&str, &str); 2] = [("Apache-2.0", "Apache-2.0"), ("GPL-2.0+", "GPL-2")];

/// A crate in the program.
struct LinkedCrate {
    name: String,
    version: String,
    /// SPDX expression.
    license: String,
    /// Lines of its licence files that name holders of the copyright.
    holders: Vec<String>,
    /// Its licence files, one behind the other.
    texts: String,
}

/// The copyright file.
pub(super) fn text() -> Result<String> {
    let ours = fs::read_to_string(root().join("LICENSE-MIT")).context("LICENSE-MIT")?;
    let crates = linked_crates()?;
    let mut text = format!(
        "Format: {FORMAT}\nUpstream-Name: fieldline\nSource: {}\nComment:\n The program is linked with the crates below, \
         whose sources cargo fetches.\n\nFiles: *\nCopyright: {}\nLicense: Expat or Apache-2.0\n\n{PLUGIN}",
        env!("CARGO_PKG_REPOSITORY"),
        holders(&ours).join("\n "),
    );
    let mut other_texts: BTreeMap<String, String> = BTreeMap::new();
    for linked in &crates {
        let license = match choose(&linked.license) {
            Some(known) => known.to_owned(),
            None => {
                let name = format!("{}-{}", linked.license.replace(' ', "-"), linked.name);
                other_texts.insert(name.clone(), linked.texts.clone());
                name
            }
        };
        let (name, version) = (&linked.name, &linked.version);
        let holders = linked.holders.join("\n ");
        text.push_str(&format!("\nFiles: {name}-{version}/*\nCopyright: {holders}\nLicense: {license}\n"));
    }
    let permission = ours.split_once("\n\n").map_or(ours.as_str(), |(_, rest)| rest);
    let permission = permission.split_once("\n\n").map_or(permission, |(_, rest)| rest);
    text.push_str(&format!("\nLicense: Expat\n{}", indented(permission)));
    for (name, file) in COMMON {
        let place = format!("On Debian systems, the text is in /usr/share/common-licenses/{file}.");
        text.push_str(&format!("\nLicense: {name}\n{}", indented(&place)));
    }
    for (name, other) in other_texts {
        text.push_str(&format!("\nLicense: {name}\n{}", indented(&other)));
    }
    Ok(text)
}

/// Debian's name of the licence taken of an expression's alternatives; `None` if there is none that is known here.
fn choose(expression: &str) -> Option<&'static str> {
    if expression.contains(" AND ") {
        return None;
    }
    let alternatives: Vec<&str> =
        expression.split(" OR ").flat_map(|part| part.split('/')).map(str::trim).collect();
    let known = [("MIT", "Expat"), ("Apache-2.0", "Apache-2.0")];
    known.into_iter().find(|(name, _)| alternatives.contains(name)).map(|(_, debian)| debian)
}

/// A text as the field of a control file.
fn indented(text: &str) -> String {
    let line = |line: &str| {
        if line.trim().is_empty() { " .\n".to_owned() } else { format!(" {}\n", line.trim_end()) }
    };
    text.trim_end().lines().map(line).collect()
}

/// Crates of others that the program is linked with, by name.
fn linked_crates() -> Result<Vec<LinkedCrate>> {
    let tree = [
        "tree",
        "--package",
        "fieldline-cli",
        "--features",
        "parquet",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ];
    let tree = shell::output(shell::cargo(&tree).args(["--locked", "--format", "{p}"]))?;
    let linked: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let metadata = shell::output(&mut shell::cargo(&["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let field = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut crates = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let (name, version) = (field(package, "name"), field(package, "version"));
        if !linked.contains(&(&name, &version)) {
            continue;
        }
        let manifest = field(package, "manifest_path");
        let texts = license_texts(Path::new(&manifest).parent().context("a manifest without a folder")?)?;
        let mut found = holders(&texts);
        if found.is_empty() {
            found.push(format!("The authors of {name}"));
        }
        crates.push(LinkedCrate { license: field(package, "license"), holders: found, texts, name, version });
    }
    crates.sort_by(|left, right| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
    Ok(crates)
}

/// `name v1.2.3 …` of a line of `cargo tree`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

/// The licence files of a crate's folder, in order of their names.
fn license_texts(folder: &Path) -> Result<String> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let is_license = |name: &str| {
        ["LICEN", "COPYING", "COPYRIGHT", "UNLICENSE"].iter().any(|begin| name.starts_with(begin))
    };
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && is_license(&name)
    });
    paths.sort();
    let texts = paths.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned()));
    Ok(texts.collect::<Result<Vec<String>>>()?.join("\n\n"))
}

/// Who holds the copyright, by lines of licences `Copyright (c) 2020 A B`, each once.
fn holders(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['#', '/', '*', ' ']);
        let Some(rest) = line.strip_prefix("Copyright") else { continue };
        let rest = rest
            .trim_start()
            .trim_start_matches("(c)")
            .trim_start_matches("(C)")
            .trim_start_matches('©')
            .trim();
        // Sentences of licences, and the template that Apache's ends with.
        let is_statement = line.contains("(c)")
            || line.contains("(C)")
            || rest.starts_with(|letter: char| letter.is_ascii_digit());
        if is_statement && !rest.contains('[') && !rest.is_empty() && !found.iter().any(|known| known == rest)
        {
            found.push(rest.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_taken_of_the_alternatives() {
        assert_eq!(choose("MIT OR Apache-2.0"), Some("Expat"));
        assert_eq!(choose("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"), Some("Expat"));
        assert_eq!((choose("Apache-2.0"), choose("Unlicense/MIT")), (Some("Apache-2.0"), Some("Expat")));
        assert_eq!((choose("ISC"), choose("(MIT OR Apache-2.0) AND Unicode-3.0")), (None, None));
    }

    #[test]
    fn holders_are_read_from_licences_and_templates_are_not() {
        let text = "MIT License\n\nCopyright (c) 2015 A B\nCopyright 2020-2021 C\n   Copyright [yyyy] [name]\nCopyright holders may\n\
                    Copyright (c) 2015 A B\n";
        assert_eq!(holders(text), ["2015 A B", "2020-2021 C"]);
    }

    #[test]
    fn empty_lines_of_fields_are_dots() {
        assert_eq!(indented("a\n\nb \n"), " a\n .\n b\n");
    }
}
