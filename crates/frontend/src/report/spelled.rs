//! Names of macros by the lines of their definitions: the front end says where a token was written, not in which macro.

use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Texts of files that define macros.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    lines: FxHashMap<PathBuf, Vec<String>>,
}

impl Spelled {
    /// The macro whose definition holds a line.
    pub(super) fn macro_at(&mut self, file: &Path, line: u32) -> Option<String> {
        let lines = self.lines.entry(file.to_owned()).or_insert_with(|| read(file));
        let mut at = usize::try_from(line).ok()?.checked_sub(1)?;
        while at > 0 && lines.get(at - 1)?.trim_end().ends_with('\\') {
            at -= 1;
        }
        let rest = lines.get(at)?.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let name: String = rest
            .trim_start()
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        (!name.is_empty()).then_some(name)
    }
}

impl Spelled {
    /// The words of a line, texts between quotes as one.
    pub(super) fn words_at(&mut self, file: &Path, line: u32) -> Vec<String> {
        let lines = self.lines.entry(file.to_owned()).or_insert_with(|| read(file));
        let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let Some(line) = at.and_then(|at| lines.get(at)) else { return Vec::new() };
        let mut words = Vec::new();
        for (number, part) in line.split('"').enumerate() {
            match number % 2 {
                1 => words.push(format!("\"{part}\"")),
                _ => words.extend(
                    part.split(|letter: char| !letter.is_alphanumeric() && letter != '_').map(str::to_owned),
                ),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }
}

fn read(file: &Path) -> Vec<String> {
    // A file that can't be read any more defines no macro that could be named.
    let bytes = fieldline_files::read(file).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}
