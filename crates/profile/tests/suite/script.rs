//! The text of `perf script` gives what the perf.data gives that it was printed from.
//!
//! The texts are printed here, in the forms of perf 6.12, from the demo's recording. Where
//! `FIELDLINE_PERF_ROOT` names a folder that `chroot` can enter and that has `perf` (`/` does where it is
//! installed), perf prints them too.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests may fail as tests do"
)]

use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
use fieldline_perfdata::address::DataAddress;
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::check_addresses;
use fieldline_profile::attribute::{Attributed, Attribution, JointAttribution};
use fieldline_profile::sums::{AttributedProgram, profile};
use fieldline_typeflow::operands::target::Target;
use fieldline_typeflow::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn demo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name)
}

/// A sample's verdict by what tells it from others.
type Verdicts = BTreeMap<(Option<LinkedAddress>, Option<u64>, Option<DataAddress>, Option<u32>), String>;

/// Attribution of each sample, and the profile.
fn attributed(file: SampleFile) -> (Verdicts, AccessProfile) {
    let bytes = FileBytes::open(&demo("shaper")).unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    check_addresses(&elf, &file).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    let files = [file];
    let attribution = Attribution::new(&elf, &mut program, &files).unwrap();
    let mut verdicts = Verdicts::new();
    let each = |sample: &Sample<'_>, attributed: &Attributed| {
        let verdict = match attributed.target {
            Target::Exact { ty, offset } => {
                format!("{} +{offset}", attribution.answers.type_entry(ty).unwrap().name.name)
            }
            other => format!("{other:?}"),
        };
        verdicts.insert((attributed.ip, sample.time, sample.addr, sample.cpu), verdict);
        Ok::<(), Error>(())
    };
    attribution.for_each_sample(0, each).unwrap();
    let parts = [AttributedProgram { dwarf: &dwarf, attribution: &attribution }];
    let joint = JointAttribution { attributions: std::slice::from_ref(&attribution) };
    let profile = profile(
        &parts,
        joint,
        &files,
        &["recording".to_owned()],
        &[],
        fieldline_doctor::blind_spots::blind_spot_messages,
    )
    .unwrap();
    (verdicts, profile)
}

/// A profile without what a text doesn't tell: who recorded, and how.
fn without_facts(mut profile: AccessProfile) -> AccessProfile {
    for recording in &mut profile.recordings {
        (recording.host, recording.release, recording.command) = (None, None, None);
        (recording.cacheline, recording.lost) = (None, 0);
    }
    profile.blind_spots.clear();
    profile
}

/// How a text is printed.
#[derive(Clone, Copy)]
struct Form {
    /// Load bias of the program.
    load_bias: u64,
    /// Whether addresses of code stand in a call chain.
    in_chain: bool,
    /// Whether the words of the data source are printed.
    with_words: bool,
}

/// Symbols with their addresses, by address.
fn functions(elf: &Elf<'_>) -> BTreeMap<u64, (String, u64)> {
    let functions = elf.symbols().filter(|symbol| symbol.is_function);
    functions.map(|symbol| (symbol.address, (symbol.name.to_owned(), symbol.size.unwrap_or(0)))).collect()
}

/// The text of a recording of a program that is linked where it ran.
fn printed(file: &SampleFile, form: Form) -> String {
    let bytes = FileBytes::open(&demo("shaper")).unwrap();
    let functions = functions(&Elf::parse(&bytes).unwrap());
    let mut text = String::from("# ========\n# hostname : box\n#\n");
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        let Record::Sample(sample) = record else { continue };
        let event = &file.facts().event(sample.event).unwrap().name;
        let (time, source) = (sample.time.unwrap(), sample.data_source.unwrap().0);
        let words =
            if form.with_words { " |OP LOAD|LVL L1 hit|SNP None|TLB N/A|LCK No|BLK  N/A " } else { "" };
        let _ = write!(
            text,
            "shaper one/2 {:>7}/{:<7} [{:03}] {:>5}.{:09}: {:>10} {event:>25}: {:>16x} {source:>16x}{words}{:>16}",
            sample.pid.unwrap(),
            sample.tid.unwrap(),
            sample.cpu.unwrap(),
            time / 1_000_000_000,
            time % 1_000_000_000,
            sample.period,
            sample.addr.unwrap(),
            sample.latency.unwrap(),
        );
        let ip = sample.ip.unwrap().0;
        let symbol = match functions.range(..=ip).next_back().filter(|(from, (_, size))| ip - **from < *size)
        {
            Some((from, (name, _))) => format!("{name}+{:#x} (/home/box/shaper)", ip - from),
            None => "[unknown] (/home/box/shaper)".to_owned(),
        };
        let frame = format!("{:>16x} {symbol}", ip.wrapping_add(form.load_bias));
        let _ = if form.in_chain { writeln!(text, "\n\t{frame}\n") } else { writeln!(text, " {frame}") };
    }
    text
}

#[test]
fn a_text_gives_what_its_recording_gives() {
    let recording = || SampleFile::open(&demo("shaper.perf.data")).unwrap();
    let (expected, profile) = attributed(recording());
    assert!(expected.values().filter(|verdict| verdict.contains(" +")).count() > 4000);
    for load_bias in [0, 0x5555_5000_0000] {
        for in_chain in [false, true] {
            for with_words in [false, true] {
                let text = printed(&recording(), Form { load_bias, in_chain, with_words });
                let (found, of_text) = attributed(SampleFile::from_bytes(text.into_bytes()).unwrap());
                let different = expected.iter().zip(&found).find(|(expected, found)| expected != found);
                assert_eq!(different, None, "moved by {load_bias:#x}, in a chain: {in_chain}");
                assert_eq!(found.len(), expected.len());
                let (mut ours, theirs) = (without_facts(profile.clone()), without_facts(of_text));
                // That there is a call chain of one frame is all it adds.
                ours.recordings[0].callchains = theirs.recordings[0].callchains;
                ours.recordings[0].samples = theirs.recordings[0].samples;
                assert!(ours == theirs, "moved by {load_bias:#x}, in a chain: {in_chain}: other profiles");
            }
        }
    }
}

#[test]
#[ignore = "runs perf in the root folder that FIELDLINE_PERF_ROOT names; cargo xtask kernel runs it"]
fn perf_itself_prints_such_a_text() {
    let root = PathBuf::from(std::env::var_os("FIELDLINE_PERF_ROOT").unwrap());
    let folder = tempfile::tempdir_in(root.join("tmp")).unwrap();
    let copy = folder.path().join("recording");
    std::fs::copy(demo("shaper.perf.data"), &copy).unwrap();
    let inside = Path::new("/").join(copy.strip_prefix(&root).unwrap());
    let fields = "comm,pid,tid,cpu,time,period,event,ip,addr,data_src,weight";
    let mut command = Command::new("chroot");
    command.arg(&root).args(["perf", "script", "--ns", "--show-mmap-events", "-F", fields, "-i"]).arg(inside);
    let text = command.output().unwrap().stdout;
    let (expected, _) = attributed(SampleFile::open(&copy).unwrap());
    let (found, _) = attributed(SampleFile::from_bytes(text).unwrap());
    let different = expected.iter().zip(&found).find(|(expected, found)| expected != found);
    assert_eq!((different, found.len()), (None, expected.len()));
}
