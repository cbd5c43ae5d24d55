//! What tests need of the machine they run on, and what happens where it is missing.
//!
//! By hand, a test without its tools says so and passes. With `FIELDLINE_REQUIRE_ALL=1`, as in `.ci/run`, it fails; only
//! the tests in [`LISTED`] may go without the facility of the kernel that stands beside them, and each that does is
//! written to the file that `FIELDLINE_LEFT_OUT` names, so that their number can be told.

use std::io::Write;
use std::process::{Command, Stdio};

/// Tests that need a facility of the kernel which virtual machines and containers often lack.
pub const LISTED: &[(&str, Facility)] =
    &[("breakpoints_catch_the_members_they_watch_and_no_others", Facility::Breakpoints)];

/// A facility of the running kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facility {
    /// A performance monitoring unit that samples memory accesses.
    Pmu,
    /// Hardware breakpoints through `perf_event_open`.
    Breakpoints,
    /// Control groups that may be made.
    Cgroups,
}

/// Whether programs can be run.
///
/// # Panics
/// If one can't, and all is required.
#[must_use]
pub fn programs(names: &[&str]) -> bool {
    names.iter().all(|name| {
        let mut command = Command::new(name);
        let quiet = command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        have(name, quiet.status().is_ok())
    })
}

/// Whether something is there that a test needs.
///
/// # Panics
/// If it isn't, and all is required.
#[expect(clippy::print_stdout, reason = "a test that is left out says why")]
#[must_use]
pub fn have(what: &str, is_there: bool) -> bool {
    assert!(is_there || !is_all_required(), "{what} is missing, and FIELDLINE_REQUIRE_ALL is set");
    if !is_there {
        println!("left out: {what} is needed");
    }
    is_there
}

/// Whether the kernel has a facility that a test needs.
///
/// # Panics
/// If it hasn't, all is required, and the test is not [`LISTED`]; or if the note of it can't be written.
#[must_use]
pub fn facility(test: &str, facility: Facility, is_there: bool) -> bool {
    let is_listed = LISTED.contains(&(test, facility));
    if is_there || !is_listed {
        return have(&format!("{facility:?} for {test}"), is_there);
    }
    if let Some(file) = std::env::var_os("FIELDLINE_LEFT_OUT") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        let noted = file.and_then(|mut file| file.write_all(format!("{test}: {facility:?}\n").as_bytes()));
        assert!(noted.is_ok(), "what is left out can't be noted: {noted:?}");
    }
    false
}

fn is_all_required() -> bool {
    std::env::var_os("FIELDLINE_REQUIRE_ALL").is_some_and(|value| value == "1")
}
