//! Which mails of a mailbox are the patches to apply, in which order.

use crate::mail::PatchMail;
use crate::mailbox;

/// The patches of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchSeries {
    /// The patches in the order they are applied in.
    pub patches: Vec<PatchMail>,
    /// Mails that are none of them, a sentence each. Cover letters are expected, and not named.
    pub left_out: Vec<String>,
}

/// Error: a mailbox without a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// There is no mail in it.
    #[error("no mail: an mbox or a mail is expected")]
    NoMail,
    /// No mail has a diff.
    #[error("no patch: none of {0} mails has a diff")]
    NoPatch(usize),
    /// Two mails have the same number of a series.
    #[error("two patches have the number {0} of {1}: more than one series; give one")]
    SameNumber(usize, usize),
}

/// Reads an mbox, or one mail. Patches of older versions of a series, replies, and copies of a mail are left out.
///
/// # Errors
/// If there is no mail, no patch, or there are several series.
pub fn read_series(bytes: &[u8]) -> Result<PatchSeries, MailError> {
    let raw = mailbox::split(bytes);
    let mails: Vec<PatchMail> = raw.iter().filter_map(|mail| PatchMail::parse(mail)).collect();
    if mails.is_empty() {
        return Err(MailError::NoMail);
    }
    let count = mails.len();
    let (mut patches, mut left_out) = (Vec::<PatchMail>::new(), Vec::new());
    for mail in mails.into_iter().filter(|mail| !mail.diff.is_empty()) {
        let is_copy =
            mail.message_id.is_some() && patches.iter().any(|known| known.message_id == mail.message_id);
        if !is_copy {
            patches.push(mail);
        }
    }
    let mut leave_out = |patches: &mut Vec<PatchMail>, why: &str, is_kept: &dyn Fn(&PatchMail) -> bool| {
        if patches.iter().any(is_kept) {
            let dropped = patches.iter().filter(|mail| !is_kept(mail));
            left_out.extend(dropped.map(|mail| format!("left out, {why}: {}", mail.subject)));
            patches.retain(is_kept);
        }
    };
    leave_out(&mut patches, "a reply", &|mail| !mail.is_reply());
    let newest = patches.iter().map(|mail| mail.version).max().unwrap_or(1);
    leave_out(&mut patches, "an older version", &|mail| mail.version == newest);
    patches.sort_by_key(|mail| mail.number.map_or(0, |(this, _)| this));
    let same = patches.windows(2).find(|pair| pair[0].number.is_some() && pair[0].number == pair[1].number);
    if let Some((this, all)) = same.and_then(|pair| pair[0].number) {
        return Err(MailError::SameNumber(this, all));
    }
    if patches.is_empty() { Err(MailError::NoPatch(count)) } else { Ok(PatchSeries { patches, left_out }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mail(subject: &str, id: &str, has_diff: bool) -> String {
        let diff = if has_diff { "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.43\n\n" } else { "text\n" };
        format!(
            "From {id} Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: {subject}\nMessage-ID: <{id}>\n\n{diff}"
        )
    }

    fn subjects(mails: &[String]) -> Result<Vec<String>, MailError> {
        let series = read_series(mails.concat().as_bytes())?;
        Ok(series.patches.into_iter().map(|mail| mail.subject).collect())
    }

    #[test]
    fn patches_are_ordered_and_everything_else_is_left_out() {
        let mails = [
            mail("[PATCH v2 2/2] b", "2", true),
            mail("[PATCH v2 0/2] cover", "0", false),
            mail("[PATCH v2 1/2] a", "1", true),
            mail("[PATCH v2 1/2] a", "1", true),
            mail("Re: [PATCH v2 1/2] a", "3", true),
            mail("[PATCH 1/2] a", "4", true),
        ];
        assert_eq!(subjects(&mails).unwrap(), ["[PATCH v2 1/2] a", "[PATCH v2 2/2] b"]);
        let left_out = read_series(mails.concat().as_bytes()).unwrap().left_out;
        assert_eq!(
            left_out,
            ["left out, a reply: Re: [PATCH v2 1/2] a", "left out, an older version: [PATCH 1/2] a"]
        );
        // Unnumbered ones stay as they stand.
        assert_eq!(subjects(&[mail("b", "1", true), mail("a", "2", true)]).unwrap(), ["b", "a"]);
    }

    #[test]
    fn what_is_no_series_is_refused() {
        assert_eq!(subjects(&[mail("[PATCH 0/2] cover", "0", false)]), Err(MailError::NoPatch(1)));
        let two = [mail("[PATCH 1/2] a", "1", true), mail("[PATCH 1/2] b", "2", true)];
        assert_eq!(subjects(&two), Err(MailError::SameNumber(1, 2)));
        assert_eq!(read_series(b""), Err(MailError::NoMail));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_series_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 0usize..200
        ) {
            drop(read_series(&bytes));
            let text = mail("[PATCH 1/2] a", "1", true);
            let at = cut.min(text.len());
            let mixed = [&text.as_bytes()[..at], &bytes, &text.as_bytes()[at..]].concat();
            if let Ok(series) = read_series(&mixed) {
                for patch in &series.patches {
                    crate::parse_diff(&patch.diff);
                }
            }
        }
    }
}
