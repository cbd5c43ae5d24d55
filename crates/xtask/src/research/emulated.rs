//! Attribution of AArch64 programs, run under qemu's user-space emulation, against the addresses of their objects.
//!
//! A plugin of our own (`crates/xtask/plugin/accesses.c`) records every access. One per period becomes a sample of a
//! perf.data file by our own writer. The programs print the addresses of their objects.
//!
//! * `trace`: accesses and branches to recordings.
//! * `score`: attributed samples against the objects they touched.
//! * `counts`: accesses of members by branch stacks, against all accesses.

mod counts;
mod score;
mod trace;

use crate::research::decode::{self, LIBRARY};
use crate::tools::shell::{cache, output, print_line, require_files, root, run as run_command};
use anyhow::{Context, Result};
use counts::{MemberCounts, TYPED};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::address::DataAddress;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::attribute::Attribution;
use fieldline_typeflow::program::Program;
use score::{Object, Score};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::Trace;

/// Programs: name, compiler, sources.
const PROGRAMS: [(&str, &str, &[&str]); 2] = [
    ("depot", "aarch64-linux-gnu-gcc", &["depot.c", "ledger.c"]),
    ("fleet", "aarch64-linux-gnu-g++", &["fleet.cc"]),
];
/// Where Debian's cross compilers keep the libraries the programs load.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// Bounds: share of samples of the objects that are attributed to them, and of those attributed that are right.
const RECALL: f64 = 95.0;
const PRECISION: f64 = 99.5;
/// Branches taken between two stacks, and the least rank correlation of members' counts with those of all accesses that the
/// code alone can type. Many members are touched equally often, so that their ranks are random.
const EVERY: u64 = 50;
const CORRELATION: f64 = 0.85;

/// `cargo xtask emulated`. The C library's operands are compared with objdump's first.
pub(crate) fn run(_: &[String]) -> Result<bool> {
    require_files(&[
        ("gcc", "gcc"),
        ("qemu-aarch64", "qemu-user"),
        ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        ("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"),
        ("/usr/aarch64-linux-gnu/include/stdio.h", "libc6-dev-arm64-cross"),
        LIBRARY,
    ])?;
    let folder = cache()?.join("emulated");
    fs::create_dir_all(&folder)?;
    let plugin = plugin(&folder)?;
    let mut holds = decode::run(&[LIBRARY.0.to_owned()])?;
    for (name, compiler, sources) in PROGRAMS {
        let program = compile(&folder, name, compiler, sources)?;
        let trace = folder.join(format!("{name}.trace"));
        let printed = emulate(&plugin, &program, &trace)?;
        let objects = score::objects(&printed)?;
        let trace = Trace::read(&trace)?;
        let recording = trace.recording(&program, trace::PERIOD)?;
        for with_addresses in [true, false] {
            let score = score(&program, &recording, &objects, with_addresses)?;
            score.print(name, with_addresses);
            holds &= !with_addresses || (score.recall() >= RECALL && score.precision() >= PRECISION);
        }
        let count = |recording: Vec<u8>| {
            let count = |found: &Attribution<'_>| MemberCounts::new(&program, &objects, &trace, found);
            with_attribution(&program, &recording, false, count)
        };
        let truth = count(trace.recording(&program, 1)?)?;
        for depth in [16, 32] {
            let counts = count(trace.branch_stacks(&program, depth, EVERY)?)?.compared_with(&truth);
            counts.print(name, depth);
            holds &= counts.rank_correlation(TYPED) >= CORRELATION;
        }
    }
    Ok(holds)
}

/// Compiles the plugin for the version of its interface that this qemu has.
fn plugin(folder: &Path) -> Result<PathBuf> {
    let version = output(Command::new("qemu-aarch64").arg("--version"))?;
    let major = version.split_whitespace().find_map(|word| word.split_once('.')?.0.parse::<u32>().ok());
    let interface = match major.context("qemu-aarch64 --version gives none")? {
        ..9 => 1,
        9 => 2,
        _ => 4,
    };
    let plugin = folder.join("accesses.so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]);
    gcc.arg(format!("-DPLUGIN_VERSION={interface}")).arg("-o").arg(&plugin);
    run_command(gcc.arg(root().join("crates/xtask/plugin/accesses.c")))?;
    Ok(plugin)
}

fn compile(folder: &Path, name: &str, compiler: &str, sources: &[&str]) -> Result<PathBuf> {
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g", "-pthread", "-fPIE", "-pie", "-Wl,--build-id=sha1", "-o"]).arg(&program);
    let sources = sources.iter().map(|source| root().join("fixtures/programs").join(source));
    run_command(command.args(sources))?;
    Ok(program)
}

/// Runs a program. Returns its output.
fn emulate(plugin: &Path, program: &Path, trace: &Path) -> Result<String> {
    let plugin = format!("{},out={}", plugin.display(), trace.display());
    output(Command::new("qemu-aarch64").args(["-L", LIBRARIES, "-plugin", &plugin]).arg(program))
}

/// Attributes the samples of a recording and works on them.
fn with_attribution<T>(
    path: &Path,
    recording: &[u8],
    with_addresses: bool,
    work: impl FnOnce(&Attribution<'_>) -> Result<T>,
) -> Result<T> {
    let file = FileBytes::open(path)?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::new(&elf, &dwarf)?;
    let files = [SampleFile::from_bytes(recording.to_vec())?];
    let attribution = match with_addresses {
        true => Attribution::new(&elf, &mut program, &files)?,
        false => Attribution::by_code(&elf, &mut program, &files)?,
    };
    work(&attribution)
}

fn score<'o>(path: &Path, data: &[u8], objects: &'o [Object], with_addresses: bool) -> Result<Score<'o>> {
    with_attribution(path, data, with_addresses, |attribution| {
        let mut score = Score::new(objects);
        attribution.for_each_sample(0, |sample, found| {
            score.add(DataAddress::to_word(sample.addr), found, &attribution.answers);
            Ok::<(), fieldline_perfdata::perf_data::Error>(())
        })?;
        print_line!("  {}: {} samples of its code", path.display(), score.samples);
        Ok(score)
    })
}
