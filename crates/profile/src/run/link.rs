//! Addresses of the recorded machine to addresses as linked.
//!
//! A kernel is moved as a whole (KASLR): perf writes where a symbol of it was. A program is mapped by segments: each
//! mapping says which part of the file it shows.

use super::landmarks;
use crate::attribute::reason::Reason;
use crate::perf_data::{Error, Mmap};
use crate::sample::{CpuMode, Sample};
use crate::sample_file::SampleFile;
use fieldline_debuginfo::Elf;
use fieldline_debuginfo::dwarf::sections::hex;

/// The recording is of another program than the one given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{program} has build id {given}, but the recording is of build id {recorded}")]
pub struct Mismatch {
    /// The file given.
    pub program: String,
    /// Its build id.
    pub given: String,
    /// What was recorded.
    pub recorded: String,
}

/// Whether a recording may be of this program, by build ids. Where either has none, nothing is known and nothing said.
///
/// # Errors
/// If both have one and they differ.
pub fn check_build_id(elf: &Elf<'_>, file: &SampleFile) -> Result<(), Mismatch> {
    let Some(given) = elf.build_id() else { return Ok(()) };
    let recorded: Vec<String> = if is_kernel(elf) {
        file.facts().kernel_build_id().iter().map(|id| hex(id.as_bytes())).collect()
    } else {
        let same_name =
            file.facts().build_ids.iter().filter(|dso| base_name(&dso.filename) == program_name(elf));
        same_name.map(|dso| hex(dso.build_id.as_bytes())).collect()
    };
    let given = hex(given);
    // Old perf files pad build ids with zeros to 20 bytes.
    let same = |recorded: &String| recorded.trim_end_matches('0') == given.trim_end_matches('0');
    match recorded.first() {
        Some(first) if !recorded.iter().any(same) => {
            Err(Mismatch { program: elf.name().to_owned(), given, recorded: first.clone() })
        }
        _ => Ok(()),
    }
}

/// Whether a file is a kernel: it lies in the upper half of the address space.
pub fn is_kernel(elf: &Elf<'_>) -> bool {
    let half = if elf.pointer_size() == 8 { 1 << 63 } else { 1 << 31 };
    !elf.is_relocatable() && elf.text_sections().iter().any(|(_, address, _)| *address >= half)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn program_name<'e>(elf: &'e Elf<'_>) -> &'e str {
    base_name(elf.name())
}

/// Turns addresses of one recording into addresses of one program.
#[derive(Clone, Debug)]
pub struct Linker {
    is_kernel: bool,
    /// What the kernel was moved by.
    slide: u64,
    maps: Vec<Map>,
    program: String,
    build_id: Option<Vec<u8>>,
    /// Address, size and file offset of the program's segments.
    segments: Vec<(u64, u64, u64)>,
}

/// A part of the program mapped by a process.
#[derive(Clone, Copy, Debug)]
struct Map {
    pid: u32,
    begin: u64,
    end: u64,
    /// Recorded address less address as linked.
    slide: u64,
}

impl Linker {
    /// For a recording that was checked to be of the program.
    ///
    /// # Errors
    /// If the recording's first records can't be read.
    pub fn new(elf: &Elf<'_>, file: &SampleFile) -> Result<Self, Error> {
        let is_kernel = is_kernel(elf);
        let mut linker = Self {
            is_kernel,
            slide: if is_kernel { kernel_slide(elf, file)? } else { 0 },
            maps: Vec::new(),
            program: program_name(elf).to_owned(),
            build_id: elf.build_id().map(<[u8]>::to_vec),
            segments: elf.segments(),
        };
        if !is_kernel {
            linker.maps = landmarks::program_slides(elf, &linker.program, file)
                .into_iter()
                .filter_map(|(pid, slide)| linker.whole_program(pid, slide))
                .collect();
        }
        Ok(linker)
    }

    /// The program moved as a whole, as a text's symbols show it. Mappings, where there are such, come later and win.
    fn whole_program(&self, pid: u32, slide: u64) -> Option<Map> {
        let begin = self.segments.iter().map(|(address, _, _)| *address).min()?;
        let end = self.segments.iter().map(|(address, size, _)| address.saturating_add(*size)).max()?;
        Some(Map { pid, begin: begin.wrapping_add(slide), end: end.wrapping_add(slide), slide })
    }

    /// Takes note of a mapping.
    pub fn note(&mut self, mmap: &Mmap<'_>) {
        if self.is_kernel || !self.is_program(mmap) {
            return;
        }
        let holds = |segment: &&(u64, u64, u64)| {
            let (_, size, offset) = **segment;
            // Mappings begin at the page that holds the segment's first byte.
            offset & !0xfff <= mmap.page_offset && mmap.page_offset < offset.saturating_add(size)
        };
        let Some((address, _, offset)) = self.segments.iter().find(holds) else { return };
        let linked = address.wrapping_sub(*offset).wrapping_add(mmap.page_offset);
        let slide = mmap.address.wrapping_sub(linked);
        let end = mmap.address.saturating_add(mmap.length);
        self.maps.push(Map { pid: mmap.pid, begin: mmap.address, end, slide });
    }

    fn is_program(&self, mmap: &Mmap<'_>) -> bool {
        match (&mmap.build_id, &self.build_id) {
            (Some(recorded), Some(given)) => recorded.as_bytes() == given,
            _ => base_name(&mmap.filename) == self.program,
        }
    }

    /// Recorded address less address as linked: of the kernel, or of the program as it was mapped first.
    pub fn slide(&self) -> u64 {
        match self.is_kernel {
            true => self.slide,
            false => self.maps.first().map_or(0, |map| map.slide),
        }
    }

    /// The address as linked of a sample's instruction.
    ///
    /// # Errors
    /// The reason, if it is not of the program.
    pub fn link(&self, sample: &Sample<'_>) -> Result<u64, Reason> {
        let ip = sample.ip.ok_or(Reason::NoInstructionAddress)?;
        let in_kernel = matches!(sample.cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel)
            || (sample.cpu_mode == CpuMode::Unknown && ip >> 63 == 1);
        match (self.is_kernel, in_kernel) {
            (true, true) => Ok(ip.wrapping_sub(self.slide)),
            (true, false) => Err(Reason::UserSpace),
            (false, true) => Err(Reason::OtherProgram),
            (false, false) => {
                let pid = sample.pid;
                let holds =
                    |map: &&Map| pid.is_none_or(|pid| pid == map.pid) && map.begin <= ip && ip < map.end;
                let map = self.maps.iter().rev().find(holds).ok_or(Reason::OtherProgram)?;
                Ok(ip.wrapping_sub(map.slide))
            }
        }
    }
}

/// Where a symbol of the kernel was, less where it is linked; 0 if the recording does not tell. A text may show it by its
/// samples' symbols.
fn kernel_slide(elf: &Elf<'_>, file: &SampleFile) -> Result<u64, Error> {
    let by_symbols = || Ok(landmarks::kernel_slide(elf, file).unwrap_or(0));
    let Some(map) = file.kernel_image()? else { return by_symbols() };
    let Some((symbol, was)) = map.reference_symbol() else { return by_symbols() };
    let linked = elf.symbols().find(|known| known.name == symbol).map(|known| known.address);
    Ok(linked.map_or(0, |linked| was.wrapping_sub(linked)))
}
