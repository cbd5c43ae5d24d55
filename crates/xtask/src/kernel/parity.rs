//! Our `--format pahole` against pahole itself, for every struct and union of a file, from DWARF and from BTF.
//!
//! A type agrees if pahole's text is among ours of that name: where several types share a name, which one pahole prints
//! depends on its threads. docs/PARITY.md lists the differences that are pahole's own faults; any other fails.

use crate::tools::shell::{self, print_line};
use crate::tools::{debian, inputs};
use anyhow::{Context, Result, ensure};
use fieldline_debuginfo::{Elf, FileBytes};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release whose text ours equals. Later ones infer other alignments from BTF.
const VERSION: &str = "v1.30";

/// Most differing types that pahole prints again by name. Reading DWARF takes it a second each time.
const MAX_RETRIES: usize = 100;

const MAX_SHOWN: usize = 20;

/// `cargo xtask parity [FILE]`: whether all differences are listed ones.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let file = args.first().map_or_else(inputs::vmlinux, |file| Ok(PathBuf::from(file)))?;
    let fieldline = shell::fieldline()?;
    let peer = Pahole::find(&file)?;
    let listed = known_differences(&shell::root().join("docs").join("PARITY.md"))?;
    let formats = formats(&file)?;
    ensure!(!formats.is_empty(), "{}: neither DWARF nor BTF to compare", file.display());
    let mut holds = true;
    for format in formats {
        let theirs = Texts::split(&peer.text(format, None)?);
        let mut layout = Command::new(&fieldline);
        layout.args(["layout", "--format", "pahole", "--debug-format", format, "--vmlinux"]).arg(&file);
        let ours = Texts::split(&shell::output(&mut layout)?);
        holds &= compare(&peer, format, &ours, &theirs, &listed)?;
    }
    Ok(holds)
}

fn formats(file: &Path) -> Result<Vec<&'static str>> {
    let bytes = FileBytes::open(file)?;
    if !bytes.bytes().starts_with(b"\x7fELF") {
        return Ok(vec!["btf"]);
    }
    let elf = Elf::parse(&bytes)?;
    let sections = [("dwarf", ".debug_info"), ("btf", ".BTF")].into_iter();
    Ok(sections.filter(|(_, section)| elf.has_section(section)).map(|(format, _)| format).collect())
}

/// pahole of the release we follow: the host's, or one in a root made for it.
struct Pahole {
    root: Option<PathBuf>,
    /// The file to read, by its path in that root.
    file: String,
}

impl Pahole {
    fn find(file: &Path) -> Result<Self> {
        if shell::has("pahole") && version(&mut Command::new("pahole"))? == VERSION {
            return Ok(Self { root: None, file: file.display().to_string() });
        }
        let root = debian::peers_root()?;
        let file = debian::copy_into_root(&root, file)?;
        let peer = Self { root: Some(root), file };
        let found = version(&mut peer.command())?;
        ensure!(found == VERSION, "pahole {found} in the peers' root instead of {VERSION}");
        Ok(peer)
    }

    fn command(&self) -> Command {
        match &self.root {
            Some(root) => debian::peer(root, "pahole"),
            None => Command::new("pahole"),
        }
    }

    /// The text of every type, or of one.
    fn text(&self, format: &str, name: Option<&str>) -> Result<String> {
        let only = name.map(|name| ["-C", name]);
        shell::output(self.command().args(["-F", format]).args(only.iter().flatten()).arg(&self.file))
    }
}

fn version(pahole: &mut Command) -> Result<String> {
    Ok(shell::output(pahole.arg("--version"))?.trim().to_owned())
}

/// Texts by name, such as `struct list_head`; several where types share it.
#[derive(Debug, Default)]
struct Texts(BTreeMap<String, Vec<String>>);

impl Texts {
    /// Splits a listing at the lines that close a type.
    fn split(listing: &str) -> Self {
        let mut texts = Self::default();
        let mut current = String::new();
        for line in listing.lines() {
            if current.is_empty() && line.is_empty() {
                continue;
            }
            current.push_str(line);
            current.push('\n');
            if line.starts_with('}') {
                let text = std::mem::take(&mut current);
                texts.0.entry(name(&text).to_owned()).or_default().push(text);
            }
        }
        texts
    }

    fn has(&self, name: &str, text: &str) -> bool {
        self.0.get(name).is_some_and(|texts| texts.iter().any(|ours| ours == text))
    }

    fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

/// `struct foo` of a text that begins `struct foo : base {`.
fn name(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let head = line.strip_suffix(" {").unwrap_or(line);
    head.split(" : ").next().unwrap_or(head)
}

/// A known difference: format and type.
type Listed = (String, String);

/// A type whose text differs from pahole's.
struct Difference<'t> {
    name: &'t str,
    ours: &'t str,
    theirs: &'t str,
}

fn compare(peer: &Pahole, format: &str, ours: &Texts, theirs: &Texts, listed: &[Listed]) -> Result<bool> {
    let missing: Vec<&String> = theirs.0.keys().filter(|name| !ours.0.contains_key(*name)).collect();
    let extra: Vec<&String> = ours.0.keys().filter(|name| !theirs.0.contains_key(*name)).collect();
    let texts = theirs.0.iter().flat_map(|(name, texts)| texts.iter().map(move |text| (name, text)));
    let differing = texts.filter(|(name, text)| !ours.has(name, text));
    let differing = differing
        .filter_map(|(name, theirs)| Some(Difference { name, ours: ours.0.get(name)?.first()?, theirs }));
    let (contradicted, real) = find_contradictions(peer, format, ours, differing)?;
    let is_listed = |name: &str| listed.iter().any(|(of_format, ty)| of_format == format && ty == name);
    let known = real.iter().filter(|difference| is_listed(difference.name)).count();
    let (types, names) = (theirs.count(), theirs.0.len());
    let agree = types - real.len() - missing.iter().map(|name| theirs.0[*name].len()).sum::<usize>();
    let (absent, more) = (missing.len(), extra.len());
    print_line!(
        "{format}: {agree} of {types} types agree ({names} names); {absent} names missing, {more} extra"
    );
    for name in contradicted {
        print_line!("{format}: {name}: pahole agrees when asked for it by name (docs/PARITY.md)");
    }
    missing.iter().for_each(|name| print_line!("{format}: {name}: missing here"));
    extra.iter().for_each(|name| print_line!("{format}: {name}: not in pahole's list"));
    for difference in real.iter().take(MAX_SHOWN) {
        let note = if is_listed(difference.name) { " (listed)" } else { "" };
        print_line!("{format}: {}{note}:\n{}", difference.name, first_difference(difference));
    }
    if real.len() > MAX_SHOWN {
        print_line!("{format}: {} more differences", real.len() - MAX_SHOWN);
    }
    Ok(missing.is_empty() && extra.is_empty() && known == real.len())
}

/// Those for which pahole itself prints our text when asked by name, and the rest. In a listing of all, whether pahole
/// says `__packed__` depends on which types it printed before.
fn find_contradictions<'t>(
    peer: &Pahole,
    format: &str,
    ours: &Texts,
    differing: impl Iterator<Item = Difference<'t>>,
) -> Result<(Vec<&'t str>, Vec<Difference<'t>>)> {
    let (mut contradicted, mut real) = (Vec::new(), Vec::new());
    for (index, difference) in differing.enumerate() {
        let tag = difference.name.split_once(' ').map_or(difference.name, |(_, tag)| tag);
        let again = if index < MAX_RETRIES { peer.text(format, Some(tag))? } else { String::new() };
        let again = Texts::split(&again);
        match again.0.values().flatten().any(|text| ours.has(difference.name, text)) {
            true => contradicted.push(difference.name),
            false => real.push(difference),
        }
    }
    Ok((contradicted, real))
}

fn first_difference(difference: &Difference<'_>) -> String {
    let pairs = difference.ours.lines().zip(difference.theirs.lines());
    let at = pairs.take_while(|(ours, theirs)| ours == theirs).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing more)").to_owned();
    format!("  line {}\n  ours   {}\n  pahole {}", at + 1, line(difference.ours), line(difference.theirs))
}

/// The rows `| format | type | … |` of the table of differences.
fn known_differences(document: &Path) -> Result<Vec<Listed>> {
    let text = std::fs::read_to_string(document).with_context(|| document.display().to_string())?;
    Ok(text.lines().filter_map(parse_row).collect())
}

fn parse_row(line: &str) -> Option<Listed> {
    let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
    let format = cells.next().filter(|format| ["dwarf", "btf"].contains(format))?;
    let ty = cells.next()?.trim_matches('`');
    Some((format.to_owned(), ty.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "struct a {\n\tint x;\n};\nclass b : public a {\n\tstruct {\n\t} y;\n} __attribute__((__packed__));\n\nstruct a {\n};\n";

    #[test]
    fn listings_split_into_texts_by_name() {
        let texts = Texts::split(LISTING);
        assert_eq!(texts.count(), 3);
        assert!(texts.has("struct a", "struct a {\n\tint x;\n};\n"));
        assert!(texts.has("struct a", "struct a {\n};\n"));
        assert_eq!(texts.0["class b"].len(), 1);
        assert!(!texts.has("class b", "struct a {\n};\n"));
    }

    #[test]
    fn the_table_of_differences_is_read() {
        let expected = Some(("dwarf".to_owned(), "struct foo".to_owned()));
        assert_eq!(parse_row("| dwarf | `struct foo` | why |"), expected);
        assert_eq!(parse_row("| format | type | why |"), None);
        assert_eq!(parse_row("| --- | --- | --- |"), None);
    }
}
