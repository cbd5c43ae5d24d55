//! Agreement with `perf script`, sample for sample.
//!
//! Runs where `FIELDLINE_PERF_ROOT` names a folder that `chroot` can enter and that has `perf` (`/` does
//! where it is installed). Compares recordings of our writer, the fixtures, and those that
//! `FIELDLINE_PERF_FILES` names, separated by colons; these must lie under the root.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rows::{self, COLUMNS, common_fields, our_rows};
use fieldline_perfdata::perf_data::{Attr, Endian, PerfFile};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{Packing, RecordingWriter, SampleValues};

/// A row of `perf script` in our form: name first, times in nanoseconds, the data source in figures only.
fn parse_perf_row(line: &str, fields: SampleFields) -> String {
    let has = |field| fields.contains(field);
    let (front, back) = line.split_once(": ").unwrap();
    let mut front: Vec<String> = front.split_whitespace().map(str::to_owned).collect();
    // Only recordings without times have the event's name this early.
    assert!(has(SampleFields::TIME));
    let time = front.last_mut().unwrap();
    *time = time.replace('.', "").trim_start_matches('0').to_owned();
    if has(SampleFields::CPU) {
        let at = front.len() - 2;
        front[at] = front[at].trim_matches(['[', ']']).parse::<u32>().unwrap().to_string();
    }
    let mut back = back.trim_start();
    if has(SampleFields::PERIOD) {
        let (period, rest) = back.split_once(char::is_whitespace).unwrap();
        front.push(period.to_owned());
        back = rest.trim_start();
    }
    let (event, back) = back.split_once(": ").unwrap();
    let numbers = match back.split_once('|') {
        Some((numbers, words)) => {
            let after = words.rsplit_once("|BLK").unwrap().1.split_whitespace();
            // "N/A" or what blocked the access, then the numbers.
            let last = COLUMNS[6..].iter().filter(|(field, _)| has(*field)).count();
            let after: Vec<_> = after.collect();
            format!("{numbers} {}", after[after.len() - last..].join(" "))
        }
        None => back.to_owned(),
    };
    let numbers: Vec<_> = numbers.split_whitespace().collect();
    format!("{event} {} {}", front.join(" "), numbers.join(" "))
}

/// The output of `perf script` for a recording below the root.
fn perf_rows(root: &Path, path: &Path, fields: SampleFields) -> Vec<String> {
    let columns: Vec<_> =
        COLUMNS.iter().filter(|(field, _)| fields.contains(*field)).map(|(_, word)| *word).collect();
    let inside = Path::new("/").join(path.strip_prefix(root).unwrap());
    let output = Command::new("chroot")
        .arg(root)
        .args(["perf", "script", "-G", "--ns", "-F", &format!("event,{}", columns.join(",")), "-i"])
        .arg(inside)
        .output()
        .unwrap();
    assert!(output.status.success(), "perf script: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| parse_perf_row(line, fields)).collect()
}

/// Rows in all, if they agree; `perf script` sorts by time and we do not, so both are sorted.
fn compare(root: &Path, path: &Path) -> usize {
    let file = PerfFile::open(path).unwrap();
    let fields = common_fields(file.facts());
    let (mut ours, mut theirs) = (our_rows(&file, fields), perf_rows(root, path, fields));
    ours.sort_unstable();
    theirs.sort_unstable();
    let different = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
    assert_eq!(different, None, "{}", path.display());
    assert_eq!(ours.len(), theirs.len(), "{}", path.display());
    ours.len()
}

/// Samples with every field that perf prints, and with parts of variable size between them.
fn recording(endian: Endian, weight: SampleFields) -> RecordingWriter {
    let mut recording = RecordingWriter::new(endian);
    let columns = COLUMNS.iter().fold(0, |all, (field, _)| all | field.0) & !SampleFields::WEIGHT.0;
    let others = SampleFields::IDENTIFIER
        | SampleFields::CALLCHAIN
        | SampleFields::BRANCH_STACK
        | SampleFields::REGS_INTR
        | SampleFields::TRANSACTION;
    let sample_type = SampleFields(columns) | others | weight;
    let attr = Attr {
        kind: 4,
        config: 0x1cd,
        sample_type,
        branch_sample_type: 1 << 17 | 1 << 3,
        interrupt_registers: 0b11,
        flags: 1 << 18 | 2 << 15,
        ..Attr::default()
    };
    let loads = recording.event("loads", attr.clone(), &[11]);
    let sample_type = sample_type | SampleFields::CGROUP | SampleFields::DATA_PAGE_SIZE;
    let stores = recording.event("stores", Attr { config: 0x82d0, sample_type, ..attr }, &[12]);
    recording.kernel_map(0xffff_ffff_8100_0000, 0x100_0000, "_text", 0xffff_ffff_8100_0000);
    recording.comm(41, 42, "worker");
    for index in 0..500 {
        let callchain: Vec<u64> = (0..index % 5).map(|frame| 0xffff_ffff_8100_1000 + frame).collect();
        let branches: Vec<[u64; 3]> = (0..index % 3).map(|branch| [branch, branch + 1, 1]).collect();
        let event = if index % 3 == 0 { stores } else { loads };
        let values = SampleValues {
            cpu_mode: CpuMode::Kernel,
            ip: 0xffff_ffff_8100_0000 + index,
            pid: 41,
            tid: 42,
            time: 1_000_000_000 + 1000 * index,
            addr: 0xffff_8880_0000_0000 + 8 * index,
            cpu: (index % 4) as u32,
            period: 200 + index,
            callchain: &callchain,
            branches: &branches,
            weight: 7 + index,
            data_source: if index % 2 == 0 { 0x2_2810_0142 } else { 0x6_2880_0844 },
            physical_address: 0x1_0000 + index,
            ..SampleValues::default()
        };
        recording.sample(event, &values);
    }
    recording.finished_round();
    recording
}

fn write_recordings(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for endian in [Endian::Little, Endian::Big] {
        for weight in [SampleFields::WEIGHT, SampleFields::WEIGHT_STRUCT] {
            for packing in [Packing::None, Packing::Compressed(5000)] {
                let mut recording = recording(endian, weight);
                recording.set_packing(packing);
                // perf reads streams of the other byte order wrongly: it swaps pid with tid, since only
                // perf_session__read_header for files sets evsel.needs_swap.
                let stream = (endian == Endian::Little).then(|| recording.to_pipe());
                for bytes in std::iter::once(recording.to_file()).chain(stream) {
                    let path = folder.join(format!("{}.data", paths.len()));
                    std::fs::write(&path, bytes).unwrap();
                    paths.push(path);
                }
            }
        }
    }
    paths
}

/// Compares a fixture, and what `perf script` says of it with the expectation that is kept of that; with
/// `FIELDLINE_BLESS` set, keeps it instead.
fn compare_fixture(root: &Path, folder: &Path, fixture: &Path) -> usize {
    let copy = folder.join(fixture.file_name().unwrap());
    std::fs::copy(fixture, &copy).unwrap();
    let fields = common_fields(PerfFile::open(&copy).unwrap().facts());
    let mut rows = perf_rows(root, &copy, fields);
    rows.sort_unstable();
    let text = rows.join("\n") + "\n";
    let expectation = fixture.with_extension("samples");
    if std::env::var_os("FIELDLINE_BLESS").is_some() {
        std::fs::write(&expectation, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&expectation).unwrap(), text, "{}", expectation.display());
    compare(root, &copy)
}

#[test]
#[ignore = "runs perf in the root folder that FIELDLINE_PERF_ROOT names; cargo xtask kernel runs it"]
fn every_sample_is_as_perf_script_has_it() {
    let root = PathBuf::from(std::env::var_os("FIELDLINE_PERF_ROOT").unwrap());
    let folder = tempfile::tempdir_in(root.join("tmp")).unwrap();
    for fixture in rows::fixtures() {
        let count = compare_fixture(&root, folder.path(), &fixture);
        println!("{}: {count} samples agree", fixture.display());
    }
    let mut paths = write_recordings(folder.path());
    if let Some(more) = std::env::var_os("FIELDLINE_PERF_FILES") {
        paths.extend(std::env::split_paths(&more));
    }
    for path in paths {
        println!("{}: {} samples agree", path.display(), compare(&root, &path));
    }
}
