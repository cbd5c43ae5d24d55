//! The commands on programs, libraries, separate debug files and kernel modules.

use crate::built::{BuiltPrograms, compiler};
use fieldline_debuginfo::{Elf, FileBytes, module};
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LOAD_BIAS: u64 = 0x5555_0000_0000;

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

fn done(args: &[&str]) -> String {
    let output = fieldline(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Text of a command that ends with exit code 1.
fn declined(args: &[&str]) -> String {
    let output = fieldline(args);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
    text
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs-cli").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A recording with a sample at each byte of some functions, often enough for a plan.
fn record(path: &Path, program: &Path, functions: &[&str], build_id: Option<BuildId>) {
    let bytes = FileBytes::open(program).unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    let mut recording = RecordingWriter::new(Endian::Little);
    let fields = SampleFields::IP.0 | SampleFields::TID.0 | SampleFields::TIME.0 | SampleFields::CPU.0;
    let event = recording.event("mem", Attr { sample_type: SampleFields(fields), ..Attr::default() }, &[1]);
    for segment in elf.segments().into_iter().filter(|segment| segment.is_code) {
        let begin = segment.address & !0xfff;
        let mapping = Mapping {
            pid: 7,
            address: begin + LOAD_BIAS,
            length: (segment.address + segment.size).next_multiple_of(0x1000) - begin,
            page_offset: segment.file_offset & !0xfff,
            filename: text(program),
            cpu_mode: CpuMode::User,
        };
        match build_id {
            Some(id) => recording.mmap_with_build_id(&mapping, id),
            None => recording.mmap(&mapping),
        }
    }
    let mut time = 0;
    for _ in 0..40 {
        for symbol in elf.symbols().filter(|symbol| functions.contains(&symbol.name)) {
            for ip in symbol.address..symbol.address + symbol.size.unwrap() {
                time += 100;
                let values = SampleValues {
                    cpu_mode: CpuMode::User,
                    ip: ip + LOAD_BIAS,
                    pid: 7,
                    tid: 7,
                    time,
                    ..SampleValues::default()
                };
                recording.sample(event, &values);
            }
        }
    }
    std::fs::write(path, recording.to_file()).unwrap();
}

#[test]
fn a_program_is_profiled_reported_and_planned_like_a_kernel() {
    let Some(built) = BuiltPrograms::depot() else { return };
    let (folder, depot, library) = (folder("depot"), built.path("depot"), built.path("libledger.so"));
    let (perf, profile, plan) =
        (folder.join("perf.data"), folder.join("profile.json"), folder.join("plan.json"));
    record(&perf, &depot, &["take", "put", "work", "weigh"], None);
    let (depot, library) = (text(&depot), text(&library));
    done(&["profile", "--program", depot, "--program", library, "--perf", text(&perf), "-o", text(&profile)]);
    let report = done(&["report", "shelf", "--profile", text(&profile), "--program", depot, "-v"]);
    // Each of 40 rounds samples the one instruction that counts `taken`; a mutex lies before it.
    let row = report.lines().find(|line| line.contains(" 8  taken "));
    let words: Vec<&str> = row.unwrap_or_else(|| panic!("{report}")).split_whitespace().collect();
    let offset = if cfg!(target_arch = "x86_64") { "48" } else { "56" };
    assert_eq!((&words[..3], words.last()), (&[offset, "8", "taken"][..], Some(&"take")), "{report}");
    let samples: Vec<u64> = words[4..6].iter().map(|count| count.parse().unwrap()).collect();
    assert_eq!((samples[0] + samples[1]) % 40, 0, "{report}");
    let planned =
        done(&["plan", "parcel", "--profile", text(&profile), "--program", depot, "-o", text(&plan)]);
    assert!(planned.starts_with("struct parcel: "), "{planned}");
}

#[test]
fn what_was_recorded_of_another_build_is_not_the_programs() {
    let Some(built) = BuiltPrograms::depot() else { return };
    let (perf, depot) = (folder("other").join("perf.data"), built.path("depot"));
    record(&perf, &depot, &["take"], BuildId::new(&[7; 20]));
    let bytes = FileBytes::open(&depot).unwrap();
    let has_build_id = Elf::parse(&bytes).unwrap().build_id().is_some();
    if !fieldline_testing::is_available("a linker that writes build ids", has_build_id) {
        return;
    }
    let output = fieldline(&["profile", "--program", text(&depot), "--perf", text(&perf)]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("build id 0707070707"), "{error}");
}

#[test]
fn debug_info_may_be_in_a_file_of_its_own() {
    let Some(built) = BuiltPrograms::depot() else { return };
    let (folder, whole) = (folder("separate"), built.path("depot"));
    let (stripped, debug) = (folder.join("bin/depot"), folder.join("debug/depot"));
    for path in [&stripped, &debug] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    let keep = ["--only-keep-debug", text(&whole), text(&debug)];
    if compiler("objcopy", &keep).is_none() {
        return;
    }
    compiler("objcopy", &["--strip-all", text(&whole), text(&stripped)]).unwrap();
    let perf = folder.join("perf.data");
    record(&perf, &whole, &["take", "work"], None);
    let rows = |program: &Path| done(&["samples", "--program", text(program), "--perf", text(&perf)]);
    let of_stripped = fieldline(&["samples", "--program", text(&stripped), "--perf", text(&perf)]);
    assert_eq!(of_stripped.status.code(), Some(2));
    let folder = text(debug.parent().unwrap());
    let with_folder =
        done(&["samples", "--program", text(&stripped), "--perf", text(&perf), "--debug-dir", folder]);
    assert_eq!(with_folder, rows(&whole));
    let offset = if cfg!(target_arch = "x86_64") { 48 } else { 56 };
    assert_eq!(with_folder.matches(&format!(" shelf {offset} -\n")).count() % 40, 0, "{with_folder}");
    assert!(with_folder.contains(&format!(" shelf {offset} -\n")), "{with_folder}");
}

#[test]
fn types_are_found_by_their_namespaces() {
    let Some(built) = BuiltPrograms::fleet() else { return };
    let fleet = built.path("fleet");
    for (name, first) in [("road::Stop", "number"), ("rail::Stop", "left")] {
        let layout = done(&["layout", name, "--vmlinux", text(&fleet), "--format", "pahole"]);
        assert_eq!(layout.matches("struct Stop {").count(), 1, "{layout}");
        let members = layout.lines().filter(|line| line.contains("/*     0     8 */"));
        assert!(members.into_iter().all(|line| line.contains(first)), "{layout}");
    }
    let output = fieldline(&["layout", "air::Stop", "--vmlinux", text(&fleet)]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_struct_that_its_compiler_orders_is_not_planned() {
    if let Some(built) = BuiltPrograms::mill() {
        let mill = built.path("mill");
        let plan = |name: &str| declined(&["plan", "--static", name, "--program", text(&mill)]);
        let of_rust = plan("mill::Stone");
        assert!(of_rust.contains("the Rust compiler orders its members itself"), "{of_rust}");
    }
    if let Some(built) = BuiltPrograms::fleet() {
        let plan = done(&["plan", "--static", "fleet::Bus", "--program", text(&built.path("fleet"))]);
        assert!(!plan.contains("places it"), "{plan}");
    }
}

/// Rows of `samples` for each byte of the functions of a module that was loaded somewhere.
fn rows_of_module(file: &Path, functions: &[&str]) -> Vec<String> {
    const LOADED: u64 = 0xffff_ffff_c0a3_1000;
    let bytes = module::link_module(&FileBytes::open(file).unwrap()).unwrap().unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    let text_begin = elf.text_sections().iter().map(|(_, address, _)| *address).min().unwrap();
    let mut recording = RecordingWriter::new(Endian::Little);
    let fields = SampleFields::IP.0 | SampleFields::TID.0;
    let event = recording.event("mem", Attr { sample_type: SampleFields(fields), ..Attr::default() }, &[1]);
    let mapping = Mapping {
        pid: u32::MAX,
        address: LOADED,
        length: 0x4000,
        page_offset: 0,
        filename: "[gate]",
        cpu_mode: CpuMode::Kernel,
    };
    recording.mmap(&mapping);
    for symbol in elf.symbols().filter(|symbol| functions.contains(&symbol.name)) {
        for at in symbol.address..symbol.address + symbol.size.unwrap() {
            let ip = at - text_begin + LOADED;
            let values =
                SampleValues { cpu_mode: CpuMode::Kernel, ip, pid: 1, tid: 1, ..SampleValues::default() };
            recording.sample(event, &values);
        }
    }
    let perf = file.with_extension("perf.data");
    std::fs::write(&perf, recording.to_file()).unwrap();
    let rows = done(&["samples", "--program", text(file), "--perf", text(&perf)]);
    let rows = rows.lines().filter(|row| !row.starts_with('#'));
    let rows = rows.map(|row| row.split(' ').skip(2).take(2).collect::<Vec<_>>().join("+"));
    let mut rows: Vec<String> = rows.filter(|row| row != "-+-").collect();
    rows.sort();
    rows.dedup();
    rows
}

#[test]
fn modules_are_attributed_where_the_kernel_loaded_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs/gate.c");
    let file = folder("module").join("gate.ko");
    let kernel = ["-g", "-O2", "-ffreestanding", "-fno-pie", "-fcf-protection=none", "-fno-stack-protector"];
    let more = ["-mcmodel=kernel", "-mno-red-zone", "-c", "-o", text(&file), text(&source)];
    if !cfg!(target_arch = "x86_64") || compiler("gcc", &[&kernel[..], &more].concat()).is_none() {
        return;
    }
    assert_eq!(rows_of_module(&file, &["gate_open"]), ["gate+0", "gate+8", "toll+8"]);
    assert_eq!(rows_of_module(&file, &["gate_close"]), ["gate+16", "gate+24", "toll+0"]);
}
