//! The macros that align a group on some machines only, where a tree lacks them.

use crate::header::Header;
use anyhow::{Context, Result};
use fieldline_source::scan::{Directive, TokenKind};
use fieldline_source::{Edit, Edits, SourceText};
use std::path::Path;

const CACHE: &str = "include/linux/cache.h";
const CHECKPATCH: &str = "scripts/checkpatch.pl";
/// Where releases keep what kernel-doc leaves out of structs.
const KERNEL_DOC: [&str; 3] = [
    "tools/lib/python/kdoc/xforms_lists.py",
    "tools/lib/python/kdoc/kdoc_parser.py",
    "scripts/lib/kdoc/kdoc_parser.py",
];
/// The script of releases before those.
const KERNEL_DOC_SCRIPT: &str = "scripts/kernel-doc";
const NAME: &str = "__cacheline_group_begin_aligned_cond";
/// Behind which macro they go, the first that is there.
const BEHIND: [&str; 2] = ["__cacheline_group_end_aligned", "__cacheline_group_begin_aligned"];

/// The text added to include/linux/cache.h. With other line sizes both markers are those without alignment.
const MACROS: &str = "
/**
 * __cacheline_group_begin_aligned_cond - start a group aligned on some machines
 * @GROUP: name of the group
 * @COND: cacheline size in bytes that the group is made for
 *
 * Where ``SMP_CACHE_BYTES`` equals @COND, the group begins on a cacheline, as
 * with __cacheline_group_begin_aligned(). On all other machines it begins where
 * the member before it ends, as with __cacheline_group_begin(), so that longer
 * cachelines don't make the struct grow.
 */
#define __cacheline_group_begin_aligned_cond(GROUP, COND)	\\
	__cacheline_group_begin(GROUP)				\\
	__aligned((COND) == SMP_CACHE_BYTES ? SMP_CACHE_BYTES : 1)

/**
 * __cacheline_group_end_aligned_cond - end a group aligned on some machines
 * @GROUP: name of the group
 * @COND: same as was in __cacheline_group_begin_aligned_cond()
 *
 * Where ``SMP_CACHE_BYTES`` equals @COND, no member behind the group shares its
 * last cacheline, as with __cacheline_group_end_aligned(). On all other machines
 * nothing is padded.
 */
#define __cacheline_group_end_aligned_cond(GROUP, COND)		\\
	__cacheline_group_end(GROUP);				\\
	struct { } __cacheline_group_pad__##GROUP		\\
	__aligned((COND) == SMP_CACHE_BYTES ? SMP_CACHE_BYTES : 1)
";

/// Additions that a tree needs to use them, file by file.
pub fn find_missing(tree: &Path) -> Result<Vec<(Header, Edits)>> {
    let mut found = Vec::new();
    let cache = read(tree, CACHE)?.with_context(|| tree.join(CACHE).display().to_string())?;
    found.extend(add_macros(&cache.text).map(|edits| (cache, edits)));
    if let Some(script) = read(tree, CHECKPATCH)? {
        found.extend(add_to_checkpatch(&script.text).map(|edits| (script, edits)));
    }
    if let Some(script) = read(tree, KERNEL_DOC_SCRIPT)? {
        found.extend(add_to_kernel_doc_script(&script.text).map(|edits| (script, edits)));
    }
    for path in KERNEL_DOC {
        let Some(list) = read(tree, path)? else { continue };
        found.extend(add_to_kernel_doc(&list.text).map(|edits| (list, edits)));
    }
    Ok(found)
}

fn read(tree: &Path, path: &str) -> Result<Option<Header>> {
    match fieldline_files::read(&tree.join(path)) {
        Ok(text) => Ok(Some(Header { path: path.to_owned(), text })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| tree.join(path).display().to_string()),
    }
}

/// The macros behind those they resemble, else before the last preprocessor line.
fn add_macros(text: &[u8]) -> Option<Edits> {
    let source = SourceText::new(text);
    let defined = |name: &str| {
        let is_it = |at: &usize| source.directive(*at) == Some(Directive::Define(name.to_owned()));
        (0..source.tokens().len()).find(is_it)
    };
    if defined(NAME).is_some() {
        return None;
    }
    let behind = BEHIND.iter().find_map(|name| defined(name)).and_then(|at| source.token(at));
    let lines = source.lines();
    let at = match behind {
        Some(token) => lines.start(lines.index(token.end.saturating_sub(1)) + 1),
        None => {
            let mut all = source.tokens().iter().rev();
            let last = all.find(|token| token.kind == TokenKind::Directive);
            lines.start(lines.index(last?.start))
        }
    };
    let gap = if behind.is_some() { "" } else { "\n" };
    Some(insertion(at..at, &format!("{MACROS}{gap}")))
}

/// The rule by which checkpatch takes them for declarations: a name in an existing rule, or an own rule.
fn add_to_checkpatch(text: &[u8]) -> Option<Edits> {
    const RULE: &str = "__cacheline_group_(?:begin|end)(?:_aligned";
    const LIST: &[u8] = b"our $declaration_macros = qr{(?x:\n";
    if let Some(at) = memchr::memmem::find(text, RULE.as_bytes()) {
        let end = at + RULE.len();
        return text.get(end..)?.starts_with(b")?").then(|| insertion(end..end, "(?:_cond)?"));
    }
    let list = memchr::memmem::find(text, LIST)? + LIST.len();
    let end = list + memchr::memmem::find(text.get(list..)?, b"\n)}")?;
    Some(insertion(end..end, &format!("|\n\t{RULE}(?:_cond)?)?\\s*\\(")))
}

/// The expression by which kernel-doc leaves them out of structs: names with more behind them too.
fn add_to_kernel_doc(text: &[u8]) -> Option<Edits> {
    // As an expression of its own, and as the name of a macro whose arguments the script finds.
    const RULES: [&str; 2] = [r"__cacheline_group_(begin|end)\(", r#"__cacheline_group_(?:begin|end)")"#];
    let found = |rule: &&str| Some(memchr::memmem::find(text, rule.as_bytes())? + rule.len() - 2);
    let at = RULES.iter().find_map(found)?;
    Some(insertion(at..at, "(?:_aligned(?:_cond)?)?"))
}

/// The same in the script: it takes what stands behind a comma for a member.
fn add_to_kernel_doc_script(text: &[u8]) -> Option<Edits> {
    const BEHIND: &[u8] = br"$members =~ s/\s*____cacheline_aligned/ /gos;";
    const RULE: &str =
        r"$members =~ s/\s*__cacheline_group_(?:begin|end)(?:_aligned(?:_cond)?)?\s*\([^;]*;//gos;";
    if memchr::memmem::find(text, b"s/\\s*__cacheline_group_").is_some() {
        return None;
    }
    let at = memchr::memmem::find(text, BEHIND)?;
    let line = text.get(..at)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let indent = String::from_utf8_lossy(text.get(line..at)?).into_owned();
    let end = at + BEHIND.len();
    Some(insertion(end..end, &format!("\n{indent}{RULE}")))
}

fn insertion(range: std::ops::Range<usize>, replacement: &str) -> Edits {
    Edit { range, replacement: replacement.as_bytes().to_vec() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(edits: Option<Edits>, text: &str) -> String {
        String::from_utf8(edits.unwrap().apply(text.as_bytes())).unwrap()
    }

    #[test]
    fn macros_follow_those_they_resemble_and_come_once() {
        let text = "#ifndef C\n#define __cacheline_group_begin_aligned(G, ...) \\\n\tx\n\n#define __cacheline_group_end_aligned(G, ...) \\\n\ty\n\n\
                    #define OTHER\n#endif\n";
        let new = applied(add_macros(text.as_bytes()), text);
        assert_eq!(new, text.replace("\ty\n", &format!("\ty\n{MACROS}")));
        assert_eq!(add_macros(new.as_bytes()), None);
        let old = "#ifndef C\n#define C\nint x;\n#endif\n";
        let new = applied(add_macros(old.as_bytes()), old);
        assert_eq!(new, format!("#ifndef C\n#define C\nint x;\n{MACROS}\n#endif\n"));
    }

    #[test]
    fn scripts_learn_the_names_once() {
        let with = "\t__cacheline_group_(?:begin|end)(?:_aligned)?\\s*\\(|\n";
        let new = applied(add_to_checkpatch(with.as_bytes()), with);
        assert_eq!(new, "\t__cacheline_group_(?:begin|end)(?:_aligned(?:_cond)?)?\\s*\\(|\n");
        assert_eq!(add_to_checkpatch(new.as_bytes()), None);
        let without = "our $declaration_macros = qr{(?x:\n\tA\\s*\\(|\n\tB\\s*\\(\n)};\n";
        let new = applied(add_to_checkpatch(without.as_bytes()), without);
        let rule = "\t__cacheline_group_(?:begin|end)(?:_aligned(?:_cond)?)?\\s*\\(";
        assert_eq!(
            new,
            format!("our $declaration_macros = qr{{(?x:\n\tA\\s*\\(|\n\tB\\s*\\(|\n{rule}\n)}};\n")
        );
        assert_eq!(add_to_checkpatch(new.as_bytes()), None);
        let list = "(KernRe(r'\\s*__cacheline_group_(begin|end)\\([^\\)]+\\);'), ''),\n";
        let new = applied(add_to_kernel_doc(list.as_bytes()), list);
        assert!(new.contains("(begin|end)(?:_aligned(?:_cond)?)?\\("), "{new}");
        assert_eq!(add_to_kernel_doc(new.as_bytes()), None);
        let named = "(CMatch(\"__cacheline_group_(?:begin|end)\"), \"\"),\n";
        let new = applied(add_to_kernel_doc(named.as_bytes()), named);
        assert!(new.contains("(?:begin|end)(?:_aligned(?:_cond)?)?\")"), "{new}");
        assert_eq!(add_to_kernel_doc(new.as_bytes()), None);
        let script = "\t$members =~ s/\\s*____cacheline_aligned/ /gos;\n\tx;\n";
        let new = applied(add_to_kernel_doc_script(script.as_bytes()), script);
        assert!(new.contains("/gos;\n\t$members =~ s/\\s*__cacheline_group_(?:begin|end)"), "{new}");
        assert_eq!((new.lines().count(), add_to_kernel_doc_script(new.as_bytes())), (3, None));
    }
}
