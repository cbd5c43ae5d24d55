//! An mbox cut into mails.
//!
//! A line begins a mail only if it looks as git writes and takes it (git, builtin/mailsplit.c, `is_from_line`): prose
//! that begins with "From " doesn't.

/// Fewer characters than this are no first line of a mail in an mbox.
const SHORTEST: usize = 20;

/// The mails of an mbox without their first lines; the whole as one mail if it is no mbox.
pub(crate) fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut mails: Vec<Vec<u8>> = Vec::new();
    let is_mbox = bytes.split(|byte| *byte == b'\n').next().is_some_and(begins_mail);
    if !is_mbox {
        mails.push(Vec::new());
    }
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if is_mbox && begins_mail(line) {
            mails.push(Vec::new());
        } else if let Some(mail) = mails.last_mut() {
            mail.extend_from_slice(without_quote(line, is_mbox));
        }
    }
    mails.retain(|mail| !mail.trim_ascii().is_empty());
    mails
}

/// A line without the mark that mailboxes put before those that begin with "From ".
fn without_quote(line: &[u8], is_mbox: bool) -> &[u8] {
    let marks = line.iter().take_while(|byte| **byte == b'>').count();
    let is_marked = is_mbox && marks > 0 && line.get(marks..).is_some_and(|rest| rest.starts_with(b"From "));
    if is_marked { line.get(1..).unwrap_or_default() } else { line }
}

/// `From`, then anything, then a time `12:34:56` and a year behind it.
fn begins_mail(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ").filter(|_| line.len() >= SHORTEST) else { return false };
    let text = String::from_utf8_lossy(rest);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_time = |word: &str| {
        let mut parts = word.split(':');
        let is_number = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.clone().count() >= 2 && parts.all(is_number)
    };
    let is_year = |word: &str| word.parse::<u32>().is_ok_and(|year| (1970..10000).contains(&year));
    let at = words.iter().position(|word| is_time(word));
    at.is_some_and(|at| words.iter().skip(at + 1).any(|word| is_year(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_does_not_begin_a_mail() {
        let text = "From 0123 Mon Sep 17 00:00:00 2001\nSubject: a\n\nFrom here on all is new.\n>From me\n\n\
                    From git@z Thu Jan  1 00:00:00 1970\nSubject: b\n";
        let mails = split(text.as_bytes());
        assert_eq!(mails.len(), 2);
        let first = String::from_utf8(mails[0].clone()).unwrap();
        assert!(first.contains("\nFrom here on") && first.contains("\nFrom me"), "{first}");
        assert_eq!(mails[1], b"Subject: b\n");
    }

    #[test]
    fn a_file_that_is_no_mbox_is_one_mail() {
        assert_eq!(split(b"Subject: a\n\n>From x\n"), [b"Subject: a\n\n>From x\n".to_vec()]);
        assert_eq!(split(b""), [b""; 0].map(|mail| mail.to_vec()));
    }
}
