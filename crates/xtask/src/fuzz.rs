//! Seeds for the fuzz targets below `crates/fuzz`, from the fixtures.

use crate::tools::shell::{self, print_line, root};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::perf_data::{Attr, Endian};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{Mapping, Packing, RecordingWriter, SampleValues};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of machine code in a seed of the target `code`.
const CODE: usize = 192;
/// Branches of a stack in a seed.
const STACK: usize = 8;
/// `PERF_SAMPLE_BRANCH_ANY` and `PERF_SAMPLE_BRANCH_KERNEL` (`include/uapi/linux/perf_event.h`).
const ANY_IN_KERNEL: u64 = 1 << 3 | 1 << 1;
/// Most entries of lists in a shortened document.
const MAX_ENTRIES: usize = 8;

/// `cargo xtask fuzz`: writes `crates/fuzz/corpus/TARGET/*`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    if !args.is_empty() {
        bail!("fuzz takes no arguments; it writes seeds, `cargo +nightly fuzz run TARGET` runs a target");
    }
    let seeds = Seeds { corpus: root().join("crates/fuzz/corpus") };
    let (fixtures, own) = (root().join("fixtures"), root().join("crates/fuzz/seeds"));
    let program = FileBytes::open(&fixtures.join("attribution/idioms"))?;
    let program = Elf::parse(&program)?;
    seeds.files("perf_data", &fixtures.join("perf"), ".data")?;
    recordings(&seeds, &program)?;
    stacks(&seeds, &program)?;
    seeds.files("script", &own.join("script"), "")?;
    seeds.files("dwarf", &fixtures.join("layout"), ".o")?;
    seeds.files("dwarf", &fixtures.join("attribution"), "idioms")?;
    objects(&seeds, &own.join("small.c"))?;
    seeds.files("btf", &fixtures.join("layout"), ".btf")?;
    seeds.files("source", &own.join("source"), "")?;
    seeds.files("source", &fixtures.join("layout"), ".c")?;
    for folder in ["include", "shaper"] {
        seeds.files("source", &fixtures.join("demo/tree").join(folder), "")?;
    }
    code(&seeds, &program)?;
    documents(&seeds, &fixtures.join("demo"))?;
    Ok(true)
}

struct Seeds {
    corpus: PathBuf,
}

impl Seeds {
    fn add(&self, target: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let folder = self.corpus.join(target);
        fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("{}", path.display()))?;
        print_line!("{}: {} bytes", path.display(), bytes.len());
        Ok(())
    }

    /// All files of a folder whose names end so.
    fn files(&self, target: &str, folder: &Path, end: &str) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && name.ends_with(end) {
                self.add(target, &name, &fs::read(&path)?)?;
            }
        }
        Ok(())
    }

    /// A temporary folder.
    fn part(&self) -> Result<PathBuf> {
        let folder = self.corpus.join("part");
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// Recordings of the program in every form that a file can have.
fn recordings(seeds: &Seeds, program: &Elf<'_>) -> Result<()> {
    let packings =
        [("plain", Packing::None), ("zstd", Packing::Compressed(500)), ("zstd2", Packing::Compressed2(500))];
    for endian in [Endian::Little, Endian::Big] {
        for (name, packing) in packings {
            let mut recording = sampled(program, endian);
            recording.set_packing(packing);
            seeds.add("perf_data", &format!("{name}-{endian:?}-file"), &recording.to_file())?;
            seeds.add("perf_data", &format!("{name}-{endian:?}-pipe"), &recording.to_pipe())?;
        }
    }
    Ok(())
}

/// A sample in each of the program's functions, with all fields that samples can have.
fn sampled(elf: &Elf<'_>, endian: Endian) -> RecordingWriter {
    let mut recording = RecordingWriter::new(endian);
    let attr = Attr {
        kind: 4,
        sample_type: SampleFields(SampleFields::KNOWN.0 & !SampleFields::WEIGHT_STRUCT.0),
        flags: 1 << 18,
        user_registers: 3,
        interrupt_registers: 3,
        branch_sample_type: 1,
        ..Attr::default()
    };
    let events = ["loads", "stores"].map(|name| recording.event(name, attr.clone(), &[name.len() as u64]));
    recording.command_line(&["perf", "mem", "record"]);
    recording.comm(7, 7, "idioms");
    for segment in elf.segments().into_iter().filter(|segment| segment.is_code) {
        let (pid, cpu_mode) = (7, CpuMode::User);
        let (address, length, page_offset) = (segment.address, segment.size, segment.file_offset);
        recording.mmap(&Mapping { pid, address, length, page_offset, filename: "/bin/idioms", cpu_mode });
    }
    let functions = elf.symbols().filter(|symbol| symbol.is_function);
    for (at, symbol) in (0u64..).zip(functions.take(12)) {
        let callchain = [symbol.address, symbol.address + 4];
        let values = SampleValues {
            cpu_mode: CpuMode::User,
            ip: symbol.address + 4,
            pid: 7,
            tid: 7 + at as u32 % 3,
            addr: 0x7000_0000 + at * 8,
            time: 1000 + at * 10,
            callchain: &callchain,
            data_source: 0x2_2810_0142,
            ..SampleValues::default()
        };
        recording.sample(events[at as usize % 2], &values);
    }
    recording.lost(1, 3);
    recording.finished_round();
    recording
}

/// Stacks of branches that run through the program's functions, as a file and as text.
fn stacks(seeds: &Seeds, program: &Elf<'_>) -> Result<()> {
    let functions = program.symbols().filter(|symbol| symbol.is_function && symbol.size.is_some());
    let functions: Vec<_> = functions.collect();
    let mut recording = RecordingWriter::new(Endian::Little);
    let fields = SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::PERIOD;
    let sample_type = fields | SampleFields::BRANCH_STACK;
    let attr = Attr { kind: 4, sample_type, branch_sample_type: ANY_IN_KERNEL, ..Attr::default() };
    let event = recording.event("cycles", attr, &[]);
    let mut text = String::new();
    for (time, callees) in (1000..).zip(functions.chunks(STACK)) {
        // Each branch goes from the end of one function to the beginning of the next; the youngest is first.
        let ends = callees.iter().map(|callee| callee.address + callee.size.unwrap_or(1) - 1);
        let begins = callees.iter().skip(1).chain(functions.first()).map(|callee| callee.address);
        let mut branches: Vec<[u64; 3]> = ends.zip(begins).map(|(from, to)| [from, to, 0]).collect();
        branches.reverse();
        let Some([_, ip, _]) = branches.first().copied() else { continue };
        let (pid, tid, period, branches) = (7, 7, 310, &branches[..]);
        let values = SampleValues { ip, pid, tid, time, period, branches, ..SampleValues::default() };
        recording.sample(event, &SampleValues { cpu_mode: CpuMode::Kernel, ..values });
        write!(text, "a 7/7 [000] 1.{time:06}: 310 cycles: {ip:x} run+0x0 ([kernel.kallsyms])")?;
        branches.iter().try_for_each(|[from, to, _]| write!(text, " {from:#x}/{to:#x}/P/-/-/0"))?;
        text.push('\n');
    }
    seeds.add("perf_data", "stacks", &recording.to_file())?;
    seeds.add("script", "stacks.txt", text.as_bytes())
}

/// Small objects by the compiler that is here, if any.
fn objects(seeds: &Seeds, source: &Path) -> Result<()> {
    if !shell::has("gcc") {
        print_line!("no gcc: no small objects");
        return Ok(());
    }
    let folder = seeds.part()?;
    for (name, options) in [
        ("small-5.o", "-gdwarf-5"),
        ("small-4-units.o", "-gdwarf-4 -fdebug-types-section"),
        ("small-2.o", "-gdwarf-2 -gstrict-dwarf"),
        ("small-z.o", "-gdwarf-5 -gz"),
    ] {
        let object = folder.join(name);
        let mut gcc = Command::new("gcc");
        gcc.args(options.split(' ')).args(["-O1", "-c", "-o"]).arg(&object).arg(source);
        shell::run(&mut gcc)?;
        seeds.add("dwarf", name, &fs::read(&object)?)?;
    }
    Ok(fs::remove_dir_all(folder)?)
}

/// Pieces of the program's own text; two bytes say where they go.
fn code(seeds: &Seeds, program: &Elf<'_>) -> Result<()> {
    let (_, _, text) = *program.text_sections().first().context("the program has no text")?;
    for (piece, code) in text.chunks(CODE).enumerate() {
        let at = u16::try_from(piece * CODE)?;
        seeds.add("code", &format!("{at:05}"), &[&at.to_le_bytes(), code].concat())?;
    }
    Ok(())
}

/// A profile and plans of the demo, whole and shortened.
fn documents(seeds: &Seeds, demo: &Path) -> Result<()> {
    let fieldline = shell::fieldline()?;
    let folder = seeds.part()?;
    let (profile, plan) = (folder.join("profile.json"), folder.join("plan.json"));
    let program = demo.join("shaper");
    let mut command = Command::new(&fieldline);
    command.args(["profile", "--perf"]).arg(demo.join("shaper.perf.data"));
    shell::output(command.arg("--vmlinux").arg(&program).arg("-o").arg(&profile))?;
    let mut command = Command::new(&fieldline);
    command.args(["plan", "tx_class", "tx_flow", "--profile"]).arg(&profile);
    shell::output(command.arg("--vmlinux").arg(&program).arg("-o").arg(&plan))?;
    for (target, path) in [("profile", &profile), ("plan", &plan)] {
        let bytes = fs::read(path)?;
        let mut value: Value = serde_json::from_slice(&bytes)?;
        shorten(&mut value, 4 * MAX_ENTRIES);
        seeds.add(target, "short.json", &serde_json::to_vec(&value)?)?;
        shorten(&mut value, MAX_ENTRIES);
        seeds.add(target, "shorter.json", &serde_json::to_vec(&value)?)?;
        seeds.add(target, "whole.json", &bytes)?;
    }
    Ok(fs::remove_dir_all(folder)?)
}

fn shorten(value: &mut Value, length: usize) {
    match value {
        Value::Array(list) => {
            list.truncate(length);
            list.iter_mut().for_each(|value| shorten(value, length));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| shorten(value, length)),
        _ => {}
    }
}
