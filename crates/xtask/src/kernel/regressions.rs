//! The gate on real kernels: one against itself has no finding, and what grew between releases is found.

use crate::tools::chosen::{self, Purpose};
use crate::tools::shell::{self, print_line};
use crate::tools::{debian, inputs};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Suites before and after the one that other tests use.
const SUITES: [(&str, &str); 2] = [("FIELDLINE_OLDER", "bookworm"), ("FIELDLINE_NEWER", "sid")];
/// A kernel's packed image is larger; meta packages are smaller.
const IMAGE: u64 = 4 << 20;

/// A kernel against itself: every rule is on for every type, and none finds anything.
pub(crate) fn compare_with_itself(vmlinux: &Path) -> Result<bool> {
    let gate = Gate::new()?;
    let (code, verdict) = gate.check(&["*"], vmlinux, vmlinux)?;
    let found = verdict["findings"].as_array().context("no findings")?;
    let types = verdict["targets"][0]["types"].as_array().context("no types")?.len();
    print_line!("  {types} types, {} findings", found.len());
    Ok(code == 0 && found.is_empty() && types > 1000)
}

/// The watched structs of three releases, each against those before: `check` finds growth exactly where `diff` shows it.
pub(crate) fn compare_releases(vmlinux: &Path) -> Result<bool> {
    let [older, newer] = SUITES.map(|(variable, suite)| other_release(variable, suite));
    let (older, newer) = (older?, newer?);
    let gate = Gate::new()?;
    let watched = chosen::structs(Purpose::Watched)?;
    let watched: Vec<&str> = watched.iter().map(String::as_str).collect();
    let (mut grown, mut moved, mut agree) = (0, 0, true);
    for (old, new) in [(&*older, vmlinux), (vmlinux, &*newer), (&*older, &*newer)] {
        let change = gate.diff(&watched, old, new)?;
        let (code, verdict) = gate.check(&watched, new, old)?;
        let found = verdict["findings"].as_array().context("no findings")?;
        let is_reported = |name: &Value| {
            found.iter().any(|finding| finding["rule"] == "size-grew" && finding["type"] == *name)
        };
        for layout in change["changed"].as_array().context("nothing changed")? {
            let (before, after) = (layout["size"]["before"].as_u64(), layout["size"]["after"].as_u64());
            let members = layout["members"].as_array().context("no members")?.iter();
            moved += members.filter(|member| is_moved(member)).count();
            grown += usize::from(after > before);
            agree &= is_reported(&layout["name"]) == (after > before);
            if after > before {
                print_line!("  {}: {} -> {} bytes", layout["name"], before.unwrap_or(0), after.unwrap_or(0));
            }
        }
        agree &= (code == 1) == found.iter().any(|finding| finding["level"] == "error");
    }
    print_line!("  {moved} members moved");
    Ok(agree && grown > 0 && moved > 0)
}

fn is_moved(member: &Value) -> bool {
    member["what"].as_array().is_some_and(|changes| changes.iter().any(|change| change == "moved"))
}

/// A folder with the program that is tested.
struct Gate {
    fieldline: PathBuf,
    folder: PathBuf,
}

impl Gate {
    fn new() -> Result<Self> {
        let folder = shell::temporary("gate");
        std::fs::create_dir_all(&folder)?;
        Ok(Self { fieldline: shell::fieldline()?, folder })
    }

    fn check(&self, types: &[&str], file: &Path, against: &Path) -> Result<(i32, Value)> {
        let target = format!("[target.new]\nfile = {file:?}\nagainst = {against:?}\n");
        let config = self.folder.join("fieldline.toml");
        std::fs::write(&config, format!("types = {types:?}\n{target}"))?;
        self.json(Command::new(&self.fieldline).arg("check").arg("--config").arg(config))
    }

    fn diff(&self, types: &[&str], old: &Path, new: &Path) -> Result<Value> {
        Ok(self.json(Command::new(&self.fieldline).arg("diff").arg(old).arg(new).args(types))?.1)
    }

    fn json(&self, command: &mut Command) -> Result<(i32, Value)> {
        let output = command.args(["--format", "json"]).output()?;
        let code = output.status.code().unwrap_or(2);
        if code > 1 {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok((code, serde_json::from_slice(&output.stdout)?))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // A temporary folder may stay.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A kernel of another suite: the file a variable names, or the BTF of the newest image.
fn other_release(variable: &str, suite: &str) -> Result<PathBuf> {
    if let Some(given) = std::env::var_os(variable) {
        return Ok(PathBuf::from(given));
    }
    let packages = debian::packages(suite, is_image)?;
    let package = packages.iter().rfind(|package| package.size > IMAGE);
    let package = package.with_context(|| format!("{suite} has no kernel"))?;
    let folder = package.folder()?;
    let btf = folder.join("vmlinux.btf");
    if !btf.exists() {
        debian::unpack(package, "*vmlinuz*", &folder)?;
        shell::require_files(&[("xz", "xz-utils"), ("zstd", "zstd"), ("lz4", "lz4")])?;
        let image = inputs::find_file(&folder, "vmlinuz", "").context("the package has no vmlinuz")?;
        let bytes = std::fs::read(&image).with_context(|| image.display().to_string())?;
        let found = btf_of(&bytes).with_context(|| format!("{}: no BTF found", image.display()))?;
        std::fs::write(&btf, found)?;
    }
    Ok(btf)
}

fn is_image(name: &str) -> bool {
    let rest = name.strip_prefix("linux-image-").or_else(|| name.strip_prefix("linux-binary-"));
    let ends = ["-cloud-amd64", "-cloud-amd64-unsigned"];
    let version = rest.and_then(|rest| ends.iter().find_map(|end| rest.strip_suffix(end)));
    version.is_some_and(|version| version.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Compressions of a kernel's image: magic number, and the program that reads it. scripts/extract-vmlinux tries the same.
const PACKERS: [(&[u8], &str); 4] = [
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x02\x21\x4c\x18", "lz4"),
    (b"\x1f\x8b\x08", "gzip"),
];

/// The largest BTF of a packed kernel.
fn btf_of(image: &[u8]) -> Option<Vec<u8>> {
    let btf_at = |at: usize, program| Some(largest_btf(&decompress(&image[at..], program)?)?.to_vec());
    PACKERS.iter().find_map(|(magic, program)| {
        let mut places = (0..image.len()).filter(|at| image[*at..].starts_with(magic)).take(16);
        places.find_map(|at| btf_at(at, program))
    })
}

/// The output of a program for compressed bytes. It may fail at the bytes behind them.
fn decompress(bytes: &[u8], program: &str) -> Option<Vec<u8>> {
    let place = shell::temporary("image");
    std::fs::write(&place, bytes).ok()?;
    let file = std::fs::File::open(&place).ok()?;
    let output = Command::new(program).arg("-dc").stdin(file).output();
    std::fs::remove_file(&place).ok()?;
    output.ok().map(|output| output.stdout)
}

/// The largest piece that is BTF by its header (Documentation/bpf/btf.rst: magic, version, flags, length of the header, offset
/// and length of types and of strings, which follow each other).
fn largest_btf(kernel: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| Some(u32::from_le_bytes(*kernel.get(at..)?.first_chunk()?) as usize);
    let piece = |at: usize| {
        let (header, types_at) = (number(at + 4)?, number(at + 8)?);
        let (types, strings_at, strings) = (number(at + 12)?, number(at + 16)?, number(at + 20)?);
        let is_btf = header == 24 && types_at == 0 && strings_at == types && types > 100_000;
        kernel.get(at..at + header + types + strings).filter(|_| is_btf)
    };
    let starts = (0..kernel.len()).filter(|at| kernel[*at..].starts_with(&[0x9f, 0xeb, 1, 0]));
    starts.filter_map(piece).max_by_key(|piece| piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_names() {
        assert!(
            is_image("linux-image-6.1.0-50-cloud-amd64") && is_image("linux-binary-7.2.13+deb14-cloud-amd64")
        );
        assert!(!is_image("linux-image-cloud-amd64") && !is_image("linux-image-6.1.0-50-cloud-amd64-dbg"));
    }

    #[test]
    fn btf_is_found_by_its_header() {
        let mut kernel = vec![0x9f, 0xeb, 1, 0, 9, 9];
        let begin = kernel.len();
        kernel.extend([0x9f, 0xeb, 1, 0]);
        for number in [24u32, 0, 200_000, 200_000, 8] {
            kernel.extend(number.to_le_bytes());
        }
        kernel.resize(begin + 24 + 200_008 + 5, 7);
        assert_eq!(largest_btf(&kernel).map(<[u8]>::len), Some(24 + 200_008));
        assert_eq!(largest_btf(&kernel[..1000]), None);
    }
}
