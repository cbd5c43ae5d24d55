//! Comparisons as text.
//!
//! * `figures`: numbers as tables have them; `grid`: columns of one width.
//! * `summary_table`: a row a metric with its verdict, also in Markdown.
//! * `normalised`: values relative to the base, by test: `value [pct imp](CV)`.
//! * `intervals`: 95 % intervals of means.
//! * `mmtests`: as its compare scripts print.
//! * `cover`: a text for a cover letter.

mod cover;
pub mod figures;
pub(crate) mod grid;
mod groups;
mod intervals;
mod mmtests;
mod normalised;
mod summary_table;

pub use cover::{COVER_BEGINNING, draw_cover};
pub use intervals::draw_intervals;
pub use mmtests::draw_mmtests;
pub use normalised::draw_normalised;
pub use summary_table::{draw_markdown, draw_table};
