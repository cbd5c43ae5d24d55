//! Programs and kernel facilities that tests need of the machine they run on.
//!
//! Run by hand, a test without its programs prints so and passes. With `FIELDLINE_REQUIRE_ALL=1`, as in `.ci/run`, it
//! fails. Only the tests in [`EXEMPT_TESTS`] may run without the listed facility of the kernel. Each that does is written
//! to the file that `FIELDLINE_LEFT_OUT` names, so that they can be counted.
//!
//! ```
//! assert!(fieldline_testing::has_programs(&["cargo"]));
//! ```

use std::io::Write;
use std::process::{Command, Stdio};

/// Tests that need a facility of the kernel which virtual machines and containers often lack.
pub const EXEMPT_TESTS: &[(&str, KernelFacility)] =
    &[("breakpoints_catch_the_members_they_watch_and_no_others", KernelFacility::Breakpoints)];

/// A facility of the running kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFacility {
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
pub fn has_programs(names: &[&str]) -> bool {
    names.iter().all(|name| {
        let mut command = Command::new(name);
        let quiet = command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        is_available(name, quiet.status().is_ok())
    })
}

/// Whether a program or facility that a test needs is there.
///
/// # Panics
/// If it isn't, and all is required.
#[expect(clippy::print_stdout, reason = "a test that is left out says why")]
#[must_use]
pub fn is_available(name: &str, is_there: bool) -> bool {
    assert!(is_there || !is_all_required(), "{name} is missing, and FIELDLINE_REQUIRE_ALL is set");
    if !is_there {
        println!("left out: {name} is needed");
    }
    is_there
}

/// Whether the kernel has a facility that a test needs.
///
/// # Panics
/// If it hasn't, all is required, and the test is not in [`EXEMPT_TESTS`]; or if the file can't be written.
#[must_use]
pub fn has_facility(test: &str, facility: KernelFacility, is_there: bool) -> bool {
    let is_listed = EXEMPT_TESTS.contains(&(test, facility));
    if is_there || !is_listed {
        return is_available(&format!("{facility:?} for {test}"), is_there);
    }
    if let Some(file) = std::env::var_os("FIELDLINE_LEFT_OUT") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        let written = file.and_then(|mut file| file.write_all(format!("{test}: {facility:?}\n").as_bytes()));
        assert!(written.is_ok(), "the tests left out can't be listed: {written:?}");
    }
    false
}

fn is_all_required() -> bool {
    std::env::var_os("FIELDLINE_REQUIRE_ALL").is_some_and(|value| value == "1")
}
