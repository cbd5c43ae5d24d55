//! Commands on layouts: print, compare, store, check.

pub(crate) mod check;
pub(crate) mod layout;
mod mailed;
mod page;
mod sinks;

use crate::args::{BaselineArgs, DiffArgs, DiffFormat, InitArgs, require_vmlinux};
use crate::gate::acceptance::toml_string;
use crate::input::document;
use crate::input::layout_set::{self, DebugFormats, LayoutSet};
use crate::input::origin::{FetchedFile, FileOrigin};
use crate::input::paths::{folder_of, relative_to};
use crate::input::select::missing_error;
use crate::output::{self, CommandOutcome};
use crate::report::color::Palette;
use crate::report::layout::diff_text;
use anyhow::{Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_check::baseline::{Baseline, BaselineLayout};
use fieldline_check::{Rule, SetDiff};
use fieldline_debuginfo::types::DebugFormat;
use fieldline_layout::Member;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// The names that `init` gives to the configuration and its baseline.
const CONFIG: &str = "fieldline.toml";
const BASELINE: &str = "layouts.json";

/// `fieldline baseline`: layouts to compare later ones with.
pub(crate) fn baseline(args: &BaselineArgs) -> Result<CommandOutcome> {
    let layout_set =
        layout_set::read(require_vmlinux(args.vmlinux.as_ref())?, &args.types, args.debug_format)?;
    if let Some(name) = layout_set.missing.first() {
        return Err(missing_error(&layout_set.file, name));
    }
    if layout_set.layouts.is_empty() {
        bail!("{}: it defines no struct, union or class", layout_set.file);
    }
    let count = layout_set.layouts.len();
    let format = if layout_set.format == DebugFormat::Btf { "btf" } else { "dwarf" };
    let kept = Baseline::new(layout_set.layouts, layout_set.line, layout_set.pointer, format);
    output::write_file(&args.output, baseline_text(&kept)?.as_bytes())?;
    output::print_done(&format!("wrote {} with {count} types\n", args.output.display()))
}

/// JSON with a type's head, and each member, on a line of its own.
fn baseline_text(kept: &Baseline) -> Result<String> {
    let head = Baseline { types: Vec::new(), ..kept.clone() };
    let mut out = up_to_list(&serde_json::to_string(&head)?, "\"types\":[").to_owned();
    for (index, stored) in kept.types.iter().enumerate() {
        out.push_str(if index > 0 { ",\n\n" } else { "\n" });
        let head = BaselineLayout { members: Vec::new(), ..stored.clone() };
        out.push_str(up_to_list(&serde_json::to_string(&head)?, "\"members\":["));
        members(&mut out, &stored.members, 1)?;
    }
    out.push_str("\n]}\n");
    Ok(out)
}

/// A JSON object up to the empty list it ends with.
fn up_to_list<'t>(text: &'t str, list: &str) -> &'t str {
    text.rfind(list).map_or(text, |place| &text[..place + list.len()])
}

fn members(out: &mut String, list: &[Member], depth: usize) -> Result<()> {
    for (index, member) in list.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        let own = serde_json::to_string(&Member { members: Vec::new(), ..member.clone() })?;
        let _ = write!(out, "{:depth$}", "");
        if member.members.is_empty() {
            out.push_str(&own);
            continue;
        }
        let _ = write!(out, "{},\"members\":[", own.strip_suffix('}').unwrap_or(&own));
        members(out, &member.members, depth + 1)?;
    }
    out.push_str("]}");
    Ok(())
}

/// `fieldline init`: a first fieldline.toml.
pub(crate) fn init(args: &InitArgs) -> Result<CommandOutcome> {
    let is_printed = args.output.as_os_str() == "-";
    if !is_printed && args.output.exists() {
        bail!("{}: is there already; remove it, or name another file with -o", args.output.display());
    }
    let file = require_vmlinux(args.vmlinux.as_ref())?;
    let profile = args.profile.as_deref().map(document::read_profile).transpose()?;
    let asked = match &profile {
        Some(profile) if args.types.is_empty() => hottest(profile, args.top),
        _ => args.types.clone(),
    };
    if asked.is_empty() {
        bail!("name the types to check, or a profile that shows which are hot (--profile)");
    }
    let layout_set = layout_set::read(file, &asked, None)?;
    let is_known = |name: &String| !layout_set.missing.contains(name);
    if let Some(name) = args.types.iter().find(|name| !is_known(name)) {
        return Err(missing_error(&layout_set.file, name));
    }
    let types: Vec<&String> = asked.iter().filter(|name| is_known(name)).collect();
    if types.is_empty() || layout_set.layouts.is_empty() {
        bail!("{}: has none of the types", layout_set.file);
    }
    let folder = if is_printed { Path::new(".") } else { folder_of(&args.output) };
    let text = config_text(&types, file, args.profile.as_deref(), folder)?;
    if is_printed {
        return output::print(&text);
    }
    output::write_file(&args.output, text.as_bytes())?;
    output::print_done(&format!("wrote {} for {} types\n", args.output.display(), types.len()))?;
    let names: Vec<&str> = types.iter().map(|name| name.as_str()).collect();
    output::print_done(&next_commands(&names, file, &args.output))
}

/// The command that makes the baseline named in the configuration, and the one that checks.
fn next_commands(names: &[&str], file: &Path, config: &Path) -> String {
    let baseline = config.with_file_name(BASELINE);
    let (file, baseline) = (file.display().to_string(), baseline.display().to_string());
    let words = ["fieldline", "baseline"].into_iter().chain(names.iter().copied());
    let make: Vec<&str> = words.chain(["--vmlinux", &file, "-o", &baseline]).collect();
    let config = config.display().to_string();
    let mut check = vec!["fieldline", "check"];
    if config != CONFIG {
        check.extend(["--config", &config]);
    }
    let quoted = |words: Vec<&str>| shlex::try_join(words).unwrap_or_default();
    format!("next: {}; then {}\n", quoted(make), quoted(check))
}

/// The structs with most samples.
fn hottest(profile: &AccessProfile, top: usize) -> Vec<String> {
    let mut types: Vec<&TypeProfile> = profile.types.iter().collect();
    types.sort_by_key(|ty| (std::cmp::Reverse(ty.samples()), &ty.name));
    types.into_iter().take(top).map(|ty| ty.name.clone()).collect()
}

/// The configuration of a file; paths in it are relative to its folder.
fn config_text(
    types: &[&String],
    file: &Path,
    profile: Option<&Path>,
    folder: &Path,
) -> std::io::Result<String> {
    let place = |path: &Path| relative_to(path, folder).map(|path| toml_string(&path.display().to_string()));
    let mut out = String::from(
        "# Configuration of fieldline check (docs/formats.md, docs/rules). Paths are relative to this folder.\n\ntypes = [\n",
    );
    out.extend(types.iter().map(|name| format!("    {},\n", toml_string(name))));
    out.push_str("]\n");
    if let Some(profile) = profile {
        out.push_str(&format!("profile = {}\n", place(profile)?));
    }
    let (file, against) = (place(file)?, toml_string(BASELINE));
    out.push_str(&format!(
        "\n[target.main]\nfile = {file}\n# Made by fieldline baseline; stored with the source.\nagainst = {against}\n\n[rules]\n"
    ));
    let level = |rule: Rule| format!("{} = \"{}\"\n", rule.id(), rule.default_level().word());
    out.extend(Rule::ALL.map(level));
    Ok(out)
}

/// The document of `--format json`.
#[derive(Serialize)]
struct Document<'d> {
    format: &'static str,
    version: u32,
    old: &'d str,
    new: &'d str,
    cachelines: &'d [u64],
    #[serde(flatten)]
    diff: &'d SetDiff,
}

/// `fieldline diff`: the structs that differ between two files, and how.
pub(crate) fn diff(args: &DiffArgs) -> Result<CommandOutcome> {
    args.html.as_deref().map(output::check_writable).transpose()?;
    let (new, types) = later_file(args)?;
    let (old, new) = read_both(args, new, types)?;
    let lines = if args.lines.is_empty() { vec![new.line] } else { args.lines.clone() };
    let diff = SetDiff::between(&old.layouts, &new.layouts, &lines);
    let text = match args.format {
        DiffFormat::Text => diff_text::draw(&diff, Palette::new(output::use_color())),
        DiffFormat::Markdown => diff_text::markdown(&diff),
        DiffFormat::Json => {
            let (format, version, old, new) = ("fieldline-diff", 1, &*old.file, &*new.file);
            let document = Document { format, version, old, new, cachelines: &lines, diff: &diff };
            serde_json::to_string(&document)? + "\n"
        }
    };
    if let Some(path) = &args.html {
        page::write_diff(path, (&old, &new), &lines)?;
    }
    output::print(&text)?;
    let is_negative = args.exit_code && !diff.has_no_difference();
    Ok(if is_negative { CommandOutcome::Negative } else { CommandOutcome::Done })
}

/// The later file and the types asked for: the file is the second plain argument if --vmlinux names none.
fn later_file(args: &DiffArgs) -> Result<(&Path, &[String])> {
    match (&args.vmlinux, args.words.split_first()) {
        (Some(file), _) => Ok((file, &args.words)),
        (None, Some((file, types))) => Ok((Path::new(file), types)),
        (None, None) => bail!("no file to compare {} with: name the later one", args.old.display()),
    }
}

/// Both files, read at the same time out of debug info of one format if they have one in common.
fn read_both(args: &DiffArgs, new: &Path, types: &[String]) -> Result<(LayoutSet, LayoutSet)> {
    let files = (FileOrigin::from_argument(&args.old)?.fetch()?, FileOrigin::from_argument(new)?.fetch()?);
    let content = |file: &FetchedFile| file.with_name_in_error(DebugFormats::detect(file.path()));
    // BTF is the quicker one.
    let common = content(&files.0)?.common(content(&files.1)?, [DebugFormat::Btf, DebugFormat::Dwarf]);
    let format = args.debug_format.or(common);
    let read = |file: &FetchedFile| layout_set::read_fetched(file, types, format);
    let (old, new) = rayon::join(|| read(&files.0), || read(&files.1));
    let (mut old, mut new) = (old?, new?);
    if let Some(name) = old.missing.iter().find(|name| new.missing.contains(name)) {
        return Err(missing_error(&format!("{} and {}", old.file, new.file), name));
    }
    if old.layouts.is_empty() && new.layouts.is_empty() {
        bail!("neither {} nor {} defines a struct, union or class", old.file, new.file);
    }
    if old.format != new.format {
        output::print_note(
            "one file's layouts are DWARF, the other's BTF: alignments, which only DWARF has, are not compared",
        );
        old.forget_alignments();
        new.forget_alignments();
    }
    Ok((old, new))
}
