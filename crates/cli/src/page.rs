//! The page: layouts of structs, as declared and as planned, with their accesses, in one file of HTML.
//!
//! It needs no network. Text that doesn't change is written by a template, so that it can be read without a script; what
//! a reader switches is drawn by the script from data in the page.
//!
//! * `model`: the data that the script reads.
//! * `embed`: that data as text inside of HTML.
//! * `accesses`: where a profile has accesses to a struct.
//! * `orders`: where orders place the members.
//! * `facts`: what was recorded, for the page's head.
//! * `section`: the text on one struct.
//! * `sharing`: lines lost to other CPUs.
//! * `planned`: the page of a profile and its plan.
//! * `compared`: the page of two files' layouts.

mod accesses;
mod compared;
mod embed;
mod facts;
mod model;
mod orders;
pub(crate) mod planned;
mod section;
mod sharing;

pub(crate) use compared::{ComparedStruct, compared};

use anyhow::{Context, Result};
use askama::Template;
use facts::RecordedFacts;
use model::PageData;
use section::Section;

const STYLE: &str = concat!(
    include_str!("page/style/page.css"),
    include_str!("page/style/board.css"),
    include_str!("page/style/print.css")
);

/// The script's files, in the order in which they use each other.
const SCRIPT: [&str; 11] = [
    include_str!("page/script/dom.js"),
    include_str!("page/script/state.js"),
    include_str!("page/script/struct.js"),
    include_str!("page/script/scale.js"),
    include_str!("page/script/board.js"),
    include_str!("page/script/keys.js"),
    include_str!("page/script/detail.js"),
    include_str!("page/script/tables.js"),
    include_str!("page/script/pairs.js"),
    include_str!("page/script/copy.js"),
    include_str!("page/script/main.js"),
];

/// A page before it is written.
pub(crate) struct Page {
    /// Its title, such as `struct tx_class`.
    title: String,
    /// What it shows, in a few words.
    subtitle: String,
    /// What was recorded, if anything.
    recorded: Option<RecordedFacts>,
    sections: Vec<Section>,
    /// Patches by file name.
    patches: Vec<(String, String)>,
    /// Further remarks, a sentence each.
    notes: Vec<String>,
    data: PageData,
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
    /// The file.
    pub(crate) fn html(&self) -> Result<String> {
        let data = embed::json(&self.data)?;
        let template = PageTemplate { page: self, style: STYLE, script: SCRIPT.concat(), data };
        template.render().context("the page")
    }
}
