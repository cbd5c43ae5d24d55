//! A kernel in QEMU: its recording against its own objects, and layouts whose order of cost is known.

use crate::tools::chosen::{self, Purpose};
use crate::tools::shell::{self, print_line};
use crate::tools::{debian, inputs};
use anyhow::{Context, Result, ensure};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_plan::simulate::{
    Rearrangement, SimulatedMachine, TraceAccess, TraceAccesses, TraceObject, simulate,
};
use fieldline_plan::{Plan, StructPlan};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Accesses of the window.
const WINDOW: &str = "2M";
/// Accesses from one sample to the next. A short window needs many samples: what lies at an address is known by others
/// there.
const PERIOD: &str = "20";
/// Least share of samples in objects that are found, in percent.
const LEAST_RECALL: f64 = 99.0;
/// Least share of findings that are right, in percent.
const LEAST_PRECISION: f64 = 99.9;
/// The function that switches tasks, and what it takes of each CPU.
const SWITCHING: &str = "__schedule";
const RUN_QUEUE: &str = "rq";
/// Bytes of a line.
const LINE: u64 = 64;
/// Accesses of a CPU to other things that end a visit (docs/METHOD.md).
const VISIT_GAP: u64 = 400;
/// Bytes of the modelled caches.
const CACHES: [u64; 3] = [32 << 10, 256 << 10, 4 << 20];
const CPUS: usize = 8;

/// `cargo xtask guest [VMLINUX]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let vmlinux = args.first().map_or_else(inputs::vmlinux, |path| Ok(path.into()))?;
    record_and_score(&vmlinux)
}

/// Records a window twice, scores it by its own objects, and replays three layouts on its own trace: one member a line
/// costs more than the declared layout, and that more than the one planned from these samples.
pub(crate) fn record_and_score(vmlinux: &Path) -> Result<bool> {
    let (vmlinux, image) = inputs::bootable(vmlinux)?;
    let out = shell::temporary("guest");
    fs::create_dir_all(&out)?;
    let (first, second) =
        (record(&vmlinux, &image, &out, "first")?, record(&vmlinux, &image, &out, "second")?);
    ensure!(first == second, "two recordings with the same arguments differ");
    let path = |name: &str| out.join(format!("first.{name}"));
    let scored = score(&vmlinux, &path("perf.data"), &path("objects"))?;
    let owned = check_cpus(&vmlinux, &path("trace"), &path("objects"))?;
    let profile = out.join("profile.json");
    let plan = out.join("plan.json");
    let mut command = Command::new(shell::fieldline()?);
    command.args(["profile", "-q", "--vmlinux"]).arg(&vmlinux).arg("--perf").arg(path("perf.data"));
    shell::run(command.arg("-o").arg(&profile))?;
    let mut command = Command::new(shell::fieldline()?);
    command.args(["plan", "-q", "--candidate", "best"]).args(chosen::structs(Purpose::Planned)?);
    command.arg("--vmlinux").arg(&vmlinux).arg("--profile").arg(&profile);
    shell::run(command.arg("-o").arg(&plan))?;
    let ordered = known_order(&plan, &path("trace"), &path("objects"))?;
    fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    Ok(scored && owned && ordered)
}

/// The bytes of a recording and of its trace.
fn record(vmlinux: &Path, image: &Path, out: &Path, name: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    let path = |kind: &str| out.join(format!("{name}.{kind}"));
    let types = chosen::attributed()?.join(",");
    let mut command = Command::new(shell::fieldline()?);
    command.args([
        "guest",
        "record",
        "--window",
        WINDOW,
        "--period",
        PERIOD,
        "--types",
        &types,
        "--cpus",
        &CPUS.to_string(),
    ]);
    command.arg("--kernel").arg(image).arg("--vmlinux").arg(vmlinux).arg("--qemu").arg(debian::qemu()?);
    command.arg("-o").arg(path("perf.data")).arg("--trace").arg(path("trace"));
    shell::run(command.arg("--objects").arg(path("objects")))?;
    Ok((fs::read(path("perf.data"))?, fs::read(path("trace"))?))
}

/// Begin, size and type of objects.
type Objects = BTreeMap<String, BTreeMap<u64, u64>>;

fn read_objects(path: &Path) -> Result<Objects> {
    let mut objects = Objects::new();
    for line in fs::read_to_string(path)?.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split('\t');
        let broken = || format!("{}: {line}", path.display());
        let address =
            words.next().and_then(|word| u64::from_str_radix(word, 16).ok()).with_context(broken)?;
        let name = words.next().with_context(broken)?;
        let size = words.next().and_then(|word| word.parse().ok()).with_context(broken)?;
        objects.entry(name.to_owned()).or_default().insert(address, size);
    }
    Ok(objects)
}

fn is_inside(of_type: &BTreeMap<u64, u64>, address: u64) -> bool {
    let before = of_type.range(..=address).next_back();
    before.is_some_and(|(begin, size)| address - begin < *size)
}

/// Recall by type and precision of all, by where objects of these types were.
fn score(vmlinux: &Path, recording: &Path, objects: &Path) -> Result<bool> {
    let objects = read_objects(objects)?;
    let mut command = Command::new(shell::fieldline()?);
    let rows =
        shell::output(command.args(["samples", "--vmlinux"]).arg(vmlinux).arg("--perf").arg(recording))?;
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let (mut right, mut wrong) = (0_u64, 0_u64);
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split(' ').collect();
        let [_, address, claimed, offset, ..] = words[..] else { continue };
        let address = u64::from_str_radix(address, 16)?;
        let truth: BTreeSet<&str> = (objects.iter().filter(|(_, of_type)| is_inside(of_type, address)))
            .map(|(name, _)| name.as_str())
            .collect();
        let offset = offset
            .strip_prefix("0x")
            .map_or_else(|| offset.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
        let begin = offset.map(|offset| address.wrapping_sub(offset));
        let is_right =
            objects.get(claimed).zip(begin).is_some_and(|(of_type, begin)| of_type.contains_key(&begin));
        if objects.contains_key(claimed) && !truth.is_empty() {
            *(if is_right { &mut right } else { &mut wrong }) += 1;
        }
        // A struct within another is both.
        for name in truth {
            let (seen, found) = counts.entry(name).or_default();
            *seen += 1;
            *found += u64::from(is_right);
        }
    }
    let mut holds = true;
    for (name, (seen, found)) in &counts {
        let recall = 100.0 * *found as f64 / (*seen).max(1) as f64;
        print_line!("  {name}: {recall:.2} % of {seen} samples found");
        holds &= recall >= LEAST_RECALL;
    }
    let precision = 100.0 * right as f64 / (right + wrong).max(1) as f64;
    print_line!("  {precision:.3} % of {} findings are right", right + wrong);
    Ok(holds && precision >= LEAST_PRECISION && counts.len() >= chosen::structs(Purpose::Planned)?.len())
}

/// Whether the scheduler takes a CPU's own run queue wherever it switches tasks: so the numbers of CPUs are the guest's.
fn check_cpus(vmlinux: &Path, trace: &Path, objects: &Path) -> Result<bool> {
    let file = FileBytes::open(vmlinux)?;
    let elf = Elf::parse(&file)?;
    let symbol = elf.symbols().find(|symbol| symbol.name == SWITCHING).context(SWITCHING)?;
    let code = symbol.address as u32..(symbol.address + symbol.size.unwrap_or(0)) as u32;
    let mut queues = BTreeMap::new();
    for line in fs::read_to_string(objects)?.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        if let [address, name, size, _, life] = words[..]
            && name == RUN_QUEUE
        {
            let cpu = life
                .split(' ')
                .find_map(|word| word.strip_prefix("cpu="))
                .context("a run queue without a CPU")?;
            queues.insert(u64::from_str_radix(address, 16)?, (size.parse::<u64>()?, cpu.parse::<u8>()?));
        }
    }
    let (mut own, mut others) = (0, 0);
    for record in fs::read(trace)?.chunks_exact(fieldline_plan::simulate::RECORD_BYTES) {
        let address = u64::from_le_bytes(record[..8].try_into()?);
        let is_mark = record[13] & 0x7c == 0x7c;
        if is_mark || !code.contains(&u32::from_le_bytes(record[8..12].try_into()?)) {
            continue;
        }
        let queue = queues.range(..=address).next_back();
        if let Some((_, (_, cpu))) = queue.filter(|(begin, (size, _))| address - **begin < *size) {
            *(if *cpu == record[12] { &mut own } else { &mut others }) += 1;
        }
    }
    print_line!("  {SWITCHING} touches its CPU's own {RUN_QUEUE} {own} times, others {others} times");
    Ok(own > 0 && others == 0)
}

/// Whether lines per visit fall from one member a line to the declared layout to the planned one, for each struct.
fn known_order(plan: &Path, trace: &Path, objects: &Path) -> Result<bool> {
    let plan: Plan = serde_json::from_slice(&fs::read(plan)?)?;
    let accesses = read_trace(&fs::read(trace)?);
    let table = read_objects(objects)?;
    let mut places = Vec::new();
    for (struct_index, struct_plan) in plan.structs.iter().enumerate() {
        let of_type =
            table.get(&struct_plan.name).with_context(|| format!("no object of {}", struct_plan.name))?;
        places.extend(of_type.iter().map(|(base, size)| TraceObject {
            base: *base,
            size: *size,
            struct_index,
        }));
    }
    let spread: Vec<StructPlan> = plan.structs.iter().map(with_a_line_for_each_member).collect();
    let layouts = [
        spread.iter().map(Rearrangement::chosen).collect::<Vec<_>>(),
        plan.structs.iter().map(Rearrangement::declared).collect(),
        plan.structs.iter().map(Rearrangement::chosen).collect(),
    ];
    let (gap, block) = (VISIT_GAP, accesses.len() as u64);
    let machine = SimulatedMachine { cpus: CPUS, line: LINE, sizes: CACHES, gap, block };
    let totals = layouts.map(|layout| {
        simulate(&machine, &places, &layout, &[], &TraceAccesses::Listed(accesses.iter())).totals()
    });
    let mut holds = !plan.structs.is_empty();
    for (index, struct_plan) in plan.structs.iter().enumerate() {
        let lines = totals.each_ref().map(|total| {
            let counts = total.get(index).copied().unwrap_or_default();
            counts.lines as f64 / counts.visits.max(1) as f64
        });
        let [spread, declared, packed] = lines;
        print_line!(
            "  {}: {spread:.3} lines a visit with a line for each member, {declared:.3} as declared, {packed:.3} as planned",
            struct_plan.name
        );
        holds &= spread > declared && declared > packed;
    }
    Ok(holds)
}

fn with_a_line_for_each_member(struct_plan: &StructPlan) -> StructPlan {
    let mut spread = struct_plan.clone();
    spread.chosen = spread.declared.clone();
    let mut next = 0;
    for member in &mut spread.chosen.members {
        member.offset = next;
        next += member.size.max(1).next_multiple_of(LINE);
    }
    spread.chosen.size = next;
    spread
}

/// The accesses of a trace, without its marks (docs/formats.md).
fn read_trace(bytes: &[u8]) -> Vec<TraceAccess> {
    let records = bytes.chunks_exact(fieldline_plan::simulate::RECORD_BYTES);
    TraceAccesses::Binary(records).collect()
}
