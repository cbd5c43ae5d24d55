//! Results as text.

pub(crate) mod color;
pub(crate) mod doctor_text;
pub(crate) mod explain_json;
pub(crate) mod explain_text;
pub(crate) mod findings;
pub(crate) mod layout;
pub(crate) mod markdown;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod screen;
pub(crate) mod trial;
