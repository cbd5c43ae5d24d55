//! Several programs that one recording shows: a program and its libraries, a kernel and its modules.

use super::attribution::{Attributed, Attribution};
use crate::attribute::reason::Reason;
use crate::attribute::target::Target;
use crate::perf_data::{Error, Record};
use crate::sample::Sample;

/// What each sample of a recording touched, as the program tells that its instruction is in.
///
/// Each program was attributed by itself: what one knows of objects, another does not.
#[derive(Clone, Copy)]
pub struct Joint<'j, 'f> {
    /// The programs, one at least; of one recorded file each.
    pub attributions: &'j [Attribution<'f>],
}

impl Joint<'_, '_> {
    /// Goes over the samples of one recording in file order; the callback gets the program's index too.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn each<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, usize, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        if let [only] = self.attributions {
            return only.each(recording, |sample, attributed| each(sample, 0, attributed));
        }
        let parts = self.attributions.iter().filter_map(|one| one.part(recording));
        let parts: Vec<_> = parts.collect();
        let Some(file) = parts.first().map(|part| part.file()) else { return Ok(()) };
        let mut records = file.records();
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                let mut found: Option<(usize, Attributed)> = None;
                for (index, part) in parts.iter().enumerate() {
                    let attributed = part.attribute(&sample);
                    let is_better = found.as_ref().is_none_or(|(_, known)| known.ip.is_none());
                    if is_better && (found.is_none() || attributed.ip.is_some()) {
                        found = Some((index, attributed));
                    }
                }
                if let Some((index, attributed)) = found {
                    each(&sample, index, &self.of_none(attributed))?;
                }
            }
        }
        Ok(())
    }

    /// Of a sample that is in none of the programs no single one tells why.
    fn of_none(&self, attributed: Attributed) -> Attributed {
        match attributed.target {
            Target::Unknown(Reason::UserSpace) => {
                let target = Target::Unknown(Reason::OtherProgram);
                Attributed { target, by_code: target, ..attributed }
            }
            _ => attributed,
        }
    }
}
