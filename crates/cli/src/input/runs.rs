//! Files and folders of benchmark outputs: read, labelled by their paths, and put together by variant.

use anyhow::{Context, Result, bail};
use fieldline_compare::environment::EnvironmentFacts;
use fieldline_compare::label::{self, PathParts, natural_order};
use fieldline_compare::readers;
use fieldline_compare::runs::VariantRuns;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most folders within each other.
const MAX_DEPTH: usize = 16;
/// How a perf.data begins.
const PERF_DATA: &[u8] = b"PERFILE2";

/// A file of a variant.
#[derive(Debug)]
pub(crate) struct RunFile {
    pub(crate) path: PathBuf,
    /// The path below what the user named.
    parts: PathParts,
    pub(crate) machine: String,
}

/// The files of a variant with its name.
#[derive(Debug)]
pub(crate) struct VariantFiles {
    pub(crate) name: String,
    pub(crate) files: Vec<RunFile>,
}

/// The files of all variants, named as wanted, else after their files.
pub(crate) fn find_files(
    arguments: &[&[PathBuf]],
    names: &[String],
    has_machines: bool,
) -> Result<Vec<VariantFiles>> {
    if !names.is_empty() && names.len() != arguments.len() {
        bail!("--names has {} names, but there are {} variants", names.len(), arguments.len());
    }
    let own = own_names(arguments);
    let mut variants = Vec::new();
    for (index, paths) in arguments.iter().enumerate() {
        let mut files = Vec::new();
        for path in *paths {
            let prefix: &[String] = &if paths.len() > 1 { vec![file_name(path)] } else { Vec::new() };
            walk(path, prefix, 0, &mut files)?;
        }
        if files.is_empty() {
            bail!(
                "{}: no files in it",
                paths.first().map_or(String::new(), |path| path.display().to_string())
            );
        }
        if has_machines {
            files.iter_mut().try_for_each(take_machine)?;
        }
        let name = names.get(index).or(own.get(index)).cloned().unwrap_or_default();
        variants.push(VariantFiles { name, files });
    }
    Ok(variants)
}

fn take_machine(file: &mut RunFile) -> Result<()> {
    if file.parts.len() < 2 {
        bail!("{}: lies in no folder of a machine (--machines)", file.path.display());
    }
    file.machine = file.parts.remove(0);
    Ok(())
}

/// Names of the variants: of the file or folder, with more of the path where two are equal.
fn own_names(arguments: &[&[PathBuf]]) -> Vec<String> {
    let name = |paths: &&[PathBuf]| {
        let names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
        let first = names.first().cloned().unwrap_or_default();
        let common = first.char_indices().map(|(at, letter)| at + letter.len_utf8()).take_while(|end| {
            first.get(..*end).is_some_and(|begin| names.iter().all(|name| name.starts_with(begin)))
        });
        let common = common.last().and_then(|end| first.get(..end)).unwrap_or_default();
        let common = if names.len() > 1 { common.trim_end_matches(['-', '_', '.', ' ']) } else { common };
        let folder = || {
            let parent = paths.first()?.parent().filter(|parent| !parent.as_os_str().is_empty())?;
            paths.iter().all(|path| path.parent() == Some(parent)).then(|| file_name(parent))
        };
        if common.is_empty() { folder().unwrap_or(first) } else { common.to_owned() }
    };
    let short: Vec<String> = arguments.iter().map(name).collect();
    let is_double = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    let full = |(name, paths): (&String, &&[PathBuf])| match paths.first() {
        Some(path) if is_double(name) => path.display().to_string(),
        _ => name.clone(),
    };
    short.iter().zip(arguments).map(full).collect()
}

fn stem(path: &Path) -> String {
    let name = file_name(path);
    let cut = name.rsplit_once('.').filter(|(stem, ending)| {
        !stem.is_empty() && !path.is_dir() && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    cut.map_or(name.clone(), |(stem, _)| stem.to_owned())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.or_else(|| path.canonicalize().ok()?.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| path.display().to_string())
}

/// Adds a file, or all files below a folder but hidden ones, in the order people count.
fn walk(path: &Path, parts: &[String], depth: usize, files: &mut Vec<RunFile>) -> Result<()> {
    let place = || path.display().to_string();
    if !path.is_dir() {
        let mut parts = parts.to_vec();
        if parts.is_empty() {
            parts.push(file_name(path));
        }
        files.push(RunFile { path: path.to_owned(), parts, machine: String::new() });
        return Ok(());
    }
    if depth > MAX_DEPTH {
        bail!("{}: more than {MAX_DEPTH} folders within each other", path.display());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).with_context(place)? {
        names.push(entry.with_context(place)?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| !name.starts_with('.'));
    names.sort_by(|left, right| natural_order(left, right));
    for name in names {
        let below = [parts, std::slice::from_ref(&name)].concat();
        walk(&path.join(&name), &below, depth + 1, files)?;
    }
    Ok(())
}

/// Runs of variants, with facts on the machines they ran on.
pub(crate) struct ReadRuns {
    pub(crate) variants: Vec<VariantRuns>,
    /// Facts by machine, a list by variant each.
    pub(crate) environments: BTreeMap<String, Vec<EnvironmentFacts>>,
}

/// Reads the outputs of all variants.
pub(crate) fn read_runs(variants: &[VariantFiles]) -> Result<ReadRuns> {
    let parts: Vec<Vec<PathParts>> = variants
        .iter()
        .map(|variant| variant.files.iter().map(|file| file.parts.clone()).collect())
        .collect();
    let labels = label::label_files(&parts);
    let mut read = ReadRuns { variants: Vec::new(), environments: BTreeMap::new() };
    for (index, (variant, labels)) in variants.iter().zip(&labels).enumerate() {
        let mut runs = VariantRuns::new(&variant.name);
        for (file, label) in variant.files.iter().zip(labels) {
            let text = read_text(&file.path)?;
            let facts = EnvironmentFacts::read(&text);
            let is_environment = !facts.is_empty();
            let of_machine = read
                .environments
                .entry(file.machine.clone())
                .or_insert_with(|| vec![EnvironmentFacts::default(); variants.len()]);
            of_machine.get_mut(index).into_iter().for_each(|known| known.merge(facts.clone()));
            match readers::read(&text) {
                Ok(found) => runs.add(found, label, &file.machine),
                Err(readers::ReadError::Unknown { .. }) if is_environment => {}
                Err(error) => return Err(error).with_context(|| file.path.display().to_string()),
            }
        }
        if runs.series.is_empty() {
            bail!("{}: no measurements in its files", variant.name);
        }
        read.variants.push(runs);
    }
    Ok(read)
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = fieldline_files::read(path).with_context(|| path.display().to_string())?;
    if bytes.starts_with(PERF_DATA) {
        bail!("{}: a perf.data; compare recordings with --symbols or --callers FUNCTION", path.display());
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
