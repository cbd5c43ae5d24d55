//! Prints a row per sample, for judging: `rows VMLINUX PERF_DATA`.
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_profile::attribute::answers::Answers;
use fieldline_profile::attribute::target::Target;
use fieldline_profile::perf_data::{PerfFile, Record};
use fieldline_profile::program::Program;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let t = Instant::now();
    let file = FileBytes::open(Path::new(&args[1]))?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let dwarf = Dwarf::new(&sections)?;
    eprintln!("dwarf {:?}", t.elapsed());
    let perf = PerfFile::open(Path::new(&args[2]))?;
    let mut samples = Vec::new();
    let mut records = perf.records();
    while let Some(record) = records.next_record()? {
        if let Record::Sample(sample) = record {
            let store = sample.data_source.and_then(|s| { let op = s.operation(); if op.is_store() { Some(true) } else if op.is_load() { Some(false) } else { None } });
            samples.push((sample.ip.unwrap_or(0), sample.addr.unwrap_or(0), store));
        }
    }
    eprintln!("samples {} {:?}", samples.len(), t.elapsed());
    let mut ips: Vec<u64> = samples.iter().map(|s| s.0).collect();
    ips.sort_unstable();
    ips.dedup();
    let mut program = Program::new(&elf, &dwarf)?;
    eprintln!("program {:?}", t.elapsed());
    program.load(ips.iter().copied());
    eprintln!("loaded {:?}", t.elapsed());
    let answers = Answers::new(&program, &ips);
    eprintln!("answers {} functions, {} types {:?}", answers.functions.len(), answers.types.len(), t.elapsed());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (ip, addr, store) in &samples {
        let target = answers.at(*ip).target(*store);
        match target {
            Target::Place { ty, offset } => {
                let name = answers.ty(ty).map(|e| e.name.name.replace(' ', "_")).unwrap_or_default();
                writeln!(out, "{ip:x} {addr:x} {name} {offset} -")?;
            }
            Target::Unknown(reason) => writeln!(out, "{ip:x} {addr:x} - - {reason}")?,
            Target::Within { ty } => writeln!(out, "{ip:x} {addr:x} - - unknown_offset:{}", answers.ty(ty).map(|e| e.name.name.replace(' ', "_")).unwrap_or_default())?,
            Target::Element { ty, .. } => writeln!(out, "{ip:x} {addr:x} - - unknown_index:{}", answers.ty(ty).map(|e| e.name.name.replace(' ', "_")).unwrap_or_default())?,
        }
    }
    out.flush()?;
    eprintln!("done {:?}", t.elapsed());
    Ok(())
}
