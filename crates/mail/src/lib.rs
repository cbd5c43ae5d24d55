//! Patches out of mailboxes: bytes in, values out.
//!
//! * `mailbox`: an mbox cut into mails.
//! * `mail`: one mail: what a reply needs of its head, and its diff, decoded.
//! * `series`: which mails of a mailbox are the patches to apply, in which order.
//! * `hunks`: a diff by files and hunks, and where these came to lie.
//! * `reply`: a mail that answers one.
//!
//! ```
//! let text = b"From: A <a@example.org>\nSubject: [PATCH] x: Add y\nMessage-ID: <1@example.org>\n\nWhy.\n---\n\
//!     diff --git a/x.h b/x.h\n--- a/x.h\n+++ b/x.h\n@@ -1 +1,2 @@\n int x;\n+int y;\n";
//! let series = fieldline_mail::read_series(text)?;
//! assert_eq!(series.patches[0].subject, "[PATCH] x: Add y");
//! assert!(series.patches[0].diff.starts_with(b"diff --git a/x.h"));
//! # Ok::<(), fieldline_mail::MailError>(())
//! ```

mod hunks;
mod mail;
mod mailbox;
mod reply;
mod series;

pub use hunks::{FileDiff, Hunk, parse_diff};
pub use mail::PatchMail;
pub use reply::Reply;
pub use series::{MailError, PatchSeries, read_series};
