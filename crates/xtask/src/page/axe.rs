//! axe-core: rules of accessibility, run in the page.

use crate::page::browser::Browser;
use crate::tools::shell::{self, cache};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The package of the npm registry and the hash of the file in it (SHA-256).
const PACKAGE: &str = "axe-core@4.10.3";
const FILE: &str = "package/axe.min.js";
const SHA256: &str = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb";

/// The text of axe-core, fetched the first time.
pub(super) fn source() -> Result<String> {
    let path = cache()?.join(format!("{}.js", PACKAGE.replace('@', "-")));
    if !path.exists() {
        fetch(&path)?;
    }
    let sum = shell::output(Command::new("sha256sum").arg(&path))?;
    if !sum.starts_with(SHA256) {
        fs::remove_file(&path)?;
        bail!("{} is not the file that is meant; removed, try again", path.display());
    }
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn fetch(to: &PathBuf) -> Result<()> {
    shell::require_files(&[("npm", "npm"), ("tar", "tar")])?;
    let folder = shell::temporary("axe");
    fs::create_dir_all(&folder)?;
    let mut pack = Command::new("npm");
    let packed =
        shell::output(pack.args(["pack", "--silent", "--ignore-scripts", PACKAGE]).current_dir(&folder))?;
    let name = packed.lines().last().context("npm packed nothing")?;
    shell::run(Command::new("tar").args(["-xzf", name, FILE]).current_dir(&folder))?;
    fs::copy(folder.join(FILE), to).with_context(|| to.display().to_string())?;
    fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())
}

/// Violations of the rules in the page as it is now, a line each; those that matter little are left out.
pub(super) fn violations(browser: &mut Browser, axe: &str) -> Result<Vec<String>> {
    browser.evaluate(&format!("window.axe === undefined && (() => {{ {axe} }})(); 0"))?;
    let found = browser
        .evaluate("axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)")?;
    let serious = |found: &&Value| ["serious", "critical"].iter().any(|impact| found["impact"] == **impact);
    let all = found.as_array().context("axe-core gave no result")?;
    Ok(all.iter().filter(serious).map(describe).collect())
}

fn describe(violation: &Value) -> String {
    let nodes = violation["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let first = nodes.first().map(|node| node["html"].to_string()).unwrap_or_default();
    let why = nodes.first().map(|node| node["failureSummary"].to_string()).unwrap_or_default();
    let (id, impact, help) = (&violation["id"], &violation["impact"], &violation["help"]);
    format!("{id} ({impact}): {help}: {} elements, such as {first}: {why}", nodes.len())
}
