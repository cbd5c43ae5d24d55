//! Response files: `@FILE` among the words of a command stands for the words in that file.

use crate::error::Error;
use crate::records::absolute;
use std::path::Path;

/// Most files within files, as in gcc.
const MOST_DEPTH: usize = 20;
/// Most words of one command.
const MOST_WORDS: usize = 1 << 20;

/// The words of a command with those of its response files, which are named from its folder. Fails if one can't be read;
/// a word whose file is missing stays, as compilers have it.
pub(super) fn expand(directory: &Path, words: Vec<String>) -> Result<Vec<String>, Error> {
    let mut expanded = Vec::with_capacity(words.len());
    add(directory, words, 0, &mut expanded)?;
    Ok(expanded)
}

fn add(directory: &Path, words: Vec<String>, depth: usize, into: &mut Vec<String>) -> Result<(), Error> {
    for word in words {
        let file = word.strip_prefix('@').map(|name| absolute(directory, Path::new(name)));
        let Some(file) = file.filter(|file| fieldline_files::is_there(file)) else {
            into.push(word);
            continue;
        };
        let bytes = fieldline_files::read(&file).map_err(Error::input(&file))?;
        let more = split(&String::from_utf8_lossy(&bytes));
        if depth >= MOST_DEPTH || into.len() + more.len() > MOST_WORDS {
            let message = "response files within response files, without end".to_owned();
            return Err(Error::Content { file, message });
        }
        add(directory, more, depth + 1, into)?;
    }
    Ok(())
}

/// Words as gcc splits them (`buildargv` of libiberty): blanks part them, quotes of both kinds and backslashes protect.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', _) => word.get_or_insert_default().extend(letters.next()),
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (blank, None) if blank.is_ascii_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_within_files_are_words_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "-DA='b c' \"-DQ=\\\"\"\n@inner -O2\n").unwrap();
        std::fs::write(folder.path().join("inner"), "-save-temps ''").unwrap();
        std::fs::write(folder.path().join("self"), "@self").unwrap();
        let words = |text: &[&str]| text.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let expanded = expand(folder.path(), words(&["cc", "@a", "@none", "x.c"])).unwrap();
        assert_eq!(expanded, words(&["cc", "-DA=b c", "-DQ=\"", "-save-temps", "", "-O2", "@none", "x.c"]));
        assert!(expand(folder.path(), words(&["@self"])).is_err());
    }
}
