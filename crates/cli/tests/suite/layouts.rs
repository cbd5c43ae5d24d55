//! Layouts: printed, compared and checked.

mod ci_jobs;
mod gate;
mod kept_in_git;
mod mailed;
mod pahole;
mod places;
mod separate_debug;
