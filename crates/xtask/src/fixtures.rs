//! Rebuilds the example of `fieldline demo`: the program, a trace of its memory accesses, and a recording
//! sampled from the trace. fixtures/demo/README.md describes each file.
//!
//! * `trace`: the output of valgrind's lackey.
//! * `caches`: the cache level that serves each access on a small machine.
//! * `sampling`: one access per period, with CPU and time.
//! * `recording`: samples to a perf.data file.
//! * `synthetic`: a made-up recording of a real kernel, for tests of all steps up to a patch.

mod caches;
mod recording;
mod sampling;
pub(crate) mod synthetic;
mod trace;

use crate::tools::shell::{self, print_line, root};
use anyhow::{Context, Result, ensure};
use fieldline_debuginfo::{Elf, FileBytes};
use recording::{RecordedProgram, address};
use sampling::{MarkerAddresses, Sample, Sampler};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Name of the program and of its perf.data file, without the ending.
const NAME: &str = "shaper";
/// Where the program is traced. Its path lies on its stack, so it is the same on every machine.
const TRACED_IN: &str = "/tmp/fieldline-fixtures";

/// Builds the files and prints which of them changed.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    ensure!(args.is_empty(), "fixtures takes no arguments");
    shell::require_files(&[("gcc", "gcc"), ("valgrind", "valgrind")])?;
    let folder = root().join("fixtures/demo");
    let program = folder.join(NAME);
    replace(&program, |part| compile(&folder.join("tree"), part))?;
    let (samples, objects) = trace_samples(&program)?;
    let data = recording::write(&RecordedProgram::read(&program)?, &samples);
    replace(&folder.join("shaper.perf.data"), |part| Ok(fs::write(part, &data)?))?;
    replace(&folder.join("objects.tsv"), |part| Ok(fs::write(part, &objects)?))?;
    Ok(true)
}

/// Lets `make` write beside the file, then puts the result in its place.
fn replace(file: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let part = file.with_extension("part");
    make(&part)?;
    let bytes = fs::read(&part)?;
    let is_same = fs::read(file).is_ok_and(|old| old == bytes);
    fs::rename(&part, file).with_context(|| format!("{}", file.display()))?;
    let change = if is_same { "as before" } else { "new" };
    print_line!("{}: {} bytes, {change}", file.display(), bytes.len());
    Ok(())
}

/// Compiles the tree. As in a kernel there are no vector registers, and no path of this machine gets in.
fn compile(tree: &Path, program: &Path) -> Result<()> {
    let mut gcc = Command::new("gcc");
    gcc.current_dir(tree).args(["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    gcc.args(["-mgeneral-regs-only", "-fcf-protection=none", "-no-pie", "-Wl,--build-id=sha1"]);
    gcc.arg(format!("-ffile-prefix-map={}=.", tree.display()));
    gcc.args(["-Iinclude", "-include", "config.h"]).args(units(tree)?).arg("-o").arg(program);
    shell::run(&mut gcc)
}

/// The C files, relative to the tree.
fn units(tree: &Path) -> Result<Vec<PathBuf>> {
    let names = fs::read_dir(tree.join(NAME))?.map(|entry| Ok(Path::new(NAME).join(entry?.file_name())));
    let mut units: Vec<PathBuf> = names.collect::<Result<_>>()?;
    units.sort();
    Ok(units)
}

/// Runs the program under lackey. Returns the samples of its accesses, and the table of its objects.
fn trace_samples(program: &Path) -> Result<(Vec<Sample>, String)> {
    let mut sampler = Sampler::new(markers(program)?);
    fs::create_dir_all(TRACED_IN)?;
    fs::copy(program, Path::new(TRACED_IN).join(NAME))?;
    let printed = trace(&mut sampler)?;
    fs::remove_dir_all(TRACED_IN)?;
    print_line!("{}", sampler.summary());
    Ok((sampler.into_samples(), objects(&printed)?))
}

/// Passes every access of the program to the sampler. Returns the program's output.
fn trace(sampler: &mut Sampler) -> Result<String> {
    // Without the optimiser, lackey sees all loads of the program, in its order.
    let args = ["--tool=lackey", "--vex-iropt-level=0", "--trace-mem=yes", "./shaper", "objects"];
    print_line!("$ cd {TRACED_IN}; env -i valgrind {}", args.join(" "));
    let mut valgrind = Command::new("valgrind");
    valgrind.args(args).current_dir(TRACED_IN).env_clear();
    let mut child = valgrind.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    for line in BufReader::new(child.stderr.take().context("no trace")?).split(b'\n') {
        trace::parse(&line?).into_iter().for_each(|event| sampler.process_event(event));
    }
    let mut printed = String::new();
    child.stdout.take().context("no output")?.read_to_string(&mut printed)?;
    let status = child.wait()?;
    ensure!(status.success(), "{NAME} under valgrind: {status}\n{printed}");
    Ok(printed)
}

/// Addresses of the variables by which the program announces CPUs and the recording.
fn markers(program: &Path) -> Result<MarkerAddresses> {
    let file = FileBytes::open(program)?;
    let elf = Elf::parse(&file)?;
    Ok(MarkerAddresses { cpus: address(&elf, "turn_of")?, recording: address(&elf, "recording")? })
}

/// The rows `type address size count` among what the program printed.
fn objects(printed: &str) -> Result<String> {
    let mut table = String::from("# type\taddress of the first\tsize\thow many, one behind the other\n");
    let rows = printed.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let rows: Vec<_> = rows.filter(|words| words.len() == 4 && words[1].starts_with("0x")).collect();
    ensure!(!rows.is_empty(), "the program did not say where its objects are:\n{printed}");
    rows.iter().for_each(|row| table.extend([&row.join("\t"), "\n"]));
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::perf_data::{PerfFile, Record};
    use std::collections::BTreeMap;

    fn demo(name: &str) -> PathBuf {
        root().join("fixtures/demo").join(name)
    }

    #[test]
    fn the_recording_is_of_the_program_beside_it() {
        let file = FileBytes::open(&demo("shaper")).unwrap();
        let id = Elf::parse(&file).unwrap().build_id().unwrap().to_vec();
        let recording = PerfFile::open(&demo("shaper.perf.data")).unwrap();
        let recorded: Vec<&[u8]> =
            recording.facts().build_ids.iter().map(|entry| entry.build_id.as_bytes()).collect();
        assert_eq!(recorded, [id.as_slice()]);
    }

    /// Every sample lies in a function of the program, and many on the objects it says it has.
    #[test]
    fn samples_lie_on_code_and_objects_of_the_program() {
        let file = FileBytes::open(&demo("shaper")).unwrap();
        let elf = Elf::parse(&file).unwrap();
        let functions: Vec<(u64, u64)> = elf
            .symbols()
            .filter(|symbol| symbol.is_function)
            .filter_map(|symbol| Some((symbol.address, symbol.address + symbol.size?)))
            .collect();
        let pools = pools();
        let recording = PerfFile::open(&demo("shaper.perf.data")).unwrap();
        let mut records = recording.records();
        let (mut samples, mut found) = (0, BTreeMap::new());
        while let Some(record) = records.next_record().unwrap() {
            let Record::Sample(sample) = record else { continue };
            let (ip, address) = (sample.ip.unwrap().0, sample.addr.unwrap().get());
            assert!(functions.iter().any(|(start, end)| (*start..*end).contains(&ip)), "{ip:#x}");
            samples += 1;
            for (name, start, end) in &pools {
                if (*start..*end).contains(&address) {
                    *found.entry(name.as_str()).or_insert(0) += 1;
                }
            }
        }
        assert!((5_000..15_000).contains(&samples), "{samples}");
        assert_eq!(found.len(), 2);
        assert!(found.values().all(|count| 5 * count > samples), "{found:?} of {samples}");
    }

    /// Types with the addresses of the first object and behind the last.
    fn pools() -> Vec<(String, u64, u64)> {
        let text = fs::read_to_string(demo("objects.tsv")).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        rows.map(|row| {
            let words: Vec<&str> = row.split('\t').collect();
            let start = u64::from_str_radix(words[1].trim_start_matches("0x"), 16).unwrap();
            let (size, count): (u64, u64) = (words[2].parse().unwrap(), words[3].parse().unwrap());
            (words[0].to_owned(), start, start + size * count)
        })
        .collect()
    }

    /// Debug info and text of the recorded program are the same on every build machine.
    #[test]
    fn no_path_of_the_build_machine_is_in_the_program() {
        let bytes = fs::read(demo("shaper")).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for word in ["/home", "/root", "/work", "/tmp", "/usr", "/build"] {
            assert!(!text.contains(word), "{word}");
        }
    }

    #[test]
    fn rows_of_objects_are_found_among_other_words() {
        let printed = "4 CPUs, 2 classes, here\ntx_class 0x1000 64 2\nchecksum 0x12, good\n";
        assert!(objects(printed).unwrap().ends_with("\ntx_class\t0x1000\t64\t2\n"));
        assert!(objects("nothing\n").is_err());
    }
}
