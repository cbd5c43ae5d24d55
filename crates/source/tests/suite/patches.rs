//! Diffs as other programs take them.

use fieldline_source::{DefinitionQuery, ExpectedMember, Join, SourceText, StructBody, diff};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const NAME: &str = "include/linux/my entity.h";

/// Texts with uncommon line ends: CRLF, no last line end, both.
fn texts() -> Vec<String> {
    let lines = "/* one */\nstruct entity {\n\tint a;\n\tint b;\n\n#ifdef CONFIG_X\n\tlong c;\t/* c */\n#endif\n\tlong d;\n};";
    let unix = [format!("{lines}\n"), lines.to_owned(), format!("{lines}\n\n/* end */\n")];
    let dos = unix.iter().map(|text| text.replace('\n', "\r\n"));
    unix.iter().cloned().chain(dos).collect()
}

fn reordered(text: &str) -> Vec<u8> {
    let source = SourceText::new(text.as_bytes());
    let body =
        StructBody::parse(&source, &source.find(&DefinitionQuery::for_name("entity")).unwrap()).unwrap();
    let members = ["a", "b", "c", "d"].map(ExpectedMember::named);
    let join = Join::new(&body, &members).unwrap();
    join.reorder(&[2, 3, 0, 1]).unwrap().edits.apply(text.as_bytes())
}

/// Runs a program that reads a patch; `None` if it isn't installed.
fn apply(directory: &Path, command: &[&str], patch: &[u8]) -> Option<(bool, String)> {
    let (program, arguments) = command.split_first().unwrap();
    let child = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    if !fieldline_testing::is_available(program, child.is_ok()) {
        return None;
    }
    let mut child = child.unwrap();
    child.stdin.take().unwrap().write_all(patch).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

fn check(command: &[&str]) {
    for old in texts() {
        let new = reordered(&old);
        assert_ne!(new, old.as_bytes());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(NAME);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &old).unwrap();
        let patch = diff::unified(NAME, old.as_bytes(), &new);
        let Some((done, said)) = apply(directory.path(), command, &patch) else { return };
        assert!(done, "{command:?} on {old:?}: {said}\n{}", String::from_utf8_lossy(&patch));
        let got = std::fs::read(&path).unwrap();
        assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&new), "{command:?}");
    }
}

#[test]
fn git_apply_takes_them() {
    check(&["git", "apply", "--whitespace=nowarn", "-"]);
}

#[test]
fn patch_takes_them() {
    check(&["patch", "-p1", "--binary", "--no-backup-if-mismatch"]);
}

#[test]
fn line_ends_are_kept() {
    for old in texts() {
        let new = String::from_utf8(reordered(&old)).unwrap();
        let is_dos = old.contains("\r\n");
        let ends = new.matches("\r\n").count();
        assert_eq!(ends, if is_dos { new.matches('\n').count() } else { 0 });
        assert_eq!(old.ends_with('\n'), new.ends_with('\n'));
    }
}
