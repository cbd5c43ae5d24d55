//! A page as a file: a template, with style, script and data in it.

use super::embed;
use super::facts::RecordedFacts;
use super::model::PageData;
use super::section::Section;
use anyhow::{Context, Result};
use askama::Template;

const STYLE: &str =
    concat!(include_str!("style/page.css"), include_str!("style/board.css"), include_str!("style/print.css"));

/// The script's files, in the order in which they use each other.
const SCRIPT: [&str; 11] = [
    include_str!("script/dom.js"),
    include_str!("script/state.js"),
    include_str!("script/struct.js"),
    include_str!("script/scale.js"),
    include_str!("script/board.js"),
    include_str!("script/keys.js"),
    include_str!("script/detail.js"),
    include_str!("script/tables.js"),
    include_str!("script/pairs.js"),
    include_str!("script/copy.js"),
    include_str!("script/main.js"),
];

/// A page before it is written.
pub(crate) struct Page {
    /// Its title, such as `struct tx_class`.
    pub(super) title: String,
    /// A few words on its content.
    pub(super) subtitle: String,
    /// Facts about the recordings, if there are any.
    pub(super) recorded: Option<RecordedFacts>,
    pub(super) sections: Vec<Section>,
    /// Patches by file name.
    pub(super) patches: Vec<(String, String)>,
    /// Measured results, as `compare` wrote them.
    pub(super) measured: Option<String>,
    /// Further remarks, a sentence each.
    pub(super) notes: Vec<String>,
    pub(super) data: PageData,
}

/// A page with all that the template puts into it.
#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'p> {
    page: &'p Page,
    style: &'p str,
    script: String,
    data: String,
}

impl Page {
    /// With measured results, as text.
    pub(crate) fn with_measured(self, text: String) -> Self {
        Self { measured: Some(text), ..self }
    }

    /// The file.
    pub(crate) fn html(&self) -> Result<String> {
        let data = embed::json(&self.data)?;
        let template = PageTemplate { page: self, style: STYLE, script: SCRIPT.concat(), data };
        template.render().context("the page")
    }
}
