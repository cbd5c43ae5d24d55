//! Files in assembler: what they name knows a struct by its bytes.

use super::texts::{Texts, is_assembler};
use fieldline_frontend::{CodeUse, Demands};
use fieldline_source::declared::words;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Uses of structs whose objects assembler is given, by the functions in it that are handed their addresses and by the
/// variables that it names.
pub(super) fn assembled(demanded: &Demands, texts: &Texts) -> Vec<CodeUse> {
    let mut found = Vec::new();
    let mut add = |uses: Option<&Vec<CodeUse>>, why: &str| {
        let uses = uses.into_iter().flatten();
        found.extend(uses.map(|used| CodeUse { why: why.to_owned(), ..used.clone() }));
    };
    let handed = demanded.given.keys().chain(demanded.handed.keys());
    let functions: BTreeSet<&str> = handed.map(String::as_str).collect();
    for (function, file) in named(texts, &functions, is_entry) {
        let why = format!("its address is handed to {function}, in assembler ({})", file.display());
        add(demanded.given.get(&function), &why);
        add(demanded.handed.get(&function), &why);
    }
    let variables: BTreeSet<&str> = demanded.variables.keys().map(String::as_str).collect();
    for (variable, file) in named(texts, &variables, |_| true) {
        let why = format!("assembler code knows {variable} by its name ({})", file.display());
        add(demanded.variables.get(&variable), &why);
    }
    found
}

/// The names that files in assembler say in lines of a kind, each with a file.
///
/// A label alone is seen by no other file: boot code has a `die:` that is not the kernel's `die()`.
fn named<'t>(
    texts: &'t Texts,
    names: &BTreeSet<&str>,
    is_asked: impl Fn(&[u8]) -> bool,
) -> BTreeMap<String, &'t Path> {
    let mut found = BTreeMap::new();
    for (path, file) in texts.files.iter().filter(|(path, _)| is_assembler(path)) {
        let lines = file.text.split(|byte| *byte == b'\n').map(code_of);
        for line in lines.filter(|line| is_asked(line) && !is_label(line)) {
            let said = words(line).filter_map(|word| std::str::from_utf8(word).ok());
            for word in said.filter(|word| names.contains(word)) {
                found.insert(word.to_owned(), path.as_path());
            }
        }
    }
    found
}

/// A line without the comment at its end. Lines inside longer comments begin with a star.
fn code_of(line: &[u8]) -> &[u8] {
    if line.trim_ascii_start().starts_with(b"*") {
        return b"";
    }
    let end = |mark: &[u8]| line.windows(mark.len()).position(|at| at == mark);
    let end = [&b"//"[..], b"/*", b"#"].into_iter().filter_map(end).min();
    line.get(..end.unwrap_or(line.len())).unwrap_or(line)
}

/// `name:`
fn is_label(line: &[u8]) -> bool {
    line.trim_ascii().ends_with(b":")
}

/// `SYM_FUNC_START(name)`, `ENTRY(name)`, `.globl name`, `global name`, `FUNCTION name`: a macro's name is in capitals.
fn is_entry(line: &[u8]) -> bool {
    let Some(first) = words(line).next().filter(|first| !first.starts_with(b"SYM_FUNC_START_LOCAL")) else {
        return false;
    };
    let is_macro = first.len() > 1 && !first.iter().any(u8::is_ascii_lowercase);
    is_macro || first.ends_with(b"globl") || first.ends_with(b"global")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_nothing() {
        for (line, expected) in [
            ("\tmovq stat@gottpoff(%rip), %rax", "\tmovq stat@gottpoff(%rip), %rax"),
            ("\tret # stat", "\tret "),
            ("\tret // stat", "\tret "),
            ("\tret /* stat */", "\tret "),
            (" * stat", ""),
        ] {
            assert_eq!(code_of(line.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn labels_are_entries_if_others_see_them() {
        for (line, expected) in [
            ("\t.globl die", true),
            ("SYM_FUNC_START(die)", true),
            ("GLOBAL(die)", true),
            ("cglobal die, 4, 4", true),
            ("die:", false),
            ("\tcall\tdie", false),
            ("SYM_FUNC_START_LOCAL(die)", false),
        ] {
            assert_eq!(is_entry(line.as_bytes()), expected, "{line}");
        }
    }
}
