//! Pages to open: of the demo, of a real kernel if there are recordings, of hostile names, of nothing.

use crate::tools::chosen::{self, Purpose};
use crate::tools::inputs;
use crate::tools::shell;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A page, and what is asked of it.
pub(super) struct PageFile {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    /// Whether it has accesses and a plan, so that all can be chosen.
    pub(super) is_full: bool,
}

/// A name that a page must not take for HTML.
const HOSTILE: &str = "</script><script>window.hostile = 1</script><img src=x onerror=window.hostile=1>";

/// The largest struct of a kernel that many recordings touch.
const LARGE: &str = "task_struct";

/// Writes all pages into a folder.
pub(super) fn write_all(folder: &Path) -> Result<Vec<PageFile>> {
    let mut pages = vec![page("demo", demo(folder)?, true)];
    pages.push(page("hostile", hostile(folder)?, true));
    pages.push(page("empty", empty(folder)?, false));
    pages.push(page("diff", diff(folder)?, false));
    if let Some(recording) = inputs::recording()? {
        pages.extend(kernel(folder, &recording)?);
    }
    Ok(pages)
}

fn page(name: &'static str, path: PathBuf, is_full: bool) -> PageFile {
    PageFile { name, path, is_full }
}

fn fieldline(folder: &Path, words: &[&str]) -> Result<()> {
    shell::output(Command::new(shell::fieldline()?).current_dir(folder).args(words)).map(|_| ())
}

/// The page of the built-in example.
pub(super) fn demo(folder: &Path) -> Result<PathBuf> {
    fieldline(folder, &["demo", "demo"])?;
    let words = "propose tx_class tx_flow --program demo/shaper --perf demo/shaper.perf.data --tree demo/tree -o out --also other.o";
    other_build(folder)?;
    fieldline(folder, &words.split(' ').collect::<Vec<_>>())?;
    Ok(folder.join("out/report.html"))
}

/// The example with other settings, so that it has other members.
fn other_build(folder: &Path) -> Result<()> {
    let settings = "#define CONFIG_SHAPER_BANDWIDTH 1\n#define CONFIG_SHAPER_DEBUG 1\n";
    fs::write(folder.join("settings.h"), settings)?;
    let words =
        "-std=gnu11 -g -Idemo/tree/include -include settings.h -c demo/tree/shaper/setup.c -o other.o";
    shell::run(Command::new("gcc").args(words.split(' ')).current_dir(folder))
}

/// The same with names that are HTML: of structs, of members, of types, of functions and of what was recorded.
fn hostile(folder: &Path) -> Result<PathBuf> {
    let keys = ["name", "type_name", "functions", "file", "command", "release", "event", "blind_spots"];
    let mut profile: Value = serde_json::from_slice(&fs::read(folder.join("out/profile.json"))?)?;
    make_hostile(&mut profile, &keys);
    fs::write(folder.join("hostile.json"), profile.to_string())?;
    fieldline(folder, &["report", "--profile", "hostile.json", "--html", "hostile.html"])?;
    Ok(folder.join("hostile.html"))
}

/// Puts markup in front of all strings below some keys.
fn make_hostile(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if keys.contains(&key.as_str()) { prefix(value) } else { make_hostile(value, keys) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| make_hostile(item, keys)),
        _ => {}
    }
}

fn prefix(value: &mut Value) {
    match value {
        Value::String(text) => *value = json!(format!("{HOSTILE}{text}")),
        Value::Array(items) => items.iter_mut().for_each(prefix),
        _ => {}
    }
}

/// The page of a profile of nothing.
fn empty(folder: &Path) -> Result<PathBuf> {
    let profile = json!({"format": "fieldline-profile", "version": 1, "recordings": [], "coverage": [], "blind_spots": [],
        "types": [], "functions": [], "windows": []});
    fs::write(folder.join("empty.json"), profile.to_string())?;
    fieldline(folder, &["report", "--profile", "empty.json", "--html", "empty.html"])?;
    Ok(folder.join("empty.html"))
}

/// The page of two layouts: one with a member more.
fn diff(folder: &Path) -> Result<PathBuf> {
    let [old, new] = ["old", "new"].map(|name| folder.join(format!("{name}.c")));
    fs::write(&old, "struct queue { long head; int length; void *owner; char name[40]; } one;\n")?;
    fs::write(
        &new,
        "struct queue { long head; void *owner; int length; short flags; char name[48]; } one;\n",
    )?;
    for source in [&old, &new] {
        shell::run(Command::new("gcc").args(["-g", "-c", "-o"]).arg(source.with_extension("o")).arg(source))?;
    }
    fieldline(folder, &["diff", "old.o", "new.o", "--html", "diff.html"])?;
    Ok(folder.join("diff.html"))
}

/// Pages of a real kernel: of the structs that are planned, and of a large one.
fn kernel(folder: &Path, recording: &Path) -> Result<Vec<PageFile>> {
    let vmlinux = inputs::vmlinux()?;
    let (vmlinux, recording) = (vmlinux.display().to_string(), recording.display().to_string());
    fieldline(folder, &["profile", "-q", "--vmlinux", &vmlinux, "--perf", &recording, "-o", "kernel.json"])?;
    let planned = chosen::structs(Purpose::Planned)?;
    let planned: Vec<&str> = planned.iter().map(String::as_str).collect();
    let mut pages = Vec::new();
    for (name, types) in [("kernel", planned), ("large", vec![LARGE])] {
        let (plan, html) = (format!("{name}.plan.json"), format!("{name}.html"));
        let known = ["--profile", "kernel.json", "--vmlinux", &vmlinux];
        fieldline(folder, &[&["plan", "-q"], types.as_slice(), &known, &["-o", &plan]].concat())?;
        let shown = ["--plan", &plan, "--html", &html];
        fieldline(folder, &[&["report", "-q"], types.as_slice(), &known, &shown].concat())?;
        pages.push(page(name, folder.join(html), true));
    }
    Ok(pages)
}
