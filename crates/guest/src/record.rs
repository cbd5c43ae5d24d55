//! A recording from the kernel's debug info to the recorded samples.

use crate::error::{Error, Result};
use crate::kernel::members::MemberOffsets;
use crate::kernel::points::{self, PointLines};
use crate::kernel::selection::{self, CodeSelection, TracedCode};
use crate::kernel::wide::WideInstructions;
use crate::machine::initramfs::Archive;
use crate::machine::qemu::{self, Qemu, QemuOptions};
use crate::machine::{files, image, programs};
use crate::objects::{GuestObject, typed};
use crate::options::{GuestLoad, GuestOptions};
use crate::recording::perf_data::{self, RecordedGuest};
use crate::recording::{object_table, sampler::Sampler, trace::TraceWriter};
use crate::stream::Records;
use crate::window::{Observed, Window};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::types::with_types;
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_files::printable::printable;
use fieldline_layout::layout::Layout;
use fieldline_machinecode::architecture::Architecture;
use fieldline_perfdata::perf_data::BuildId;
use fieldline_typeflow::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::Path;

/// A finished recording.
#[derive(Clone, Debug, Default)]
pub struct GuestRecording {
    /// The bytes of a perf.data.
    pub perf_data: Vec<u8>,
    /// Where objects were, from when to when.
    pub objects: Vec<GuestObject>,
    /// Those as a table.
    pub object_table: String,
    /// Loads and stores that were recorded.
    pub accesses: [u64; 2],
    /// Samples taken of them.
    pub samples: usize,
    /// Functions that were traced.
    pub functions: usize,
    /// Functions that belong to them but wait for other CPUs, and were left out.
    pub left_out: Vec<String>,
    /// Whether the window ended with the load rather than when all accesses were recorded.
    pub is_short: bool,
}

/// Finds what a recording needs beside a kernel: QEMU, and a compiler for our programs, which are built. Who has long work
/// in front of the recording learns in time that it can't be done.
///
/// # Errors
///
/// QEMU isn't there or too old, or a program can't be compiled.
pub fn check_machine(options: &GuestOptions) -> Result<()> {
    qemu::version(options.qemu.as_deref(), options.architecture)?;
    programs::plugin(&options.cache)?;
    programs::init(&options.cache, options.architecture)?;
    Ok(())
}

/// Boots a kernel and records its accesses; all of them also go to `trace`.
pub fn record(options: &GuestOptions, trace: Option<&mut dyn Write>) -> Result<GuestRecording> {
    let version = qemu::version(options.qemu.as_deref(), options.architecture)?;
    let file = FileBytes::open(&options.vmlinux).map_err(anyhow::Error::from)?;
    let elf = Elf::parse(&file).map_err(anyhow::Error::from)?;
    let sections = DebugSections::load(&elf, None).map_err(anyhow::Error::from)?;
    let dwarf = Dwarf::new(&sections).map_err(anyhow::Error::from)?;
    let mut program = Program::new(&elf, &dwarf).map_err(anyhow::Error::from)?;
    check_kernel(options, &program)?;
    program.load_all();
    let code = selection::select(&program, &options.selection, &|names| layouts(&options.vmlinux, names))?;
    let plan = plan(options, &program, &code)?;
    let text = program.text_start.map_or(0, |text| text.0);
    let wide = WideInstructions::find(&program, &code.ranges);
    let banner = points::banner(&elf, &program);
    image::check(&options.kernel, &banner)?;
    let observed = run(options, &plan, (text, wide), trace)?;
    check_banner(options, &banner, &observed.banner)?;
    let allocations = observed.allocations;
    let wanted = &options.object_types;
    let objects = typed::objects(&program, &options.vmlinux, &allocations, &observed.place, wanted)?;
    let mut guest = recorded_guest(options, &elf, &program, &version);
    guest.text = guest.text.wrapping_add(observed.place.moved);
    guest.modules = observed.modules;
    guest.tasks = observed.tasks;
    let mut samples = observed.samples;
    samples.sort_by_key(|sample| (sample.time, sample.cpu));
    Ok(GuestRecording {
        perf_data: perf_data::write(&guest, &samples),
        object_table: object_table::format(&objects),
        objects,
        accesses: observed.accesses,
        samples: samples.len(),
        functions: code.functions,
        left_out: code.left_out,
        is_short: !observed.is_limit,
    })
}

fn check_kernel(options: &GuestOptions, program: &Program<'_>) -> Result<()> {
    points::anchor(program, &options.vmlinux.display().to_string())?;
    let expected = match options.architecture {
        crate::GuestArchitecture::X86_64 => Architecture::X86_64,
        crate::GuestArchitecture::AArch64 => Architecture::AArch64,
    };
    if program.architecture == expected {
        return Ok(());
    }
    Err(Error::Kernel {
        kernel: options.vmlinux.display().to_string(),
        what: format!(
            "it is for another machine than {}; --arch says for which",
            options.architecture.name()
        ),
    })
}

/// The kernel that ran must be the one whose debug info was read.
fn check_banner(options: &GuestOptions, expected: &str, seen: &str) -> Result<()> {
    if expected.is_empty() || expected == seen {
        return Ok(());
    }
    Err(Error::Kernel {
        kernel: options.vmlinux.display().to_string(),
        what: format!("it is not the kernel that ran, which says '{}'", printable(seen.trim_end())),
    })
}

/// Layouts by name, the one that most units share.
fn layouts(vmlinux: &Path, names: &[String]) -> Result<BTreeMap<String, Layout>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(with_types(vmlinux, None, None, |types| {
        let mut definitions = types.find_many(&names)?;
        for of_name in &mut definitions {
            types.sort_by_preference(of_name)?;
        }
        let all: Vec<_> = definitions.iter().filter_map(|of_name| of_name.first()).cloned().collect();
        let mut reader = types.reader(&all)?;
        let mut found = BTreeMap::new();
        for (name, entries) in names.iter().zip(&definitions) {
            if let Some(entry) = entries.first() {
                let id = reader.read(entry)?;
                found
                    .extend(Layout::from_type(reader.table(), id).map(|layout| ((*name).to_owned(), layout)));
            }
        }
        Ok(found)
    })?)
}

/// The plugin's plan.
fn plan(options: &GuestOptions, program: &Program<'_>, code: &TracedCode) -> Result<String> {
    let offsets = MemberOffsets::read(&options.vmlinux)?;
    let kernel = options.vmlinux.display().to_string();
    let mut plan = PointLines::build(program, &kernel, &offsets, options.cpus)?;
    for range in &code.ranges {
        // Writing to a string can't fail.
        let _ = writeln!(plan, "range {:#x} {:#x}", range.start, range.end);
    }
    let _ = writeln!(plan, "limit {}\nshift {}", options.window, qemu::SHIFT);
    Ok(plan)
}

/// Runs the guest until its window ends.
fn run(
    options: &GuestOptions,
    plan: &str,
    text: (u64, WideInstructions),
    trace: Option<&mut dyn Write>,
) -> Result<Observed> {
    let plugin = programs::plugin(&options.cache)?;
    let init = programs::init(&options.cache, options.architecture)?;
    let folder = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).map_err(Error::file(&path)).map(|()| path)
    };
    let plan = write("plan", plan.as_bytes())?;
    let initrd = write("initrd", &guest_files(options, &init)?)?;
    let qemu_options = QemuOptions {
        qemu: options.qemu.as_deref(),
        architecture: options.architecture,
        cpus: options.cpus,
        memory: options.memory,
        kernel: &options.kernel,
        initrd: &initrd,
        arguments: kernel_arguments(options),
        plugin: &plugin,
        plan: &plan,
        seed: options.seed,
        is_parallel: options.is_parallel,
        folder: folder.path(),
        timeout: options.timeout,
    };
    let (mut qemu, records) = Qemu::start(&qemu_options)?;
    let sampler = Sampler::new(options.cpus, options.caches, options.period, u64::from(options.seed));
    let mut window = Window::new(options.cpus, text, sampler, trace.map(TraceWriter::new));
    let mut records = Records::new(records);
    let read_error = |source| Error::File { path: "the plugin's records".into(), source };
    while let Some(record) = records.next().map_err(read_error)? {
        window.add(record).map_err(|source| Error::File { path: "the trace".into(), source })?;
    }
    let is_late = qemu.finish();
    // The plugin also says that it ends when QEMU does.
    if !window.has_begun() || !window.has_ended() {
        return Err(qemu.failed(match (window.has_begun(), is_late) {
            (false, false) => "before its load began",
            (false, true) => "as its time was over before its load began (is --vmlinux this kernel's?)",
            (true, false) => "before its load ended",
            (true, true) => "as its time was over before its load ended",
        }));
    }
    Ok(window.finish())
}

fn kernel_arguments(options: &GuestOptions) -> String {
    let layout = if options.has_random_layout { "" } else { " nokaslr" };
    let machine = options.architecture.kernel_arguments();
    format!("{machine}{layout} rdinit=/fieldline/init panic=-1 loglevel=4 {}", options.append)
}

/// The guest's files: our first program, what it is to run, modules.
fn guest_files(options: &GuestOptions, init: &Path) -> Result<Vec<u8>> {
    let mut archive = Archive::new();
    let content = fs::read(init).map_err(Error::file(init))?;
    archive.program("fieldline/init", &content);
    let mut modules = String::new();
    for (number, module) in options.modules.iter().enumerate() {
        let place = format!("fieldline/modules.d/{number}.ko");
        archive.file(&place, &fieldline_files::read(module).map_err(Error::file(module))?);
        modules += &format!("/{place}\n");
    }
    archive.file("fieldline/modules", modules.as_bytes());
    let mut before = Vec::new();
    let words = match &options.load {
        GuestLoad::BuiltIn(words) => {
            let mut words = words.clone();
            words.push(format!("seed={}", options.seed));
            words
        }
        GuestLoad::Program(words) => files::add_program(&mut archive, words)?,
        GuestLoad::Initrd(path) => {
            before = fieldline_files::read(path).map_err(Error::file(path))?;
            vec!["boot".to_owned(), "/init".to_owned()]
        }
    };
    archive.file("fieldline/load", (words.join("\n") + "\n").as_bytes());
    // Kernels unpack one archive after the other (Documentation/driver-api/early-userspace/buffer-format.rst).
    before.resize(before.len().next_multiple_of(4), 0);
    before.extend(archive.finish());
    Ok(before)
}

/// The recording's facts about the guest, as far as they are known before it runs.
fn recorded_guest(
    options: &GuestOptions,
    elf: &Elf<'_>,
    program: &Program<'_>,
    version: &str,
) -> RecordedGuest {
    let address = |name| program.symbols.find_by_name(name).map_or(0, |symbol| symbol.address);
    let (text, end) = (address("_text"), address("_etext"));
    let kib = |level: usize| options.caches.0.get(level).map_or(0, |bytes| bytes >> 10);
    RecordedGuest {
        architecture: options.architecture,
        release: release(&points::banner(elf, program)),
        cpus: options.cpus as u32,
        memory_kib: options.memory << 10,
        period: options.period,
        command: command(options),
        processor: format!("QEMU {version}; modelled caches of {}, {} and {} KiB", kib(0), kib(1), kib(2)),
        build_id: elf.build_id().and_then(BuildId::new),
        text,
        text_size: end.saturating_sub(text),
        ..RecordedGuest::default()
    }
}

/// The kernel's release, out of the text it prints first (init/version.c).
fn release(banner: &str) -> String {
    banner
        .strip_prefix("Linux version ")
        .and_then(|rest| rest.split(' ').next())
        .unwrap_or_default()
        .to_owned()
}

/// The options that say what was recorded. Names of files are left out: they don't change the recording.
fn command(options: &GuestOptions) -> Vec<String> {
    let mut words: Vec<String> = ["fieldline", "guest", "record"].map(str::to_owned).into();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    add("--arch", options.architecture.name().to_owned());
    add("--cpus", options.cpus.to_string());
    add("--memory", format!("{}M", options.memory));
    add("--window", options.window.to_string());
    add("--seed", options.seed.to_string());
    add("--period", options.period.to_string());
    let CodeSelection { units, symbols, types } = &options.selection;
    for (option, names) in [("--units", units), ("--symbols", symbols), ("--types", types)] {
        if !names.is_empty() {
            add(option, names.join(","));
        }
    }
    match &options.load {
        GuestLoad::BuiltIn(load) => add("--load", load.join(",")),
        GuestLoad::Program(program) => {
            let name = program.first().and_then(|path| Path::new(path).file_name());
            add("--", name.unwrap_or_default().to_string_lossy().into_owned());
        }
        GuestLoad::Initrd(_) => add("--initrd", "FILE".to_owned()),
    }
    if options.is_parallel {
        words.push("--parallel".to_owned());
    }
    words
}
