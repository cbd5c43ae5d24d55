//! JSON inside of a script element.

use anyhow::Result;
use serde::Serialize;

/// JSON that neither ends the element it stands in nor begins a comment there: what HTML gives a meaning is escaped as
/// JSON does it (HTML standard, 4.12.1.3).
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value)?;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            // Line ends of JavaScript, though not of JSON.
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_it_is_html() {
        let value = ["</script><script>alert(1)</script>", "<!--", "a&lt;b", "\u{2028}"];
        let text = json(&value).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), value);
    }
}
