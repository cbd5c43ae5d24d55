//! Plans of structs whose best orders are known.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bounds;
mod common;
mod confidence;
mod known;
mod known_tables;
mod line_exchange;
mod matrix;
mod pins;
mod plans;
mod recommended;
mod search;
mod split;
mod together;
mod visit_estimates;
