//! Terms: identifiers in the field's words, doc comments that begin with a noun or verb, documents of readable width.

use super::checkout::{Checkout, sources};
use anyhow::{Context, Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::PathBuf;

/// No identifier is one of these.
const BANNED_NAMES: [&str; 6] = ["of", "one", "told", "way", "lot", "look"];

/// No identifier has one of these among its words. docs/GLOSSARY.md and the field have other words for what they meant here.
const BANNED_WORDS: &str = "alike alikes aside asides climber company foreseen foresight hearsay heir heirs house leap \
    leaps lesson lessons lot lots manner meeting noter road seam seams shelf shelves slide slides told trade trades twins \
    vote wholes wish wished wishes";

/// Widest line of a document, in characters.
const MAX_WIDTH: usize = 120;

/// Most terms docs/GLOSSARY.md may have.
const MAX_TERMS: usize = 60;

/// Banned identifiers in all sources, tests included, each with the first line of a file that has it.
pub(super) fn banned_identifiers(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in sources(&checkout.root.join("crates")) {
        let tokens = read_to_string(&path)?.parse::<TokenStream>();
        let tokens = tokens.map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let mut names = BTreeMap::new();
        collect_identifiers(tokens, &mut names);
        let banned = names.into_iter().filter(|(name, _)| is_banned(name));
        found.extend(banned.map(|(name, line)| format!("{}:{line}: {name}", path.display())));
    }
    Ok(found)
}

/// Options that are gone; `--from` is the author of a series only (docs/OPTIONS.md).
const OLD_OPTIONS: [&str; 4] = ["--style", "--cacheline", "--json", "--from"];

/// Lines of README, documents and sources that name an option that is gone. The changelog and the tests that they are
/// refused may.
pub(super) fn old_options(checkout: &Checkout) -> Result<Vec<String>> {
    let mut paths: Vec<PathBuf> = ["README.md", "action.yml"].map(|name| checkout.root.join(name)).into();
    for entry in std::fs::read_dir(checkout.root.join("docs")).context("docs")? {
        paths.push(entry?.path());
    }
    // Pictures are documents, too.
    paths.retain(|path| path.is_file() && path.extension().is_none_or(|extension| extension != "png"));
    paths.extend(sources(&checkout.root.join("crates")));
    paths.retain(|path| !path.ends_with("suite/wrong_use.rs") && !path.ends_with("tidy/terms.rs"));
    let mut found = Vec::new();
    for path in paths {
        for (number, line) in (1..).zip(read_to_string(&path)?.lines()) {
            let old = OLD_OPTIONS.into_iter().find(|option| names_option(line, option));
            if old.is_some_and(|option| option != "--from" || !is_about_series(line)) {
                found.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a line has an option, not a longer one that begins so.
fn names_option(line: &str, option: &str) -> bool {
    line.match_indices(option).any(|(at, _)| {
        let behind = line[at + option.len()..].chars().next();
        !behind.is_some_and(|character| character.is_ascii_alphanumeric() || "-_".contains(character))
    })
}

fn is_about_series(line: &str) -> bool {
    ["series", "From:", "<"].iter().any(|word| line.contains(word))
}

/// Adds each identifier with the first line that has it.
fn collect_identifiers(tokens: TokenStream, names: &mut BTreeMap<String, usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.entry(name.to_string()).or_insert_with(|| name.span().start().line);
            }
            TokenTree::Group(group) => collect_identifiers(group.stream(), names),
            _ => {}
        }
    }
}

fn is_banned(name: &str) -> bool {
    let is_banned_word = |word: &String| BANNED_WORDS.split(' ').any(|banned| banned == word);
    BANNED_NAMES.contains(&name) || words(name).iter().any(is_banned_word)
}

/// The words of a snake_case, CamelCase or UPPER_CASE name, in lower case. An acronym is a word.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let begins_word = |at: usize| {
        let is_after_upper = at > 0 && letters[at - 1].is_uppercase();
        letters[at].is_uppercase()
            && !(is_after_upper && letters.get(at + 1).is_none_or(|next| !next.is_lowercase()))
    };
    let mut split = String::new();
    for (at, letter) in letters.iter().enumerate() {
        split.extend(begins_word(at).then_some('_'));
        split.extend(letter.to_lowercase());
    }
    split.split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Doc comments that begin with "What": a noun or verb is clearer.
pub(super) fn doc_questions(checkout: &Checkout) -> Result<Vec<String>> {
    find_lines(sources(&checkout.root.join("crates")), is_question)
}

fn is_question(line: &str) -> bool {
    ["/// What ", "//! What "].iter().any(|question| line.trim_start().starts_with(question))
}

/// Lines of the documents that are too wide.
pub(super) fn wide_documents(checkout: &Checkout) -> Result<Vec<String>> {
    let mut documents = Vec::new();
    for folder in ["", "docs", "docs/rules", "docs/findings"] {
        let folder = checkout.root.join(folder);
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let paths = entries.flatten().map(|entry| entry.path());
        documents.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    documents.sort();
    find_lines(documents, |line| line.chars().count() > MAX_WIDTH)
}

fn find_lines(paths: Vec<PathBuf>, is_meant: fn(&str) -> bool) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in paths {
        let text = read_to_string(&path)?;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| is_meant(line));
        found.extend(lines.map(|(number, line)| format!("{}:{number}: {}", path.display(), line.trim())));
    }
    Ok(found)
}

/// Terms of the glossary without a meaning or a source, and terms beyond the most it may have.
pub(super) fn unsourced_terms(checkout: &Checkout) -> Result<Vec<String>> {
    Ok(glossary_faults(&read_to_string(checkout.root.join("docs/GLOSSARY.md"))?))
}

fn glossary_faults(glossary: &str) -> Vec<String> {
    let rows = glossary.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter(|line| !line.starts_with("| ---") && !line.starts_with("| term "));
    let is_full = |row: &&str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        cells.len() == 3 && !cells.contains(&"")
    };
    let unsourced = rows.clone().filter(|row| !is_full(row));
    let mut found: Vec<String> =
        unsourced.map(|row| format!("docs/GLOSSARY.md: {row}: lacks a meaning or a source")).collect();
    let terms = rows.count();
    found.extend(
        (terms > MAX_TERMS).then(|| format!("docs/GLOSSARY.md: {terms} terms, more than {MAX_TERMS}")),
    );
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("as_told"), ["as", "told"]);
        assert_eq!(words("LineWish"), ["line", "wish"]);
        assert_eq!(words("AGAIN_LOT"), ["again", "lot"]);
        assert_eq!(words("DSOLot_x86Slide"), ["dso", "lot", "x86", "slide"]);
        assert_eq!(words("_a__b"), ["a", "b"]);
    }

    #[test]
    fn banned_names_are_found_whole_or_as_a_part() {
        assert!(is_banned("of") && is_banned("told") && is_banned("LineWish") && is_banned("SEAM_SHARE"));
        for name in ["offset", "slot", "lookup", "size_of", "fold", "tradeoff", "straight_line", "one_line"] {
            assert!(!is_banned(name), "{name}");
        }
    }

    #[test]
    fn identifiers_are_collected_from_groups_but_not_from_comments_and_strings() {
        let text = "/// Of lots.\nfn f() {\n    g!(slide, \"seam\"); // shelf\n    slide\n}";
        let mut names = BTreeMap::new();
        collect_identifiers(text.parse().unwrap(), &mut names);
        let expected = [("doc", 1), ("f", 2), ("fn", 2), ("g", 3), ("slide", 3)];
        assert_eq!(Vec::from_iter(names), expected.map(|(name, line)| (name.to_owned(), line)));
    }

    #[test]
    fn doc_comments_that_ask_are_found_and_others_are_not() {
        assert!(is_question("    /// What a load reads.") && is_question("//! What it does."));
        assert!(
            !is_question("// What stays.")
                && !is_question("/// Whatever it reads.")
                && !is_question("What is")
        );
    }

    #[test]
    fn terms_need_a_meaning_and_a_source() {
        let glossary =
            "| term | meaning | source |\n| --- | --- | --- |\n| hole | unused bytes | pahole |\n| run | |\n";
        assert_eq!(glossary_faults(glossary), ["docs/GLOSSARY.md: | run | |: lacks a meaning or a source"]);
        let many = "| hole | unused bytes | pahole |\n".repeat(MAX_TERMS + 1);
        assert_eq!(glossary_faults(&many), ["docs/GLOSSARY.md: 61 terms, more than 60"]);
    }
}
