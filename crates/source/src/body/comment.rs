//! Comments about the layout, and comments of kernel-doc.

/// Most words a comment about the layout itself has.
const LAYOUT_WORDS: usize = 12;

/// Words such comments are made of, besides numbers.
const FILLERS: &str = "\
    a ago align alignment bit bits boundary byte bytes cache cacheline ends for here hole holes is line \
    of on pack padding pad remaining starts there to try was xxx 64bit 32bit";

/// The lower-case words of a comment, its marks left out.
pub(crate) fn words(comment: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(comment).to_lowercase();
    let is_gap = |c: char| !(c.is_alphanumeric() || c == '_' || c == '\'');
    text.split(is_gap).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a comment says where a hole or cacheline is and nothing else, as `/* 3 bytes hole, try to pack */`
/// or `/* --- cacheline 1 boundary (64 bytes) --- */`.
pub(crate) fn is_layout_comment(comment: &[u8]) -> bool {
    let words = words(comment);
    let has_number = words.iter().any(|word| is_number(word));
    let names_layout = words.iter().any(|word| matches!(word.as_str(), "hole" | "holes"))
        || (has_number && words.iter().any(|word| word == "padding"))
        || names_line(&words);
    let is_filler = |word: &String| FILLERS.split(' ').any(|filler| filler == word) || is_number(word);
    names_layout && words.len() <= LAYOUT_WORDS && words.iter().all(is_filler)
}

/// Whether a comment about the layout numbers a cacheline: anything moved before it makes it wrong.
pub(crate) fn names_cacheline(comment: &[u8]) -> bool {
    names_line(&words(comment))
}

fn names_line(words: &[String]) -> bool {
    let first: Vec<&str> = words.iter().take(2).map(String::as_str).collect();
    let is_named = matches!(first.as_slice(), ["cacheline", ..] | ["cache", "line"]);
    is_named && words.iter().any(|word| is_number(word))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a comment switches between documented and undocumented members
/// (Documentation/doc-guide/kernel-doc.rst).
pub(crate) fn is_section(comment: &[u8]) -> bool {
    let inner = String::from_utf8_lossy(comment);
    let inner = inner.trim_start_matches(['/', '*', ' ', '\t']);
    inner.starts_with("private:") || inner.starts_with("public:")
}

/// Words that no sentence ends with.
const UNFINISHED: &str = "\
    a an and are as at be because but by for from has have if in into is must nor not of on or should than that the \
    their these this to when where which while whose with";

/// Whether a comment is the rest of another: that one breaks off, and this one doesn't begin anew.
pub(crate) fn goes_on_in(first: &[u8], second: &[u8]) -> bool {
    let [first, second] = [first, second].map(|text| String::from_utf8_lossy(text).into_owned());
    let is_mark = |c: char| matches!(c, '/' | '*') || c.is_whitespace();
    let (first, second) = (first.trim_matches(is_mark), second.trim_matches(is_mark));
    let last = first.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let is_open = first.matches('(').count() > first.matches(')').count();
    let breaks_off =
        is_open || first.ends_with(',') || UNFINISHED.split_whitespace().any(|word| word == last);
    breaks_off && second.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit() || c == ')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_comments_about_the_layout() {
        for comment in [
            "/* hole */",
            "/* XXX 3 bytes hole, try to pack */",
            "/* 4 bytes hole */",
            "// 2 byte hole here",
            "/* --- cacheline 1 boundary (64 bytes) was 8 bytes ago --- */",
            "/* cacheline 2 */",
            "/* Cache line 1 */",
            "/* 7 bytes padding */",
        ] {
            assert!(is_layout_comment(comment.as_bytes()), "{comment}");
        }
    }

    #[test]
    fn knows_comments_that_go_on() {
        for (first, second, goes_on) in [
            ("/* locks taken before the */", "/* list is walked */", true),
            ("// held by readers,", "// and by writers", true),
            ("// count (of pages", "// in use)", true),
            ("/* number of pages */", "/* number of locks */", false),
            ("/* the size of */", "/* Another thing */", false),
            ("", "", false),
        ] {
            assert_eq!(goes_on_in(first.as_bytes(), second.as_bytes()), goes_on, "{first} {second}");
        }
    }

    #[test]
    fn leaves_other_comments_alone() {
        for comment in [
            "/* hole punching state */",
            "/* number of holes in the file */",
            "/* cacheline used by the fast path */",
            "/* 64 */",
            "/* padding */",
            "/* For load-balancing: */",
        ] {
            assert!(!is_layout_comment(comment.as_bytes()), "{comment}");
        }
    }
}
