//! Output on a terminal: texts as wide as it is, a pager for long ones, progress; and none of that in a pipe.

use fieldline_testing::has_programs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn demo_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name)
}

/// A folder with the demo's profile.
fn profiled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_fieldline"))
        .args(["profile", "-o", "profile.json", "--vmlinux"])
        .arg(demo_file("shaper"))
        .arg("--perf")
        .arg(demo_file("shaper.perf.data"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(made.status.success() && made.stderr.is_empty(), "{}", String::from_utf8_lossy(&made.stderr));
    folder
}

/// Runs a shell command on a terminal of 20 rows and 72 columns; gives what the terminal got.
fn on_terminal(folder: &Path, command: &str) -> String {
    let script = format!("stty rows 20 cols 72; {command}");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &script, "/dev/null"]).current_dir(folder).stdin(Stdio::null());
    terminal.env_remove("COLUMNS").env_remove("PAGER").env("TERM", "xterm");
    terminal.env("FIELDLINE", env!("CARGO_BIN_EXE_fieldline")).env("FIELDLINE_PAGER", "sed 's/^/paged: /'");
    String::from_utf8_lossy(&terminal.output().unwrap().stdout).replace('\r', "")
}

/// The longest row in columns, without colours.
fn width(text: &str) -> usize {
    let plain = |row: &str| row.replace("\u{1b}[0m", "").replace("\u{1b}[1m", "").replace("\u{1b}[2m", "");
    text.lines().map(|row| plain(row).chars().count()).max().unwrap_or(0)
}

#[test]
fn long_texts_are_paged_on_a_terminal_and_as_wide_as_it_is() {
    if !has_programs(&["script", "stty", "sh", "sed"]) {
        return;
    }
    let folder = profiled();
    let report = "\"$FIELDLINE\" report tx_flow --profile profile.json";
    let paged = on_terminal(folder.path(), report);
    let rows: Vec<&str> = paged.lines().filter(|row| !row.is_empty()).collect();
    assert!(rows.len() > 20 && rows.iter().all(|row| row.starts_with("paged: ")), "{paged}");
    assert!(width(&paged) <= "paged: ".len() + 72, "{paged}");
    let plain = on_terminal(folder.path(), &format!("{report} --no-pager"));
    assert!(!plain.contains("paged: ") && plain.contains("tx_flow") && width(&plain) <= 72, "{plain}");
    let piped = on_terminal(folder.path(), &format!("{report} | cat"));
    assert!(!piped.contains("paged: ") && piped.contains("tx_flow"), "{piped}");
    // What fits stays on the terminal, and so does the text if there is no such pager.
    let short = on_terminal(folder.path(), "\"$FIELDLINE\" merge --version");
    assert!(!short.contains("paged: "), "{short}");
    let missing = on_terminal(folder.path(), &format!("FIELDLINE_PAGER=no-such-pager {report}"));
    assert!(missing.contains("struct") && missing.contains("tx_flow"), "{missing}");
}

#[test]
fn columns_are_those_of_the_variable_or_a_hundred() {
    let folder = profiled();
    let report = |columns: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        command.args(["report", "tx_flow", "--profile", "profile.json"]).current_dir(folder.path());
        match columns {
            Some(columns) => command.env("COLUMNS", columns),
            None => command.env_remove("COLUMNS"),
        };
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(
        [report(None), report(Some("80")), report(Some("133"))].map(|text| width(&text)),
        [100, 80, 133]
    );
}

#[test]
fn progress_is_for_terminals() {
    if !has_programs(&["script", "stty", "sh"]) {
        return;
    }
    let folder = profiled();
    let program = demo_file("shaper");
    let plan = format!(
        "\"$FIELDLINE\" --no-pager plan tx_flow --profile profile.json --vmlinux {}",
        program.display()
    );
    let shown = on_terminal(folder.path(), &plan);
    assert!(shown.contains("planning  ") && shown.contains("struct"), "{shown}");
    let quiet = on_terminal(folder.path(), &format!("{plan} -q"));
    assert!(!quiet.contains("planning") && quiet.contains("struct"), "{quiet}");
    let piped = on_terminal(folder.path(), &format!("{plan} 2>&1 | cat"));
    assert!(!piped.contains("planning") && piped.contains("struct"), "{piped}");
}
