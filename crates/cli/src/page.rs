//! The page: layouts of structs, as declared and as planned, with their accesses, in one file of HTML.
//!
//! It needs no network. Text that doesn't change is written by a template, so that it can be read without a script; what
//! a reader switches is drawn by the script from data in the page.
//!
//! * `model`: the data that the script reads.
//! * `embed`: that data as text inside of HTML.
//! * `file`: a page as a file.
//! * `accesses`: where a profile has accesses to a struct.
//! * `orders`: where orders place the members.
//! * `builds`: the same in other builds.
//! * `facts`: what was recorded, for the page's head.
//! * `section`: the text on one struct.
//! * `sharing`: lines lost to other CPUs.
//! * `planned`: the page of a profile and its plan.
//! * `compared`: the page of two files' layouts.

mod accesses;
mod builds;
mod compared;
mod embed;
mod facts;
mod file;
mod model;
mod orders;
pub(crate) mod planned;
mod section;
mod sharing;

pub(crate) use compared::{ComparedStruct, compared};
