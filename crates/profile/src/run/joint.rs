//! Several programs that one recording shows: a program and its libraries, a kernel and its modules.

use super::attribution::{Attributed, Attribution, Part};
use super::pieces::each_access;
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::reason::Reason;
use fieldline_typeflow::operands::target::Target;

/// What each sample of a recording touched, as the program tells that its instruction is in.
///
/// Each program was attributed by itself: what one knows of objects, another does not.
#[derive(Clone, Copy)]
pub struct Joint<'j, 'f> {
    /// The programs, one at least; of one recorded file each.
    pub attributions: &'j [Attribution<'f>],
}

impl<'f> Joint<'_, 'f> {
    /// Goes over the samples of one recording in file order; the callback gets the program's index too. What counts by the
    /// runs of its branch stack is as many samples as these have accesses.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn each<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, usize, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        let parts = self.parts(recording);
        let Some(file) = parts.first().map(Part::file) else { return Ok(()) };
        let mut records = file.records();
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                each_access(&parts, &sample, &mut each)?;
            }
        }
        Ok(())
    }

    /// What there is of one recording, by program.
    pub(super) fn parts(&self, recording: usize) -> Vec<Part<'_, 'f>> {
        self.attributions.iter().filter_map(|one| one.part(recording)).collect()
    }
}

/// What a sample touched, and the index of the program that tells.
pub(super) fn attribute(parts: &[Part<'_, '_>], sample: &Sample<'_>) -> Option<(usize, Attributed)> {
    if let [only] = parts {
        return Some((0, only.attribute(sample)));
    }
    let mut found: Option<(usize, Attributed)> = None;
    for (index, part) in parts.iter().enumerate() {
        let attributed = part.attribute(sample);
        if attributed.ip.is_some() {
            return Some((index, attributed));
        }
        found = found.or(Some((index, attributed)));
    }
    found.map(|(index, attributed)| (index, of_none(attributed)))
}

/// The function a sample is in, of the first program that has its instruction.
pub(super) fn function(parts: &[Part<'_, '_>], sample: &Sample<'_>) -> Option<u32> {
    parts.iter().find_map(|part| part.function(sample)).flatten()
}

/// Of a sample that is in none of the programs no single one tells why.
pub(super) fn of_none(attributed: Attributed) -> Attributed {
    match attributed.target {
        Target::Unknown(Reason::UserSpace) if attributed.ip.is_none() => {
            let target = Target::Unknown(Reason::OtherProgram);
            Attributed { target, by_code: target, ..attributed }
        }
        _ => attributed,
    }
}
