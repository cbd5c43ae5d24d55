//! Addresses of the recorded machine to addresses as linked.
//!
//! A kernel has one load bias (KASLR): perf records the address of one of its symbols. A program or library
//! is mapped by segments into each process, and each mapping has its segment's offset. A module has one load
//! bias too; perf records a mapping of its text.

use super::address_spaces::{AddressSpaces, FileMapping, LinkedInstruction};
use super::identity::{base_name, is_file_of_name, is_kernel, is_same_id};
use super::load_bias::{LoadBias, LoadBiases};
use super::symbol_bias;
use fieldline_debuginfo::{Elf, LinkedAddress, Segment, hex};
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::{Error, Mmap, Record};
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;

/// Turns addresses of one recording into addresses of one program.
#[derive(Clone, Debug)]
pub struct Linker {
    kind: ProgramKind,
    program: String,
    build_id: Option<Vec<u8>>,
}

/// Kind of the program, and its load biases.
#[derive(Clone, Debug)]
enum ProgramKind {
    /// A kernel, with its KASLR offset.
    Kernel { load_bias: LoadBias },
    /// A program or library, with the parts of it that are mapped.
    Program { segments: Vec<Segment>, spaces: AddressSpaces },
    /// A module whose text is linked at an address, with begin and end of its mappings, and the load bias of
    /// each.
    Module { text: LinkedAddress, maps: Vec<(LoadedAddress, LoadedAddress, LoadBias)> },
}

impl Linker {
    /// A linker for a recording; mappings are to be noted as they come.
    ///
    /// # Errors
    /// If the recording can't be read.
    pub fn new(elf: &Elf<'_>, file: &SampleFile) -> Result<Self, Error> {
        let program = base_name(elf.name()).to_owned();
        let kind = if is_kernel(elf) {
            ProgramKind::Kernel { load_bias: kernel_load_bias(elf, file)? }
        } else if elf.is_module() {
            let text = elf.text_sections().iter().map(|(_, address, _)| *address).min().unwrap_or(0);
            ProgramKind::Module { text: LinkedAddress(text), maps: Vec::new() }
        } else {
            let segments = elf.segments();
            let mut spaces = AddressSpaces::default();
            for (pid, load_bias) in symbol_bias::program_load_biases(elf, &program, file) {
                map_whole_program(&segments, load_bias).into_iter().for_each(|map| spaces.map(pid, 0, map));
            }
            ProgramKind::Program { segments, spaces }
        };
        Ok(Self { kind, program, build_id: elf.build_id().map(<[u8]>::to_vec) })
    }

    /// Whether it is a kernel, which needs no mappings.
    pub fn is_kernel(&self) -> bool {
        matches!(self.kind, ProgramKind::Kernel { .. })
    }

    /// Whether it is a program or library in user space.
    pub fn is_program(&self) -> bool {
        matches!(self.kind, ProgramKind::Program { .. })
    }

    /// Adds a record of a mapping or process.
    pub fn add_record(&mut self, record: &Record<'_>) {
        match (record, &mut self.kind) {
            (Record::Mmap(mmap), _) => self.add_mapping(mmap),
            (Record::Fork(task), ProgramKind::Program { spaces, .. }) => spaces.fork(*task),
            (Record::Comm { pid, is_exec: true, time, .. }, ProgramKind::Program { spaces, .. }) => {
                spaces.exec(*pid, time.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn add_mapping(&mut self, mmap: &Mmap<'_>) {
        if mmap.is_data {
            return;
        }
        let is_ours = self.is_ours(mmap);
        match &mut self.kind {
            ProgramKind::Module { text, maps } if is_ours && mmap.is_kernel() => {
                maps.push((mmap.address, mmap.end(), LoadBias::between(*text, mmap.address)));
            }
            ProgramKind::Program { segments, spaces } if !mmap.is_kernel() => {
                let load_bias = if is_ours { segment_load_bias(segments, mmap) } else { None };
                let map = FileMapping { begin: mmap.address, end: mmap.end(), load_bias };
                spaces.map(mmap.pid, mmap.time.unwrap_or(0), map);
            }
            _ => {}
        }
    }

    /// All records were added.
    pub fn finish_mappings(&mut self) {
        if let ProgramKind::Program { spaces, .. } = &mut self.kind {
            spaces.sort_changes();
        }
    }

    fn is_ours(&self, mmap: &Mmap<'_>) -> bool {
        let is_module = matches!(self.kind, ProgramKind::Module { .. });
        match (&mmap.build_id, &self.build_id) {
            (Some(recorded), Some(given)) => is_same_id(&hex(recorded.as_bytes()), &hex(given)),
            _ => is_file_of_name(&mmap.filename, &self.program, is_module),
        }
    }

    /// Load biases of code and variables.
    pub fn load_biases(&self) -> LoadBiases {
        match &self.kind {
            ProgramKind::Kernel { load_bias } => LoadBiases::Single(*load_bias),
            ProgramKind::Module { maps, .. } => {
                LoadBiases::Single(maps.last().map(|(.., load_bias)| *load_bias).unwrap_or_default())
            }
            ProgramKind::Program { spaces, .. } => LoadBiases::BySpace(spaces.load_biases.clone()),
        }
    }

    /// The linked address of a sample's instruction.
    ///
    /// # Errors
    /// The reason, if it is not of the program.
    pub fn locate(&self, sample: &Sample<'_>) -> Result<LinkedInstruction, Reason> {
        let ip = sample.ip.ok_or(Reason::NoInstructionAddress)?;
        let in_kernel = matches!(sample.cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel)
            || (sample.cpu_mode == CpuMode::Unknown && ip.is_kernel());
        match (&self.kind, in_kernel) {
            (ProgramKind::Kernel { load_bias }, true) => {
                Ok(LinkedInstruction { ip: load_bias.linked(ip), space: 0 })
            }
            (ProgramKind::Kernel { .. } | ProgramKind::Module { .. }, false) => Err(Reason::UserSpace),
            (ProgramKind::Module { maps, .. }, true) => {
                let map = maps.iter().rev().find(|(begin, end, _)| *begin <= ip && ip < *end);
                let (.., load_bias) = map.ok_or(Reason::OtherProgram)?;
                Ok(LinkedInstruction { ip: load_bias.linked(ip), space: 0 })
            }
            (ProgramKind::Program { .. }, true) => Err(Reason::OtherProgram),
            (ProgramKind::Program { spaces, .. }, false) => {
                let time = sample.time.unwrap_or(u64::MAX);
                spaces.find(sample.pid, time, ip).ok_or(Reason::OtherProgram)
            }
        }
    }
}

/// The program as one mapping, by a text's symbols. Real mappings come later and win.
fn map_whole_program(segments: &[Segment], load_bias: LoadBias) -> Option<FileMapping> {
    let begin = segments.iter().map(|segment| segment.address).min()?;
    let end = segments.iter().map(|segment| segment.address.saturating_add(segment.size)).max()?;
    Some(FileMapping {
        begin: load_bias.loaded(LinkedAddress(begin)),
        end: load_bias.loaded(LinkedAddress(end)),
        load_bias: Some(load_bias),
    })
}

/// The load bias by the segment a mapping shows. A page of the file may belong to
/// two segments, of which that with code is meant.
fn segment_load_bias(segments: &[Segment], mmap: &Mmap<'_>) -> Option<LoadBias> {
    // Mappings begin at the page that holds the segment's first byte.
    let holds = |segment: &&Segment| {
        let end = segment.file_offset.saturating_add(segment.size);
        segment.file_offset & !0xfff <= mmap.page_offset && mmap.page_offset < end
    };
    let with_code = segments.iter().filter(|segment| segment.is_code).find(holds);
    let segment = with_code.or_else(|| segments.iter().find(holds))?;
    let linked = segment.address.wrapping_sub(segment.file_offset).wrapping_add(mmap.page_offset);
    Some(LoadBias::between(LinkedAddress(linked), mmap.address))
}

/// The load bias of a kernel by a symbol whose address was recorded; without one it is assumed to run where it
/// is linked. A text may have it in its samples' symbols.
fn kernel_load_bias(elf: &Elf<'_>, file: &SampleFile) -> Result<LoadBias, Error> {
    let map = file.kernel_image()?;
    let Some((symbol, loaded)) = map.as_ref().and_then(|map| map.reference_symbol()) else {
        return Ok(symbol_bias::kernel_load_bias(elf, file).unwrap_or_default());
    };
    let linked = elf.symbols().find(|known| known.name == symbol).map(|known| LinkedAddress(known.address));
    Ok(linked.map(|linked| LoadBias::between(linked, loaded)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_two_segments_is_meant_as_code() {
        let rodata = Segment { address: 0, size: 0x18400, file_offset: 0, is_code: false };
        let text = Segment { address: 0x19400, size: 0x5000, file_offset: 0x18400, is_code: true };
        let mmap = Mmap {
            pid: 7,
            tid: 7,
            address: LoadedAddress(0x5500_0001_9000),
            length: 0x6000,
            page_offset: 0x18000,
            filename: "/bin/a".into(),
            build_id: None,
            cpu_mode: CpuMode::User,
            is_data: false,
            time: None,
        };
        let bias = |loaded| Some(LoadBias::between(LinkedAddress(0), LoadedAddress(loaded)));
        assert_eq!(segment_load_bias(&[rodata, text], &mmap), bias(0x5500_0000_0000));
        assert_eq!(segment_load_bias(&[rodata], &mmap), bias(0x5500_0000_1000));
        assert_eq!(segment_load_bias(&[], &mmap), None);
    }
}
