//! The programs of `fixtures/programs`, compiled with debug info into a folder of their own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Programs that were built, with what they say of themselves.
pub(crate) struct BuiltPrograms {
    folder: PathBuf,
    output: String,
}

/// Runs a compiler, if there is one.
pub(crate) fn compiler(name: &str, args: &[&str]) -> Option<()> {
    let output = Command::new(name).args(args).output();
    if !fieldline_testing::is_available(name, output.is_ok()) {
        return None;
    }
    let output = output.unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// One instruction a member, so that what a function touches is plain from its source.
const SCALAR: &str = "-fno-tree-vectorize";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

impl BuiltPrograms {
    fn new(folder: PathBuf, program: &str) -> Self {
        let done = Command::new(folder.join(program)).arg("10").output().unwrap();
        assert!(done.status.success());
        Self { folder, output: String::from_utf8(done.stdout).unwrap() }
    }

    /// The program in C with its library.
    pub(crate) fn depot() -> Option<&'static Self> {
        static DEPOT: OnceLock<Option<BuiltPrograms>> = OnceLock::new();
        DEPOT
            .get_or_init(|| {
                let folder = folder("depot");
                let (from, to) = (sources(), |name: &str| folder.join(name).display().to_string());
                let from = |name: &str| from.join(name).display().to_string();
                let library =
                    ["-g", "-O2", SCALAR, "-fPIC", "-shared", "-o", &to("libledger.so"), &from("ledger.c")];
                compiler("gcc", &library)?;
                let (path, origin) = (format!("-L{}", folder.display()), "-Wl,-rpath,$ORIGIN");
                let program = [
                    "-g",
                    "-O2",
                    SCALAR,
                    "-fPIE",
                    "-pie",
                    "-o",
                    &to("depot"),
                    &from("depot.c"),
                    &path,
                    "-lledger",
                ];
                compiler("gcc", &[&program[..], &["-lpthread", origin]].concat())?;
                Some(Self::new(folder.clone(), "depot"))
            })
            .as_ref()
    }

    /// The program in C++.
    pub(crate) fn fleet() -> Option<&'static Self> {
        static FLEET: OnceLock<Option<BuiltPrograms>> = OnceLock::new();
        FLEET
            .get_or_init(|| {
                let folder = folder("fleet");
                let to = folder.join("fleet").display().to_string();
                let from = sources().join("fleet.cc").display().to_string();
                compiler("g++", &["-g", "-O2", SCALAR, "-fPIE", "-pie", "-o", &to, &from])?;
                Some(Self::new(folder, "fleet"))
            })
            .as_ref()
    }

    /// The program in Rust.
    pub(crate) fn mill() -> Option<&'static Self> {
        static MILL: OnceLock<Option<BuiltPrograms>> = OnceLock::new();
        MILL.get_or_init(|| {
            let folder = folder("mill");
            let to = folder.join("mill").display().to_string();
            let from = sources().join("mill.rs").display().to_string();
            let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
            compiler(&rustc, &["--edition", "2024", "-g", "-C", "opt-level=2", "-o", &to, &from])?;
            Some(Self::new(folder, "mill"))
        })
        .as_ref()
    }

    /// One of the files.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Members of a type and their offsets in bytes, as the compiler has them.
    pub(crate) fn members(&self, ty: &str) -> Vec<(String, u64)> {
        let rows = self.output.lines().filter_map(|line| line.strip_prefix("member ")?.strip_prefix(ty));
        let rows = rows.filter_map(|row| {
            let mut words = row.strip_prefix(' ')?.split(' ');
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        });
        rows.collect()
    }

    /// The offset of a member.
    pub(crate) fn offset(&self, ty: &str, member: &str) -> u64 {
        let found = self.members(ty).into_iter().find(|(name, _)| name == member);
        found.unwrap_or_else(|| panic!("the program says nothing of {ty}.{member}")).1
    }
}
