//! Terms: names that say nothing, doc comments that begin with a question, documents too wide to read.

use super::checkout::{Checkout, sources};
use anyhow::Result;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// No identifier is one of these.
const WHOLE: [&str; 6] = ["of", "one", "told", "way", "lot", "look"];

/// No identifier has one of these among its words.
const PARTS: [&str; 9] = ["told", "lot", "aside", "alike", "wish", "wishes", "shelf", "foresight", "slides"];

/// Widest line of a document, in characters.
const WIDTH: usize = 120;

/// Most terms docs/GLOSSARY.md may have.
const TERMS: usize = 60;

/// Identifiers of all sources, tests included, that docs/GLOSSARY.md's words replace.
pub(super) fn banned_identifiers(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in sources(&checkout.root.join("crates")) {
        let text = std::fs::read_to_string(&path)?;
        let tokens: TokenStream =
            text.parse().map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        let mut names = BTreeMap::new();
        collect(tokens, &mut names);
        let banned = names.into_iter().filter(|(name, _)| is_banned(name));
        found.extend(banned.map(|(name, line)| format!("{}:{line}: {name}", path.display())));
    }
    Ok(found)
}

/// Notes each identifier with the first line that has it.
fn collect(tokens: TokenStream, names: &mut BTreeMap<String, usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.entry(name.to_string()).or_insert_with(|| name.span().start().line);
            }
            TokenTree::Group(group) => collect(group.stream(), names),
            _ => {}
        }
    }
}

fn is_banned(name: &str) -> bool {
    WHOLE.contains(&name) || words(name).iter().any(|word| PARTS.contains(&word.as_str()))
}

/// The words of a snake_case, CamelCase or UPPER_CASE name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut follows_lower = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && follows_lower) {
            words.push(String::new());
        }
        follows_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Doc comments that begin with "What": a noun says it sooner.
pub(super) fn doc_questions(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in sources(&checkout.root.join("crates")) {
        let text = std::fs::read_to_string(&path)?;
        let lines = (1..).zip(text.lines().map(str::trim_start));
        let questions =
            lines.filter(|(_, line)| line.starts_with("/// What ") || line.starts_with("//! What "));
        found.extend(questions.map(|(number, line)| format!("{}:{number}: {line}", path.display())));
    }
    Ok(found)
}

/// Lines of the documents that are wider than a reader's window.
pub(super) fn wide_documents(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in markdown(checkout)? {
        let text = std::fs::read_to_string(&path)?;
        let wide = (1..).zip(text.lines()).filter(|(_, line)| line.chars().count() > WIDTH);
        found.extend(wide.map(|(number, _)| format!("{}:{number}: wider than {WIDTH}", path.display())));
    }
    Ok(found)
}

/// The documents that people read: those at the top, and those below `docs`.
fn markdown(checkout: &Checkout) -> Result<Vec<PathBuf>> {
    let folders = ["", "docs", "docs/rules"].map(|folder| checkout.root.join(folder));
    let mut found = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            found.extend(path.extension().is_some_and(|extension| extension == "md").then_some(path));
        }
    }
    found.sort();
    Ok(found)
}

/// A glossary of few terms, each with a meaning and a source.
pub(super) fn unsourced_terms(checkout: &Checkout) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(checkout.root.join("docs/GLOSSARY.md"))?;
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let terms: Vec<Vec<&str>> = rows
        .map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .filter(|cells: &Vec<&str>| cells.first() != Some(&"term"))
        .collect();
    let mut found: Vec<String> = terms
        .iter()
        .filter(|cells| cells.len() != 3 || cells.iter().any(|cell| cell.is_empty()))
        .map(|cells| format!("docs/GLOSSARY.md: {}: wants a meaning and a source", cells.join(" ")))
        .collect();
    if terms.len() > TERMS {
        found.push(format!("docs/GLOSSARY.md: {} terms, more than {TERMS}", terms.len()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("as_told"), ["as", "told"]);
        assert_eq!(words("LineWish"), ["line", "wish"]);
        assert_eq!(words("AGAIN_LOT"), ["again", "lot"]);
    }

    #[test]
    fn banned_names_are_found_whole_or_as_a_part() {
        assert!(is_banned("of") && is_banned("told") && is_banned("LineWish"));
        assert!(!is_banned("offset") && !is_banned("slot") && !is_banned("lookup") && !is_banned("size_of"));
    }
}
