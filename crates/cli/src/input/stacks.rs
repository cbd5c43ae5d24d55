//! Samples of recordings as functions: of perf.data by the symbols of programs, of texts of perf script as printed.

use anyhow::{Context, Result, bail};
use fieldline_compare::call_tree::for_each_stack;
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::Record;
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::{Linker, check_build_id};
use std::path::{Path, PathBuf};

/// Addresses from here on are marks in a call chain (`PERF_CONTEXT_MAX`), and those that begin code of kernel and user
/// (`PERF_CONTEXT_KERNEL`, `PERF_CONTEXT_USER`).
const FIRST_MARK: u64 = 0_u64.wrapping_sub(4095);
const KERNEL_MARK: u64 = 0_u64.wrapping_sub(128);
const USER_MARK: u64 = 0_u64.wrapping_sub(512);
/// Names of frames without a symbol.
const USER: &str = "[user space]";
const UNKNOWN: &str = "[unknown]";

/// One sample: its event, how many events it stands for, and its functions, innermost first.
pub(crate) struct FunctionSample<'s> {
    pub(crate) event: &'s str,
    pub(crate) weight: f64,
    pub(crate) functions: &'s [&'s str],
}

/// Gives each sample of a recording.
pub(crate) fn for_each_sample(
    path: &Path,
    programs: &[PathBuf],
    is_forced: bool,
    mut each: impl FnMut(FunctionSample<'_>),
) -> Result<()> {
    let place = || path.display().to_string();
    let file = SampleFile::open(path).with_context(place)?;
    if let SampleFile::Script(_) = file {
        let text = String::from_utf8_lossy(&fieldline_files::read(path).with_context(place)?).into_owned();
        let has_samples = for_each_stack(&text, |event, weight, functions| {
            each(FunctionSample { event, weight, functions });
        });
        if !has_samples {
            bail!("{}: no samples with symbols: perf script prints them with -F +sym", path.display());
        }
        return Ok(());
    }
    if programs.is_empty() {
        bail!(
            "{}: a perf.data has no symbols: add --vmlinux FILE, the kernel that was recorded",
            path.display()
        );
    }
    let bytes: Vec<FileBytes> =
        programs.iter().map(|path| Ok(FileBytes::open(path)?)).collect::<Result<Vec<FileBytes>>>()?;
    let elfs: Vec<Elf<'_>> = bytes.iter().map(|bytes| Ok(Elf::parse(bytes)?)).collect::<Result<Vec<_>>>()?;
    let matching = matching(&elfs, &file, is_forced).with_context(place)?;
    let mut symbols: Vec<SymbolTable<'_>> =
        matching.into_iter().map(|elf| SymbolTable::new(elf, &file)).collect::<Result<Vec<_>>>()?;
    file.for_each_non_sample(|record| symbols.iter_mut().for_each(|table| table.linker.add_record(record)))
        .with_context(place)?;
    symbols.iter_mut().for_each(|table| table.linker.finish_mappings());
    each_of_recording(&file, &symbols, &mut each).with_context(place)
}

fn each_of_recording(
    file: &SampleFile,
    symbols: &[SymbolTable<'_>],
    each: &mut impl FnMut(FunctionSample<'_>),
) -> Result<()> {
    let events = &file.facts().events;
    let mut records = file.records();
    let mut functions: Vec<&str> = Vec::new();
    while let Some(record) = records.next_record()? {
        let Record::Sample(sample) = record else { continue };
        functions.clear();
        functions.push(name(symbols, &sample));
        add_callers(&mut functions, symbols, &sample);
        let event = events.get(sample.event.0 as usize).map_or("", |event| event.name.as_str());
        each(FunctionSample { event, weight: sample.period as f64, functions: &functions });
    }
    Ok(())
}

/// Programs that the recording may be of, by build ID.
fn matching<'e, 'd>(elfs: &'e [Elf<'d>], file: &SampleFile, is_forced: bool) -> Result<Vec<&'e Elf<'d>>> {
    let checked: Vec<_> = elfs.iter().map(|elf| (elf, check_build_id(elf, file))).collect();
    let fitting: Vec<&Elf<'_>> =
        checked.iter().filter(|(_, check)| check.is_ok()).map(|(elf, _)| *elf).collect();
    match checked.into_iter().find_map(|(_, check)| check.err()) {
        Some(mismatch) if fitting.is_empty() && !is_forced => Err(mismatch.into()),
        Some(_) if fitting.is_empty() => Ok(elfs.iter().collect()),
        _ => Ok(fitting),
    }
}

/// Functions of a program by linked address.
struct SymbolTable<'e> {
    linker: Linker,
    /// Begin, end and name, sorted.
    functions: Vec<(u64, u64, &'e str)>,
}

impl<'e> SymbolTable<'e> {
    fn new(elf: &'e Elf<'_>, file: &SampleFile) -> Result<Self> {
        let function = |symbol: fieldline_debuginfo::elf::Symbol<'e>| {
            let end = symbol.address.saturating_add(symbol.size.unwrap_or(0));
            (symbol.address, end, symbol.name)
        };
        let found = elf.symbols().filter(|symbol| symbol.is_function && symbol.address != 0);
        let mut functions: Vec<(u64, u64, &str)> = found.map(function).collect();
        functions.sort_unstable();
        Ok(Self { linker: Linker::new(elf, file)?, functions })
    }

    fn find(&self, sample: &Sample<'_>) -> Option<&'e str> {
        let address = self.linker.locate(sample).ok()?.ip.0;
        let at = self.functions.partition_point(|(begin, ..)| *begin <= address).checked_sub(1)?;
        let (begin, ..) = self.functions.get(at)?;
        // Of several names of one function the first.
        let first = self.functions.partition_point(|(other, ..)| other < begin);
        let same = self.functions.get(first..=at)?;
        same.iter().find(|(begin, end, _)| address < *end || begin == end).map(|(.., name)| *name)
    }
}

fn name<'e>(symbols: &[SymbolTable<'e>], sample: &Sample<'_>) -> &'e str {
    let found = symbols.iter().find_map(|table| table.find(sample));
    found.unwrap_or(if sample.cpu_mode == CpuMode::User { USER } else { UNKNOWN })
}

/// Callers, by return addresses: the call is the instruction in front. The first address is the sample's own.
fn add_callers<'e>(functions: &mut Vec<&'e str>, symbols: &[SymbolTable<'e>], sample: &Sample<'_>) {
    let Some(chain) = sample.callchain else { return };
    let mut mode = sample.cpu_mode;
    let mut is_own = true;
    for word in chain.iter() {
        match word {
            KERNEL_MARK => mode = CpuMode::Kernel,
            USER_MARK => mode = CpuMode::User,
            _ if word >= FIRST_MARK => {}
            _ if is_own && sample.ip == Some(LoadedAddress(word)) => is_own = false,
            _ => {
                let caller =
                    Sample { cpu_mode: mode, ..sample.with_ip(Some(LoadedAddress(word.wrapping_sub(1)))) };
                functions.push(name(symbols, &caller));
                is_own = false;
            }
        }
    }
}
