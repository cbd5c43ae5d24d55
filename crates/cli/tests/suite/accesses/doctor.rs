//! `fieldline doctor` on machines described by folders, and on recordings that can't answer for one reason
//! each.

use fieldline_perfdata::address::DataAddress;
use fieldline_perfdata::perf_data::{Attr, Endian, EventIndex, PerfFile, Record};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn doctor(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).arg("doctor").args(args).output().unwrap()
}

/// The exit code and the JSON.
fn json(args: &[&str]) -> (Option<i32>, Value) {
    let output = doctor(&[args, &["--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let value = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), value)
}

fn machine(name: &str) -> (Option<i32>, Value) {
    let (code, mut value) = json(&["--root", fixture("machines").join(name).to_str().unwrap()]);
    (code, value["here"].take())
}

fn words<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap()).collect()
}

fn commands(here: &Value) -> Vec<&str> {
    words(&here["advice"]["commands"], "command")
}

/// Key and severity of each finding.
fn findings(report: &Value) -> Vec<(&str, &str)> {
    let list = &report["findings"];
    words(list, "key").into_iter().zip(words(list, "severity")).collect()
}

/// Each was given to perf 6.12's parser with the fixture as sysfs; `fixtures/machines/README.md` says how.
#[test]
fn each_machine_gets_the_commands_that_suit_its_pmu() {
    let mem = "perf mem record --ldlat=3 -a -- sleep 10";
    let ibs = ["perf record -W -d -a -e ibs_op/cnt_ctl=1/ -- sleep 10", "perf mem record -a -- sleep 10"]
        .as_slice();
    let power = [
        "perf mem record -a -- sleep 10",
        "perf record -W -d -a -e cpu/mem-loads/ -e cpu/mem-stores/ -- sleep 10",
    ]
    .as_slice();
    let watch = "perf record -d -a -e mem:0xADDRESS/8:rw -- sleep 10";
    let instructions = "perf record -a -e instructions -- sleep 10";
    let rows: [(&str, &str, i32, &[&str]); 12] = [
        (
            "intel-skylake",
            "intel-pebs",
            0,
            &[mem, "perf record -W -d -a -e cpu/mem-loads,ldlat=3/P -e cpu/mem-stores/P -- sleep 10"],
        ),
        (
            "intel-sapphire-rapids",
            "intel-pebs",
            0,
            &[
                mem,
                "perf record -W -d -a -e '{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=3/}:P' -e cpu/mem-stores/P -- sleep 10",
            ],
        ),
        (
            "intel-hybrid",
            "intel-pebs",
            0,
            &[
                mem,
                "perf record -W -d -a -e cpu_atom/mem-loads,ldlat=3/P \
                 -e '{cpu_core/mem-loads-aux/,cpu_core/mem-loads,ldlat=3/}:P' \
                 -e cpu_atom/mem-stores/P -e cpu_core/mem-stores/P -- sleep 10",
            ],
        ),
        ("amd-zen3", "amd-ibs", 0, ibs),
        ("amd-zen4", "amd-ibs", 0, ibs),
        ("amd-zen5", "amd-ibs", 0, ibs),
        (
            "arm-spe",
            "arm-spe",
            0,
            &[
                "perf record -a -e arm_spe_0/ts_enable=1,load_filter=1,store_filter=1/ -- sleep 10",
                "perf inject --itrace=i1i -i perf.data -o samples.perf.data",
                "perf report --mem-mode -i samples.perf.data",
            ],
        ),
        ("power9", "power-marked", 0, power),
        ("power10", "power-marked", 0, power),
        ("intel-guest", "counters-only", 1, &[instructions, watch]),
        ("arm-without-spe", "counters-only", 1, &[instructions]),
        ("guest-without-pmu", "timers-only", 1, &[watch]),
    ];
    for (name, sampler, wanted_code, wanted) in rows {
        let (code, here) = machine(name);
        let found = &here["advice"]["sampler"];
        let found = found.as_str().or_else(|| found.as_object()?.keys().next().map(String::as_str));
        assert_eq!((found, code), (Some(sampler), Some(wanted_code)), "{name}");
        assert_eq!(commands(&here), wanted, "{name}");
        assert_eq!(
            here["advice"]["can_answer"],
            sampler != "counters-only" && sampler != "timers-only",
            "{name}"
        );
        assert!(!here["advice"]["cannot_show"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn without_a_pmu_programs_can_be_stepped() {
    let says = |name: &str| {
        let (_, here) = machine(name);
        let instead = here["advice"]["instead"].as_array().cloned().unwrap_or_default();
        instead
            .iter()
            .any(|line| line.as_str().unwrap().contains("`fieldline record -o perf.data -- PROGRAM`"))
    };
    assert!(says("guest-without-pmu") && says("intel-guest"));
    assert!(!says("arm-without-spe") && !says("intel-skylake"), "elsewhere it can't, or needn't");
}

#[test]
fn what_a_recording_cant_show_follows_from_the_machines_files() {
    let says = |name: &str, text: &str| {
        let (_, here) = machine(name);
        here["advice"]["cannot_show"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line.as_str().unwrap().contains(text))
    };
    assert!(says("amd-zen3", "HITM") && !says("amd-zen4", "HITM"));
    assert!(
        !says("amd-zen3", "l3missonly") && says("amd-zen4", "l3missonly") && says("amd-zen5", "l3missonly")
    );
    assert!(!says("amd-zen4", "ldlat=") && says("amd-zen5", "ldlat=") && says("amd-zen5", "swfilt=1"));
    assert!(says("intel-skylake", "30 cycles") && says("intel-hybrid", "differ between kinds of cores"));
    assert!(
        says("arm-spe", "min_latency=30")
            && says("guest-without-pmu", "cpu-clock can't attribute kernel data")
    );
}

#[test]
fn settings_that_stand_in_the_way_are_found_with_their_file() {
    let machine_report = |name: &str| machine(name).1;
    assert_eq!(findings(&machine_report("intel-sapphire-rapids")), []);
    assert_eq!(findings(&machine_report("intel-skylake")), [("needs-privilege", "note")]);
    let hybrid = machine_report("intel-hybrid");
    let wanted = [("needs-privilege", "note"), ("kernel-hidden", "note"), ("no-debug-info", "note")];
    assert_eq!(findings(&hybrid), wanted);
    assert_eq!(hybrid["machine"]["cpus"], 24);
    let zen3 = machine_report("amd-zen3");
    assert_eq!(findings(&zen3)[0], ("kernel-hidden", "limits"));
    assert!(zen3["findings"][0]["why"].as_str().unwrap().starts_with("/proc/sys/kernel/kptr_restrict is 2"));
    assert!(findings(&machine_report("amd-zen4")).contains(&("rate-limited", "note")));
    assert_eq!(findings(&machine_report("power9"))[0], ("architecture", "limits"));
    let guest = machine_report("guest-without-pmu");
    assert_eq!(
        (&guest["machine"]["guest"], findings(&guest)[0].1),
        (&"Google Compute Engine".into(), "cannot-answer")
    );
    assert!(guest["findings"][0]["why"].as_str().unwrap().contains("has breakpoint, msr, software"));
    // AArch64 is read as x86-64 is.
    for name in ["arm-spe", "arm-without-spe"] {
        assert!(findings(&machine_report(name)).iter().all(|(key, _)| *key != "architecture"), "{name}");
    }
    // Metal of a cloud is no guest.
    assert_eq!(machine_report("arm-spe")["machine"]["guest"], Value::Null);
}

#[test]
fn a_text_for_people_ends_in_the_verdict_and_a_folder_of_nothing_is_an_error() {
    let output = doctor(&["--root", fixture("machines/amd-zen5").to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("machine: Some EPYC of 2024, x86_64, AuthenticAMD family 26 model 2, 128 CPUs"),
        "{text}"
    );
    assert!(text.contains("    perf record -W -d -a -e ibs_op/cnt_ctl=1/ -- sleep 10\n"), "{text}");
    assert!(text.ends_with("verdict: recordings of this machine can answer\n"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let output = doctor(&["--root", folder.path().to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("neither proc/cpuinfo nor sys/bus/event_source/devices"), "{message}");
}

const EXCLUDE_KERNEL: u64 = 1 << 5;
const PRECISE: u64 = 3 << 15;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const TEXT: u64 = 0xffff_ffff_8100_0000;

fn fields() -> SampleFields {
    let place = SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::ADDR;
    place | SampleFields::CPU | SampleFields::PERIOD | SampleFields::WEIGHT | SampleFields::DATA_SRC
}

/// Accesses on a Sapphire Rapids server without fault: 300 loads and 100 stores of kernel and user code on
/// four CPUs.
struct Case {
    attr: Attr,
    name: &'static str,
    values: SampleValues<'static>,
    cpus: u64,
    has_map: bool,
    /// The kernel's KASLR offset, and whether any of its code was sampled.
    kaslr_offset: u64,
    has_kernel: bool,
    pmus: &'static [(u32, &'static str)],
    cpu_id: &'static str,
    arch: &'static str,
}

impl Default for Case {
    fn default() -> Self {
        let flags = PRECISE | SAMPLE_ID_ALL;
        let attr =
            Attr { kind: 4, config: 0x1cd, config1: 3, sample_type: fields(), flags, ..Attr::default() };
        // A load that hit L1 (mem_op 2, mem_lvl_num 1).
        let data_source = 1 << 1 | (1 << 3 | 1 << 1) << 5 | 1 << 33;
        let values = SampleValues {
            exact_ip: true,
            weight: 5,
            addr: 0x1000,
            period: 200,
            data_source,
            ..Default::default()
        };
        Self {
            attr,
            name: "cpu/mem-loads,ldlat=3/P",
            values,
            cpus: 4,
            has_map: true,
            kaslr_offset: 0,
            has_kernel: true,
            pmus: &[(4, "cpu"), (1, "software")],
            cpu_id: "GenuineIntel,6,143,8",
            arch: "x86_64",
        }
    }
}

impl Case {
    fn recording(&self) -> RecordingWriter {
        let mut recording = RecordingWriter::new(Endian::Little);
        let event = recording.event(self.name, self.attr.clone(), &[]);
        recording.cpus(4, 4);
        recording.arch(self.arch);
        recording.cpu_id(self.cpu_id);
        recording.pmus(self.pmus);
        recording.command_line(&["perf", "record"]);
        if self.has_map {
            recording.kernel_map(TEXT, 0x100_0000, "_text", TEXT);
        }
        for index in 0..400_u64 {
            let cpu_mode =
                if self.has_kernel && index.is_multiple_of(2) { CpuMode::Kernel } else { CpuMode::User };
            let data_source = match self.values.data_source {
                load if load & 2 != 0 && index % 4 == 3 => load ^ 2 | 4,
                load => load,
            };
            let place = SampleValues {
                data_source,
                cpu_mode,
                ip: TEXT.wrapping_add(self.kaslr_offset) + index,
                time: 1000 + index,
                ..self.values
            };
            recording.sample(event, &SampleValues { cpu: (index % self.cpus) as u32, ..place });
        }
        recording
    }

    fn judge(&self, args: &[&str]) -> (Option<i32>, Value) {
        judge(&self.recording().to_file(), args)
    }
}

fn judge(bytes: &[u8], args: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    std::fs::write(&path, bytes).unwrap();
    let (code, mut value) = json(&[&["--perf", path.to_str().unwrap()], args].concat());
    let structs = value["structs"].take();
    let mut recording = value["recordings"][0].take();
    recording["structs"] = structs;
    (code, recording)
}

#[test]
fn a_recording_without_fault_is_fit() {
    let (code, judged) = Case::default().judge(&[]);
    assert_eq!((code, findings(&judged)), (Some(0), vec![]));
    assert_eq!((judged["samples"].as_u64(), judged["command"].as_str()), (Some(400), Some("perf record")));
    assert_eq!(judged["events"][0]["loads"], 300);
    assert!(commands(&judged)[1].contains("mem-loads-aux"));
}

#[test]
fn each_fault_is_found_with_its_evidence() {
    type Change = fn(&mut Case);
    let rows: [(&str, &str, i32, &str, Change); 10] = [
        ("load-threshold", "cannot-answer", 1, "asks for 30 cycles; 0 of its 300 loads", |case| {
            case.attr.config1 = 30;
            case.values.weight = 90;
            case.values.data_source = 1 << 1 | (1 << 3 | 1 << 6) << 5 | 3 << 33;
        }),
        (
            "clock-event",
            "cannot-answer",
            1,
            "type 1 (software) and config 0; 400 samples, 200 of kernel",
            |case| {
                case.name = "cpu-clock";
                case.attr =
                    Attr { kind: 1, config: 0, config1: 0, flags: SAMPLE_ID_ALL, ..case.attr.clone() };
                case.values = SampleValues { exact_ip: false, addr: 0, data_source: 0, ..case.values };
            },
        ),
        ("skid", "cannot-answer", 1, "precise_ip 0, and 0 of 400 samples", |case| {
            case.name = "cycles";
            case.attr = Attr { kind: 0, config: 0, config1: 0, flags: SAMPLE_ID_ALL, ..case.attr.clone() };
            case.values = SampleValues { exact_ip: false, addr: 0, data_source: 0, ..case.values };
        }),
        ("no-addresses", "limits", 0, "0 of 400 samples", |case| case.values.addr = 0),
        ("one-cpu", "limits", 0, "all 400 samples are of CPU 0, while 4", |case| case.cpus = 1),
        ("kernel-not-placed", "limits", 0, "no MMAP record of the kernel image", |case| case.has_map = false),
        ("l3-misses-only", "cannot-answer", 1, "config 0x90000, with l3missonly", |case| {
            case.name = "ibs_op/cnt_ctl=1,l3missonly=1/";
            case.attr = Attr { kind: 11, config: 0x9_0000, config1: 0, ..case.attr.clone() };
            case.pmus = &[(4, "cpu"), (11, "ibs_op")];
            case.cpu_id = "AuthenticAMD,25,17,1";
        }),
        ("no-field", "limits", 0, "sample_type", |case| {
            case.attr.sample_type = SampleFields(fields().0 & !SampleFields::TIME.0);
        }),
        ("watched-only", "limits", 0, "4 bytes at 0x1000", |case| {
            case.name = "mem:0x1000:rw";
            let (config1, config2) = (0x1000, 4);
            case.attr =
                Attr { kind: 5, breakpoint_kind: 3, config: 0, config1, config2, ..case.attr.clone() };
        }),
        ("architecture", "cannot-answer", 1, "is riscv64", |case| case.arch = "riscv64"),
    ];
    for (key, severity, wanted_code, evidence, change) in rows {
        let mut case = Case::default();
        change(&mut case);
        let (code, judged) = case.judge(&[]);
        assert_eq!(code, Some(wanted_code), "{key}: {judged}");
        let list = judged["findings"].as_array().unwrap();
        let found =
            list.iter().find(|finding| finding["key"] == key).unwrap_or_else(|| panic!("{key}: {judged}"));
        assert_eq!(found["severity"], severity, "{key}");
        assert!(found["why"].as_str().unwrap().contains(evidence), "{key}: {found}");
        assert!(
            !found["remedy"].as_str().unwrap().is_empty() && found["command"].is_string(),
            "{key}: {found}"
        );
    }
}

/// `profile` reads such a recording, so `doctor` must not refuse it.
#[test]
fn a_recording_of_aarch64_is_judged_as_one_of_x86_64() {
    let judge = |arch: &'static str| Case { arch, ..Case::default() }.judge(&[]);
    let keys =
        |judged: &Value| findings(judged).into_iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>();
    let ((code, here), (same, judged)) = (judge("x86_64"), judge("aarch64"));
    assert_eq!((same, keys(&judged)), (code, keys(&here)));
}

#[test]
fn losses_and_a_trace_without_samples_name_the_command_that_helps() {
    let mut recording = Case::default().recording();
    recording.lost(0, 100);
    recording.throttle(0);
    let (code, judged) = judge(&recording.to_file(), &[]);
    assert_eq!((code, findings(&judged)), (Some(0), vec![("lost", "limits"), ("throttled", "limits")]));
    assert_eq!(judged["findings"][0]["command"], "perf mem record --ldlat=3 -a -m 16M -- sleep 10");
    let mut trace = RecordingWriter::new(Endian::Little);
    trace.event("arm_spe_0//", Attr { kind: 11, sample_type: fields(), ..Attr::default() }, &[]);
    trace.pmus(&[(11, "arm_spe_0")]);
    trace.aux_trace(b"sixteen bytes...");
    let (code, judged) = judge(&trace.to_file(), &[]);
    assert_eq!((code, findings(&judged)[0]), (Some(1), ("aux-trace", "cannot-answer")));
    let inject = "perf inject --itrace=i1i -i perf.data -o samples.perf.data";
    assert_eq!((&judged["findings"][0]["command"], commands(&judged)[1]), (&inject.into(), inject));
}

#[test]
fn whose_code_was_excluded_matters_for_the_program_asked_about() {
    let shaper = fixture("demo/shaper");
    let recording = fixture("demo/shaper.perf.data");
    let args = ["--perf", recording.to_str().unwrap()];
    let (code, value) = json(&args);
    assert_eq!((code, findings(&value["recordings"][0])), (Some(0), vec![("no-kernel-code", "limits")]));
    let (code, value) = json(&[args.as_slice(), &["--vmlinux", shaper.to_str().unwrap()]].concat());
    assert_eq!((code, findings(&value["recordings"][0])), (Some(0), vec![("no-kernel-code", "note")]));
    assert_eq!(words(&value["structs"], "name").len(), 5);
    let mut case = Case::default();
    case.attr.flags |= EXCLUDE_KERNEL;
    let (code, judged) = case.judge(&[]);
    // Samples of kernel code were taken all the same, so nothing is said.
    assert_eq!((code, findings(&judged)), (Some(0), vec![]));
}

#[test]
fn a_kernel_asked_about_has_to_be_sampled_and_placed() {
    let kernel = fixture("attribution/idioms");
    let args = ["--vmlinux", kernel.to_str().unwrap()];
    let first_finding = |case: &Case| {
        let (code, judged) = case.judge(&args);
        let first = judged["findings"][0].clone();
        let word = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
        (code, word("key"), word("severity"), word("why"))
    };
    assert_eq!(first_finding(&Case::default()).0, Some(0));
    let (code, key, severity, why) = first_finding(&Case { has_map: false, ..Case::default() });
    assert_eq!((code, key.as_str(), severity.as_str()), (Some(0), "kernel-not-placed", "limits"));
    assert!(why.ends_with("; 200 samples lie in vmlinux's text as linked"), "{why}");
    let (code, key, severity, why) =
        first_finding(&Case { has_map: false, kaslr_offset: 0x1_0000_0000, ..Case::default() });
    assert_eq!((code, key.as_str(), severity.as_str()), (Some(1), "kernel-not-placed", "cannot-answer"));
    assert!(
        why.contains("no sample of kernel code lies in vmlinux's text as linked, 0x81000000 for one"),
        "{why}"
    );
    let (code, key, severity, why) = first_finding(&Case { has_kernel: false, ..Case::default() });
    assert_eq!((code, key.as_str(), severity.as_str()), (Some(1), "no-kernel-code", "cannot-answer"));
    assert_eq!(why, "0 of 400 samples were taken in kernel mode");
}

/// Recordings with a known truth, where `FIELDLINE_DATA` names the folder that has them unpacked.
#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn recordings_of_a_kernel_are_judged_as_they_are_known_to_be() {
    let folder = PathBuf::from(std::env::var_os("FIELDLINE_DATA").unwrap());
    for (name, code, gravest) in [
        ("c1.mem.perf.data", 0, ("no-user-code", "note")),
        ("c1.mem-ldlat30.perf.data", 1, ("load-threshold", "cannot-answer")),
        ("c1.insn.perf.data", 0, ("no-data-source", "limits")),
        ("b1.cpu-clock.perf.data", 1, ("clock-event", "cannot-answer")),
    ] {
        let path = folder.join(name);
        let (found, value) = json(&["--perf", path.to_str().unwrap()]);
        assert_eq!((found, findings(&value["recordings"][0])[0]), (Some(code), gravest), "{name}");
    }
}

/// The demo's recording, the first so many samples of it.
fn start_of_demo(samples: usize) -> Vec<u8> {
    let file = PerfFile::open(&fixture("demo/shaper.perf.data")).unwrap();
    let mut recording = RecordingWriter::new(Endian::Little);
    for event in &file.facts().events {
        recording.event(&event.name, event.attr.clone(), &event.ids);
    }
    recording.arch("x86_64");
    let (mut records, mut left) = (file.records(), samples);
    while let Some(record) = records.next_record().unwrap() {
        match record {
            Record::Mmap(mmap) => recording.mmap(&Mapping::from(&mmap)),
            Record::Sample(sample) if left > 0 => {
                left -= 1;
                let values = SampleValues {
                    cpu_mode: sample.cpu_mode,
                    exact_ip: sample.exact_ip,
                    ip: sample.ip.unwrap_or_default().0,
                    pid: sample.pid.unwrap_or(0),
                    tid: sample.tid.unwrap_or(0),
                    time: sample.time.unwrap_or(0),
                    addr: DataAddress::to_word(sample.addr),
                    cpu: sample.cpu.unwrap_or(0),
                    period: sample.period,
                    data_source: 1 << 1 | (1 << 3 | 1 << 1) << 5 | 1 << 33,
                    ..SampleValues::default()
                };
                recording.sample(EventIndex(sample.event.0), &values);
            }
            _ => {}
        }
    }
    recording.to_file()
}

#[test]
fn too_few_samples_on_a_struct_are_counted_and_named_with_how_many_more() {
    let shaper = fixture("demo/shaper");
    let shaper = shaper.to_str().unwrap();
    let (code, judged) = judge(&start_of_demo(60), &["--vmlinux", shaper, "tx_flow", "tx_inbox"]);
    assert_eq!(code, Some(1), "{judged}");
    let flow = &judged["structs"][0];
    let (have, need) = (flow["samples"].as_u64().unwrap(), flow["needed"].as_u64().unwrap());
    assert!(0 < have && have < need, "{flow}");
    let finding = &flow["findings"][0];
    assert_eq!(finding["what"], format!("struct tx_flow: too few samples: have {have}, need about {need}"));
    let remedy = finding["remedy"].as_str().unwrap();
    assert!(remedy.starts_with(&format!("{} more would do: record", need - have)), "{remedy}");
    assert!(finding["command"].as_str().unwrap().contains("-- sleep "), "{finding}");
    // The same without names is no answer to a question.
    let (code, judged) = judge(&start_of_demo(60), &["--vmlinux", shaper]);
    assert_eq!((code, findings(&judged["structs"][0])[0].1), (Some(0), "limits"), "{judged}");
    // The whole recording has enough.
    let whole = fixture("demo/shaper.perf.data");
    let args = ["--perf", whole.to_str().unwrap(), "--vmlinux", shaper, "tx_flow"];
    let (code, value) = json(&args);
    assert_eq!((code, findings(&value["structs"][0])), (Some(0), vec![]));
}

#[test]
fn what_is_no_recording_or_no_struct_is_an_error() {
    let shaper = fixture("demo/shaper");
    let recording = fixture("demo/shaper.perf.data");
    let (shaper, recording) = (shaper.to_str().unwrap(), recording.to_str().unwrap());
    for args in [
        ["--perf", shaper].as_slice(),
        &["--perf", recording, "--vmlinux", shaper, "no_such_struct"],
        &["--perf", recording, "--vmlinux", recording],
    ] {
        let output = doctor(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
