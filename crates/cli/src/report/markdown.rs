//! Text in Markdown.

/// Text escaped for a table's cell: names have underscores, types asterisks.
pub(crate) fn escape_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\n' | '\r' => out.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out
}

/// Text escaped for an element of HTML.
pub(crate) fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escape_cell("a_b|c<d>\n*e"), "a\\_b\\|c&lt;d> \\*e");
        assert_eq!(escape_html("</code><img>\n&"), "&lt;/code&gt;&lt;img&gt; &amp;");
    }
}
