//! Layouts: printed, compared, kept, judged.

pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod init;
pub(crate) mod layout;
