//! Texts of our own writing in the forms that perf 6.12 prints.

use super::*;
use crate::sample::CpuMode;
use crate::testing::Random;

fn parse_script(text: &str) -> ScriptFile {
    ScriptFile::from_source(ByteSource::Memory(text.as_bytes().to_vec())).unwrap()
}

fn error(text: &str) -> String {
    ScriptFile::from_source(ByteSource::Memory(text.as_bytes().to_vec())).unwrap_err().to_string()
}

/// Works on each sample of a text.
fn for_each_sample(script: &ScriptFile, mut handle: impl FnMut(&Sample<'_>)) {
    let mut records = script.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Sample(sample) = record {
            handle(&sample);
        }
    }
}

const FULL: &str = "\
# hostname : box
#
 worker 7/8 [003]  12.000001500: PERF_RECORD_LOST lost 5
 worker 7/8 [003]  12.000001500:   200  cpu/mem-loads,ldlat=3/P: ffff888000000010   628100842 |OP LOAD|LVL L3 hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A      50 ffffffff81000010 walk+0x10 ([kernel.kallsyms])
 worker 7/8 [003]  12.000002500:   300         cpu/mem-stores/P: ffff888000000018   628100844 |OP STORE|LVL L3 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A       7 ffffffff81000020 walk+0x20 ([kernel.kallsyms])
 worker 7/8 [003]  12.000003000:   300         cpu/mem-stores/P:                0   628100844 |OP STORE|LVL L3 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A       7             4010 main+0x10 (/bin/a)
";

#[test]
fn every_field_of_a_line() {
    let script = parse_script(FULL);
    assert_eq!(script.facts().hostname.as_deref(), Some("box"));
    let names: Vec<&str> = script.facts().events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["cpu/mem-loads,ldlat=3/P", "cpu/mem-stores/P"]);
    assert!(script.notes().is_empty(), "{:?}", script.notes());
    let mut rows = Vec::new();
    for_each_sample(&script, |sample| {
        let source = sample.data_source.map(|source| source.0);
        let (ip, addr) = (sample.ip.map(|ip| ip.0), sample.addr.map(DataAddress::get));
        rows.push((sample.event.0, ip, addr, sample.period, sample.latency, source));
        assert_eq!((sample.pid, sample.tid, sample.cpu), (Some(7), Some(8), Some(3)));
    });
    let first =
        (0, Some(0xffff_ffff_8100_0010), Some(0xffff_8880_0000_0010), 200, Some(50), Some(0x6_2810_0842));
    let last = (1, Some(0x4010), None, 300, Some(7), Some(0x6_2810_0844));
    assert_eq!((rows.len(), rows[0], rows[2]), (3, first, last));
    let mut modes = Vec::new();
    for_each_sample(&script, |sample| {
        modes.push((sample.cpu_mode, sample.dso.map(str::to_owned), sample.time))
    });
    assert_eq!(modes[0], (CpuMode::Kernel, Some("[kernel.kallsyms]".to_owned()), Some(12_000_001_500)));
    assert_eq!(modes[2], (CpuMode::User, Some("/bin/a".to_owned()), Some(12_000_003_000)));
}

#[test]
fn symbol_addresses_are_loaded_addresses() {
    let script = parse_script(FULL);
    let kernel = &script.symbol_addresses()[&AddressSpace::Kernel].symbols;
    assert_eq!(kernel.get("walk"), Some(&Some(LoadedAddress(0xffff_ffff_8100_0000))));
    let program = &script.symbol_addresses()[&AddressSpace::Program(7, "/bin/a".to_owned())].symbols;
    assert_eq!(program.get("main"), Some(&Some(LoadedAddress(0x4000))));
}

#[test]
fn notes_name_the_fields_that_are_not_printed() {
    let script =
        parse_script("1.000001: cycles: ffffffff81000010 walk\n1.000002: cycles: ffffffff81000010 walk\n");
    let notes = script.notes();
    assert!(notes[0].contains("no addr, data_src, weight, period;"), "{notes:?}");
    assert!(notes[1].contains("+symoff") && notes[2].contains("--ns"), "{notes:?}");
    for_each_sample(&script, |sample| assert_eq!((sample.period, sample.addr, sample.cpu), (1, None, None)));
}

#[test]
fn call_chains_and_branches_are_parts() {
    let text = "a 7/8 [003] 1.000001: 200 cycles: \n\t\
                ffffffff81000010 inner (inlined)\n\tffffffff81000010 walk+0x10 ([kernel.kallsyms])\n\t\
                ffffffff81000020 run+0x10 ([kernel.kallsyms])\n\n\
                a 7/8 [003] 1.000002: 200 cycles: ffffffff81000010 walk+0x10 (x) 0x10/0x20/P/-/-/0 0x30/0x40/P/-/-/0\n";
    let mut found = Vec::new();
    for_each_sample(&parse_script(text), |sample| {
        let chain: Vec<u64> = sample.callchain.iter().flat_map(|chain| chain.iter()).collect();
        let branches: Vec<u64> =
            sample.branch_stack.iter().flat_map(|stack| stack.entries()).map(|branch| branch.to.0).collect();
        assert_eq!(sample.ip, Some(LoadedAddress(0xffff_ffff_8100_0010)));
        found.push((chain, branches));
    });
    let chain = vec![0xffff_ffff_8100_0010, 0xffff_ffff_8100_0020];
    assert_eq!(found, [(chain, vec![]), (vec![], vec![0x20, 0x40])]);
}

#[test]
fn lines_that_cannot_be_understood_are_named() {
    let good = "1.000001: cycles: ffffffff81000010 walk\n";
    assert!(error(&format!("{good}Hello there\n")).starts_with("line 2: is not of a form"));
    assert!(error("\n\tffffffff81000010 walk\n").starts_with("line 2: is not of a form"));
    assert!(error(&format!("{good}\tnothing here\n")).contains("line 2: \"nothing\" is not an address"));
    assert!(error(&format!("{good}1.000100: PERF_RECORD_LOST\n")).starts_with("line 2: is not of a form"));
    let warning = error(&format!("{good}Warning: something happened\n"));
    assert_eq!(warning, "line 2: lacks the field time, which line 1 has");
    assert_eq!(
        error(&format!("{good}1.000100: 4010 walk\n")),
        "line 2: lacks the field event, which line 1 has"
    );
    assert!(error("a 1.000001: PERF_RECORD_MMAP 1/1: [0x\n").starts_with("line 1"));
    let no_ip = error("# comment\na 1 [000] 1.000001: cycles:\n");
    assert!(no_ip.starts_with("line 2: has no address of an instruction"), "{no_ip}");
}

#[test]
fn numbers_too_large_and_changing_fields_are_named() {
    let large = "1.000001: x: ffff888000000010 12345678901234567890 ffffffff81000010 walk\n";
    let text =
        large.replace("12345678901234567890", "5") + &large.replace("ffffffff81000010", "ffffffff8100001000");
    let script = parse_script(&text);
    let mut records = script.records();
    records.next_record().unwrap();
    let error = records.next_record().unwrap_err().to_string();
    assert!(error.starts_with("line 2: "), "{error}");
    let words = "1.000001: x: 10 21 |OP LOAD|LVL L1 hit 5 4010 walk\n1.000002: x: 4010 walk\n";
    let script = super::ScriptFile::from_source(ByteSource::Memory(words.into())).unwrap();
    let mut records = script.records();
    records.next_record().unwrap();
    let error = records.next_record().unwrap_err().to_string();
    assert!(error.starts_with("line 2: has other fields"), "{error}");
}

#[test]
fn text_differs_from_other_files() {
    assert!(is_text(b"# comment\n\ta\r\n") && is_text("caf\u{e9}".as_bytes()));
    assert!(!is_text(b"\x7fELF\x02\x01") && !is_text(b"") && !is_text(b"PERFILE\0"));
}

/// Words that lines are made of, and some that they are not.
const WORDS: [&str; 26] = [
    "worker",
    "7/8",
    "-1/-1",
    "8",
    "[003]",
    "K",
    "1.000001:",
    "1.000000001:",
    "200",
    "cycles:",
    "mem:0x10:rw:",
    "|OP LOAD|LVL L1",
    "|SNP",
    "PERF_RECORD_MMAP",
    "PERF_RECORD_LOST",
    "lost",
    "1/1: [0x10(0x20) @ 0]: x /a",
    "ffffffff81000010",
    "0",
    "add",
    "walk+0x10",
    "([xfs])",
    "(/a",
    "\n\t",
    "\n",
    "0x10/0x20/P",
];

#[test]
fn any_text_is_read_or_refused() {
    let mut random = Random(1);
    for _ in 0..1000 {
        let words: Vec<&str> = (0..random.below(60)).map(|_| WORDS[random.below(WORDS.len())]).collect();
        let any: String = (0..random.below(21)).map(|_| any_char(&mut random)).collect();
        let text = words.join(" ") + &any;
        let Ok(script) = ScriptFile::from_source(ByteSource::Memory(text.into_bytes())) else { continue };
        let mut records = script.records();
        let mut count = 0;
        while let Ok(Some(record)) = records.next_record() {
            if let Record::Sample(sample) = record {
                assert!(sample.event.index() < script.facts().events.len());
                assert!(sample.callchain.is_some() && sample.branch_stack.is_some());
            }
            count += 1;
        }
        assert!(count <= words.len() + any.len() + 1);
    }
}

/// ASCII half of the time; no end of a line, which the words have.
fn any_char(random: &mut Random) -> char {
    let end = if random.below(2) == 0 { 0x80 } else { 0x11_0000 };
    char::from_u32(random.below(end) as u32).filter(|&letter| letter != '\n').unwrap_or(' ')
}
