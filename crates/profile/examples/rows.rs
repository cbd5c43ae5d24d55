//! Prints a row per sample, for judging: `rows [--no-addresses] VMLINUX PERF_DATA`.
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::run::Attribution;
use fieldline_typeflow::operands::target::Target;
use fieldline_typeflow::program::Program;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

#[allow(clippy::print_stderr, reason = "an example shows")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let no_addresses = args.first().is_some_and(|arg| arg == "--no-addresses");
    if no_addresses {
        args.remove(0);
    }
    let t = Instant::now();
    let file = FileBytes::open(Path::new(&args[0]))?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let dwarf = Dwarf::new(&sections)?;
    let perf = [SampleFile::open(Path::new(&args[1]))?];
    let mut program = Program::new(&elf, &dwarf)?;
    eprintln!("program {:?}", t.elapsed());
    let attribution = match no_addresses {
        true => Attribution::by_code(&elf, &mut program, &perf)?,
        false => Attribution::new(&elf, &mut program, &perf)?,
    };
    eprintln!(
        "attribution {:?} {} functions {} types {} objects",
        t.elapsed(),
        attribution.answers.functions.len(),
        attribution.answers.types.len(),
        attribution.objects(0).len()
    );
    if let Some(path) = args.get(2) {
        let lines = attribution.objects(0).iter().map(|o| {
            format!(
                "{:x} {:x} {} {} {}-{}\n",
                o.base,
                o.base + o.size,
                attribution.answers.ty(o.ty).map(|entry| entry.name.name.clone()).unwrap_or_default(),
                o.votes.samples,
                o.votes.first,
                o.votes.last
            )
        });
        std::fs::write(path, lines.collect::<String>())?;
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let name =
        |ty| attribution.answers.ty(ty).map(|entry| entry.name.name.replace(' ', "_")).unwrap_or_default();
    attribution.each(0, |sample, found| {
        let (ip, addr) = (sample.ip.unwrap_or(0), sample.addr.unwrap_or(0));
        match found.target {
            Target::Place { ty, offset } => {
                writeln!(out, "{ip:x} {addr:x} {} {offset} - {}", name(ty), sample.time.unwrap_or(0))?
            }
            Target::Unknown(reason) => writeln!(
                out,
                "{ip:x} {addr:x} - - {reason} {} {}",
                sample.time.unwrap_or(0),
                match found.by_code {
                    Target::Place { ty, offset } => format!("{}+{offset}", name(ty)),
                    _ => String::new(),
                }
            )?,
            Target::Within { ty } => writeln!(out, "{ip:x} {addr:x} - - unknown_offset:{}", name(ty))?,
            Target::Element { ty, .. } => writeln!(out, "{ip:x} {addr:x} - - unknown_index:{}", name(ty))?,
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;
    out.flush()?;
    eprintln!(
        "done {:?} {}",
        t.elapsed(),
        std::fs::read_to_string("/proc/self/status")?
            .lines()
            .filter(|line| line.starts_with("VmHWM") || line.starts_with("RssAnon"))
            .collect::<Vec<_>>()
            .join(" ")
    );
    Ok(())
}
