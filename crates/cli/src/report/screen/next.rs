//! The command to type next.

use super::text::{Rows, columns};

/// Appends a command, broken at its words (and within them where they are too long), ready to be typed.
pub(crate) fn draw(rows: &mut Rows, label: &str, words: &[String]) {
    let width = rows.width.max(24);
    let indent = " ".repeat(columns(label).min(width / 4));
    let mut line = label.to_owned();
    let mut is_first = true;
    let mut drawn = Vec::new();
    for word in words {
        let word = quote(word);
        let gap = if is_first { "" } else { " " };
        // The last columns are for the mark that the command goes on.
        if !is_first && columns(&line) + columns(&word) + gap.len() + 2 > width {
            drawn.push(format!("{line} \\"));
            line = indent.clone();
            line.push_str(&word);
        } else {
            line.push_str(gap);
            line.push_str(&word);
        }
        is_first = false;
        while columns(&line) + 2 > width && !word.starts_with('\'') {
            let end = line.char_indices().nth(width - 1).map_or(line.len(), |(at, _)| at);
            drawn.push(format!("{}\\", &line[..end]));
            line = line.split_off(end);
        }
    }
    drawn.push(line);
    rows.extend(drawn);
}

fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./,+=:@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::color::Palette;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_with_blanks_are_quoted() {
        let quoted = ["layout", "a b", "it's", ""].map(quote);
        assert_eq!(quoted, ["layout", "'a b'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn a_command_goes_on_below() {
        let long = "x".repeat(40);
        let mut rows = Rows::new(30, Palette::new(false));
        draw(&mut rows, "  next: ", &words(&["fieldline", "patch", "--plan", "plan.json", &long]));
        let text = rows.into_text();
        assert!(text.lines().all(|line| line.len() <= 30), "{text}");
        let joined = text.replace("\\\n", "");
        assert!(
            joined.split_whitespace().eq(["next:", "fieldline", "patch", "--plan", "plan.json", &long]),
            "{text}"
        );
    }
}
