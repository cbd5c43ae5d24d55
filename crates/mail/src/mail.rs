//! One mail: what a reply needs of its head, and its diff.

use mail_parser::{HeaderName, Message, MessageParser, PartType};

/// A mail with a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchMail {
    /// The subject, decoded, on one line.
    pub subject: String,
    /// The number in its brackets, and how many patches there are: `[PATCH 2/5]`.
    pub number: Option<(usize, usize)>,
    /// The version in its brackets, 1 if there is none: `[PATCH v3]`.
    pub version: usize,
    /// The mail's identity, without angle brackets.
    pub message_id: Option<String>,
    /// The mails it follows, the first of the thread first, without angle brackets.
    pub references: Vec<String>,
    /// Who wrote it, as in the head (names beyond ASCII are encoded).
    pub from: Option<String>,
    /// Who gets answers, if that is another one.
    pub reply_to: Option<String>,
    /// Whom it was sent to.
    pub to: Option<String>,
    /// Who got copies.
    pub cc: Option<String>,
    /// The author's name, decoded.
    pub author: Option<String>,
    /// The diff, with line feeds alone as line ends; empty if there is none.
    pub diff: Vec<u8>,
}

impl PatchMail {
    /// Reads a mail. `None` if it has no head.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let message = MessageParser::new().parse(bytes)?;
        let subject = one_line(message.subject().unwrap_or_default());
        let (number, version) = parse_brackets(&subject);
        let raw = |name: HeaderName<'static>| {
            let text = one_line(message.header_raw(name)?);
            (!text.is_empty()).then_some(text)
        };
        let author = message.from().and_then(|from| from.first());
        let author = author.and_then(|author| author.name().or(author.address()));
        Some(Self {
            number,
            version,
            message_id: message.message_id().map(one_line),
            references: references(&message),
            from: raw(HeaderName::From),
            reply_to: raw(HeaderName::ReplyTo),
            to: raw(HeaderName::To),
            cc: raw(HeaderName::Cc),
            author: author.map(one_line),
            diff: diff(&message),
            subject,
        })
    }

    /// Whether its subject says that it answers another mail.
    pub(crate) fn is_reply(&self) -> bool {
        let start = self.subject.get(..3).unwrap_or_default();
        start.eq_ignore_ascii_case("re:")
    }
}

/// Text without line ends and other control characters, each run of blanks as one.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The mails that one follows: References, else In-Reply-To.
fn references(message: &Message<'_>) -> Vec<String> {
    let named = [message.references(), message.in_reply_to()];
    let lists = named.into_iter().filter_map(|value| value.as_text_list());
    let first = lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default();
    first.iter().map(|id| one_line(id)).collect()
}

/// Number and version in a subject's brackets.
fn parse_brackets(subject: &str) -> (Option<(usize, usize)>, usize) {
    let (mut number, mut version) = (None, 1);
    let mut rest = subject;
    while let Some((_, inner)) = rest.split_once('[') {
        let Some((words, behind)) = inner.split_once(']') else { break };
        for word in words.split([' ', ',']) {
            if let Some((this, all)) = word.split_once('/')
                && let (Ok(this), Ok(all)) = (this.parse(), all.parse())
            {
                number = number.or(Some((this, all)));
            }
            let digits = word.strip_prefix(['v', 'V']);
            version = digits.and_then(|digits| digits.parse().ok()).unwrap_or(version);
        }
        rest = behind;
    }
    (number, version)
}

/// The diff of a mail: all its texts and attached patches from the first line of a diff on.
fn diff(message: &Message<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in &message.parts {
        let bytes = match &part.body {
            PartType::Text(text) => text.as_bytes(),
            PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes,
            _ => continue,
        };
        let text = with_line_feeds(bytes);
        if let Some(start) = diff_start(&text) {
            out.extend_from_slice(text.get(start..).unwrap_or_default());
            if out.last().is_some_and(|last| *last != b'\n') {
                out.push(b'\n');
            }
        }
    }
    out
}

/// CR LF as LF, as `git am` reads mails.
fn with_line_feeds(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                out.extend_from_slice(text);
                out.push(b'\n');
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Where a text's diff begins: `diff --git`, or `--- ` with `+++ ` on the next line.
fn diff_start(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).copied().unwrap_or_default();
        if line.starts_with(b"diff --git ") || line.starts_with(b"--- ") && next.starts_with(b"+++ ") {
            return Some(at);
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/x.h b/x.h\n--- a/x.h\n+++ b/x.h\n@@ -1 +1,2 @@\n int x;\n+int \u{e9};\n";

    fn parse(text: &str) -> PatchMail {
        PatchMail::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn encoded_bodies_are_decoded() {
        let quoted = "Subject: a\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: \
                      quoted-printable\n\nWhy=\n.\n---\ndiff --git a/x.h b/x.h\n--- a/x.h\n+++ b/x.h\n@@ -1 +1,2 @@\n \
                      int x;\n+int =C3=A9;\n";
        assert_eq!(String::from_utf8(parse(quoted).diff).unwrap(), DIFF);
        let base64 = "Subject: a\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: base64\r\n\
                      \r\nV2h5LgotLS0KZGlmZiAtLWdpdCBhL3guaCBiL3guaAotLS0gYS94LmgKKysrIGIveC5oCkBAIC0x\r\n\
                      ICsxLDIgQEAKIGludCB4OworaW50IMOpOwo=\r\n";
        assert_eq!(String::from_utf8(parse(base64).diff).unwrap(), DIFF);
        let latin = [
            &b"Subject: a\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n\n\
               diff --git a/x.h b/x.h\n--- a/x.h\n+++ b/x.h\n@@ -1 +1,2 @@\n int x;\n+int "[..],
            b"\xe9;\n",
        ];
        assert_eq!(String::from_utf8(PatchMail::parse(&latin.concat()).unwrap().diff).unwrap(), DIFF);
    }

    #[test]
    fn attached_patches_are_found_and_other_parts_left_out() {
        let text = format!(
            "Subject: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"zz\"\n\n--zz\nContent-Type: \
             text/plain\n\nSee the patch.\n--zz\nContent-Type: text/html\n\n<p>diff --git a/y b/y</p>\n--zz\n\
             Content-Type: text/x-patch; charset=utf-8\nContent-Disposition: attachment; \
             filename=\"a.patch\"\n\n{DIFF}\n--zz--\n"
        );
        let found = String::from_utf8(parse(&text).diff).unwrap();
        assert_eq!(found.trim_end(), DIFF.trim_end());
    }

    #[test]
    fn heads_say_what_replies_need() {
        let text = "From: =?UTF-8?q?Zo=C3=AB?= <z@b>\nTo: l@v,\n\tm@w\nCc: c@d\nSubject: [RFC PATCH net-next v3\n 02/10] a:\n \
                    B\nMessage-Id: <1@b>\nReferences: <0@b>\n <r@b>\nIn-Reply-To: <r@b>\n\ntext\n";
        let mail = parse(text);
        assert_eq!(mail.subject, "[RFC PATCH net-next v3 02/10] a: B");
        assert_eq!((mail.number, mail.version), (Some((2, 10)), 3));
        assert_eq!(mail.from.as_deref(), Some("=?UTF-8?q?Zo=C3=AB?= <z@b>"));
        assert_eq!(mail.author.as_deref(), Some("Zo\u{eb}"));
        assert_eq!(mail.to.as_deref(), Some("l@v, m@w"));
        assert_eq!(mail.references, ["0@b", "r@b"]);
        assert_eq!(mail.message_id.as_deref(), Some("1@b"));
        assert!(mail.diff.is_empty() && !mail.is_reply());
    }
}
