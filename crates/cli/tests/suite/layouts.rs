//! Layouts: printed, and judged by a gate.

mod ci_jobs;
mod gate;
mod kept_in_git;
mod pahole;
