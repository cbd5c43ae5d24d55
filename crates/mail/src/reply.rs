//! A mail that answers one: RFC 5322, sections 3.6.2 to 3.6.5, as text of UTF-8.

use crate::mail::PatchMail;
use std::fmt::Write;

/// The first line of a mail in an mbox, with the date by which programs recognise `git format-patch`'s.
const FIRST_LINE: &str = "From fieldline Mon Sep 17 00:00:00 2001";

/// A reply to a mail with a patch.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'r> {
    /// The mail that is answered.
    pub to: &'r PatchMail,
    /// The text.
    pub body: &'r str,
}

impl Reply<'_> {
    /// The reply as a mail of an mbox. It has neither sender nor date: the program that sends it adds them.
    pub fn text(&self) -> String {
        let mut out = format!("{FIRST_LINE}\n");
        let mail = self.to;
        let recipient = mail.reply_to.as_ref().or(mail.from.as_ref());
        let copies: Vec<&str> = [&mail.to, &mail.cc].into_iter().flatten().map(String::as_str).collect();
        let copies = Some(copies.join(", ")).filter(|copies| !copies.is_empty());
        let id = mail.message_id.as_ref().map(|id| format!("<{id}>"));
        let thread = mail.references.iter().map(|id| format!("<{id}>")).chain(id.clone());
        let thread = thread.collect::<Vec<_>>().join("\n ");
        let heads = [
            ("To", recipient.cloned()),
            ("Cc", copies),
            ("Subject", Some(format!("Re: {}", encode(without_reply_mark(&mail.subject))))),
            ("In-Reply-To", id),
            ("References", Some(thread).filter(|thread| !thread.is_empty())),
            ("MIME-Version", Some("1.0".to_owned())),
            ("Content-Type", Some("text/plain; charset=UTF-8".to_owned())),
            ("Content-Transfer-Encoding", Some("8bit".to_owned())),
        ];
        for (name, value) in heads {
            if let Some(value) = value {
                let _ = writeln!(out, "{name}: {value}");
            }
        }
        out.push('\n');
        for line in self.body.lines() {
            // As mboxes mark lines that would begin a mail.
            let mark = if line.trim_start_matches('>').starts_with("From ") { ">" } else { "" };
            let _ = writeln!(out, "{mark}{line}");
        }
        out.push('\n');
        out
    }
}

fn without_reply_mark(subject: &str) -> &str {
    let mark = subject.get(..3).filter(|start| start.eq_ignore_ascii_case("re:"));
    mark.and_then(|mark| subject.get(mark.len()..)).unwrap_or(subject).trim_start()
}

/// A subject as encoded words if it has letters beyond ASCII (RFC 2047, 4.2).
fn encode(text: &str) -> String {
    /// Bytes that an encoded word of at most 75 characters holds, each written as three.
    const MOST: usize = 20;
    if text.is_ascii() {
        return text.to_owned();
    }
    let (mut words, mut word) = (Vec::new(), String::new());
    for letter in text.chars() {
        if word.len() + letter.len_utf8() > MOST {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    let encoded = words.iter().map(|word| {
        let mut out = String::from("=?UTF-8?q?");
        for byte in word.bytes() {
            match byte {
                b' ' => out.push('_'),
                byte if byte.is_ascii_alphanumeric() => out.push(byte.into()),
                byte => {
                    let _ = write!(out, "={byte:02X}");
                }
            }
        }
        out + "?="
    });
    encoded.collect::<Vec<_>>().join("\n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_back_as_one() {
        let mail = PatchMail {
            subject: "[PATCH] gr\u{fc}n: a long subject with many letters, more than one encoded word"
                .to_owned(),
            message_id: Some("1@b".to_owned()),
            references: vec!["0@b".to_owned()],
            from: Some("A <a@b>".to_owned()),
            to: Some("l@b".to_owned()),
            cc: Some("c@b".to_owned()),
            ..PatchMail::default()
        };
        let text = Reply { to: &mail, body: "Hi,\nFrom here on.\n" }.text();
        assert!(text.contains("\n>From here on.\n"), "{text}");
        let read = crate::mailbox::split(text.as_bytes());
        let read = PatchMail::parse(&read[0]).unwrap();
        assert_eq!(read.subject, format!("Re: {}", mail.subject));
        assert_eq!(read.references, ["0@b", "1@b"]);
        assert_eq!((read.to.as_deref(), read.cc.as_deref()), (Some("A <a@b>"), Some("l@b, c@b")));
        assert!(text.lines().all(|line| line.len() < 100), "{text}");
    }
}
