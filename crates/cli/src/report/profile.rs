//! What a profile says.

pub(crate) mod coverage;
pub(crate) mod heat;
pub(crate) mod heat_sharing;
pub(crate) mod heat_text;
pub(crate) mod types_text;

use super::color::Paint;
use fieldline_access::AccessProfile;

/// Appends what a profile says in short.
pub(crate) fn draw(out: &mut String, profile: &AccessProfile, paint: Paint) {
    coverage::draw(out, profile, paint);
    types_text::draw(out, profile, paint);
}
