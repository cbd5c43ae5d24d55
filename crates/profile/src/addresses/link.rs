//! Addresses of the recorded machine to addresses as linked.
//!
//! A kernel is moved as a whole (KASLR): perf writes where a symbol of it was. A program or library is mapped by segments
//! into each process, and each mapping says which. A module is moved as a whole too; perf writes a mapping of its text.

use super::identity::{base_name, is_kernel, is_named, is_same_id};
use super::landmarks;
use super::spaces::{Linked, Map, Spaces};
use crate::objects::Slides;
use fieldline_debuginfo::{Elf, Segment, hex};
use fieldline_perfdata::perf_data::{Error, Mmap, Record};
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;

/// Turns addresses of one recording into addresses of one program.
#[derive(Clone, Debug)]
pub struct Linker {
    what: What,
    program: String,
    build_id: Option<Vec<u8>>,
}

/// What kind of program it is, and where it was.
#[derive(Clone, Debug)]
enum What {
    /// A kernel that was moved by a slide.
    Kernel { slide: u64 },
    /// A program or library, with the parts of it that are mapped.
    Program { segments: Vec<Segment>, spaces: Spaces },
    /// A module whose text is linked at an address, with begin and end of what is mapped of it, and its slide.
    Module { text: u64, maps: Vec<(u64, u64, u64)> },
}

impl Linker {
    /// A linker for a recording; mappings are to be noted as they come.
    ///
    /// # Errors
    /// If the recording can't be read.
    pub fn new(elf: &Elf<'_>, file: &SampleFile) -> Result<Self, Error> {
        let program = base_name(elf.name()).to_owned();
        let what = if is_kernel(elf) {
            What::Kernel { slide: kernel_slide(elf, file)? }
        } else if elf.is_module() {
            let text = elf.text_sections().iter().map(|(_, address, _)| *address).min().unwrap_or(0);
            What::Module { text, maps: Vec::new() }
        } else {
            let segments = elf.segments();
            let mut spaces = Spaces::default();
            for (pid, slide) in landmarks::program_slides(elf, &program, file) {
                whole_program(&segments, slide).into_iter().for_each(|map| spaces.map(pid, 0, map));
            }
            What::Program { segments, spaces }
        };
        Ok(Self { what, program, build_id: elf.build_id().map(<[u8]>::to_vec) })
    }

    /// Whether it is a kernel, which needs no mappings.
    pub fn is_kernel(&self) -> bool {
        matches!(self.what, What::Kernel { .. })
    }

    /// Whether it is a program or library in user space.
    pub fn is_program(&self) -> bool {
        matches!(self.what, What::Program { .. })
    }

    /// Takes note of a record that tells what is mapped where.
    pub fn note(&mut self, record: &Record<'_>) {
        match (record, &mut self.what) {
            (Record::Mmap(mmap), _) => self.note_mapping(mmap),
            (Record::Fork(task), What::Program { spaces, .. }) => spaces.fork(*task),
            (Record::Comm { pid, is_exec: true, time, .. }, What::Program { spaces, .. }) => {
                spaces.exec(*pid, time.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn note_mapping(&mut self, mmap: &Mmap<'_>) {
        if mmap.is_data {
            return;
        }
        let is_ours = self.is_ours(mmap);
        let end = mmap.address.saturating_add(mmap.length);
        match &mut self.what {
            What::Module { text, maps } if is_ours && mmap.is_kernel() => {
                maps.push((mmap.address, end, mmap.address.wrapping_sub(*text)));
            }
            What::Program { segments, spaces } if !mmap.is_kernel() => {
                let slide = if is_ours { slide_of(segments, mmap) } else { None };
                let map = Map { begin: mmap.address, end, slide };
                spaces.map(mmap.pid, mmap.time.unwrap_or(0), map);
            }
            _ => {}
        }
    }

    /// All records were noted.
    pub fn settle(&mut self) {
        if let What::Program { spaces, .. } = &mut self.what {
            spaces.settle();
        }
    }

    fn is_ours(&self, mmap: &Mmap<'_>) -> bool {
        match (&mmap.build_id, &self.build_id) {
            (Some(recorded), Some(given)) => is_same_id(&hex(recorded.as_bytes()), &hex(given)),
            _ => is_named(&mmap.filename, &self.program, matches!(self.what, What::Module { .. })),
        }
    }

    /// Recorded address less address as linked, of code and variables: one, or one of each address space.
    pub fn slides(&self) -> Slides {
        match &self.what {
            What::Kernel { slide } => Slides::One(*slide),
            What::Module { maps, .. } => Slides::One(maps.last().map_or(0, |(.., slide)| *slide)),
            What::Program { spaces, .. } => Slides::BySpace(spaces.slides.clone()),
        }
    }

    /// Where a sample's instruction is in the program.
    ///
    /// # Errors
    /// The reason, if it is not of the program.
    pub fn locate(&self, sample: &Sample<'_>) -> Result<Linked, Reason> {
        let ip = sample.ip.ok_or(Reason::NoInstructionAddress)?;
        let in_kernel = matches!(sample.cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel)
            || (sample.cpu_mode == CpuMode::Unknown && ip >> 63 == 1);
        match (&self.what, in_kernel) {
            (What::Kernel { slide }, true) => Ok(Linked { ip: ip.wrapping_sub(*slide), space: 0 }),
            (What::Kernel { .. } | What::Module { .. }, false) => Err(Reason::UserSpace),
            (What::Module { maps, .. }, true) => {
                let map = maps.iter().rev().find(|(begin, end, _)| *begin <= ip && ip < *end);
                let (.., slide) = map.ok_or(Reason::OtherProgram)?;
                Ok(Linked { ip: ip.wrapping_sub(*slide), space: 0 })
            }
            (What::Program { .. }, true) => Err(Reason::OtherProgram),
            (What::Program { spaces, .. }, false) => {
                let time = sample.time.unwrap_or(u64::MAX);
                spaces.find(sample.pid, time, ip).ok_or(Reason::OtherProgram)
            }
        }
    }
}

/// The program moved as a whole, as a text's symbols show it. Mappings, where there are such, come later and win.
fn whole_program(segments: &[Segment], slide: u64) -> Option<Map> {
    let begin = segments.iter().map(|segment| segment.address).min()?;
    let end = segments.iter().map(|segment| segment.address.saturating_add(segment.size)).max()?;
    Some(Map { begin: begin.wrapping_add(slide), end: end.wrapping_add(slide), slide: Some(slide) })
}

/// Recorded address less address as linked, by the segment a mapping shows. A page of the file may belong to two
/// segments, of which that with code is meant.
fn slide_of(segments: &[Segment], mmap: &Mmap<'_>) -> Option<u64> {
    // Mappings begin at the page that holds the segment's first byte.
    let holds = |segment: &&Segment| {
        let end = segment.file_offset.saturating_add(segment.size);
        segment.file_offset & !0xfff <= mmap.page_offset && mmap.page_offset < end
    };
    let with_code = segments.iter().filter(|segment| segment.is_code).find(holds);
    let segment = with_code.or_else(|| segments.iter().find(holds))?;
    let linked = segment.address.wrapping_sub(segment.file_offset).wrapping_add(mmap.page_offset);
    Some(mmap.address.wrapping_sub(linked))
}

/// Where a symbol of the kernel was, less where it is linked; 0 if the recording does not tell. A text may show it by its
/// samples' symbols.
fn kernel_slide(elf: &Elf<'_>, file: &SampleFile) -> Result<u64, Error> {
    let map = file.kernel_image()?;
    let Some((symbol, was)) = map.as_ref().and_then(|map| map.reference_symbol()) else {
        return Ok(landmarks::kernel_slide(elf, file).unwrap_or(0));
    };
    let linked = elf.symbols().find(|known| known.name == symbol).map(|known| known.address);
    Ok(linked.map_or(0, |linked| was.wrapping_sub(linked)))
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
            address: 0x5500_0001_9000,
            length: 0x6000,
            page_offset: 0x18000,
            filename: "/bin/a".into(),
            build_id: None,
            cpu_mode: CpuMode::User,
            is_data: false,
            time: None,
        };
        assert_eq!(slide_of(&[rodata, text], &mmap), Some(0x5500_0000_0000));
        assert_eq!(slide_of(&[rodata], &mmap), Some(0x5500_0000_1000));
        assert_eq!(slide_of(&[], &mmap), None);
    }
}
