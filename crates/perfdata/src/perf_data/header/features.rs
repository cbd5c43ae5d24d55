//! The feature sections: facts that `perf record` adds about the machine and the events.
//!
//! The numbers and forms are those of `tools/perf/util/header.c` and
//! `tools/perf/Documentation/perf.data-file-format.txt`.

use crate::perf_data::bytes::{Cursor, Endian, until_nul};
use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::header::allocations;
use crate::perf_data::header::event_table::EventDescription;
use crate::perf_data::header::facts::{BuildId, CpuCount, DsoBuildId, PmuCaps, RecordingFacts};
use crate::sample::CpuMode;

/// Numbers of the features, bits of the header's bitmap.
pub(crate) mod feature {
    pub(crate) const BUILD_ID: u32 = 2;
    pub(crate) const HOSTNAME: u32 = 3;
    pub(crate) const OSRELEASE: u32 = 4;
    pub(crate) const ARCH: u32 = 6;
    pub(crate) const NRCPUS: u32 = 7;
    pub(crate) const CPUDESC: u32 = 8;
    pub(crate) const CPUID: u32 = 9;
    pub(crate) const CMDLINE: u32 = 11;
    pub(crate) const NUMA_TOPOLOGY: u32 = 14;
    pub(crate) const EVENT_DESC: u32 = 12;
    pub(crate) const PMU_MAPPINGS: u32 = 16;
    pub(crate) const AUXTRACE: u32 = 18;
    pub(crate) const CACHE: u32 = 20;
    pub(crate) const DIR_FORMAT: u32 = 24;
    pub(crate) const COMPRESSED: u32 = 27;
    pub(crate) const CPU_PMU_CAPS: u32 = 28;
    pub(crate) const HYBRID_TOPOLOGY: u32 = 30;
    pub(crate) const PMU_CAPS: u32 = 31;
    /// Of fieldline: see `allocations`.
    pub(crate) const ALLOCATIONS: u32 = 255;
}

/// `PERF_RECORD_MISC_BUILD_ID_SIZE`: the build id's length is behind its bytes.
const MISC_BUILD_ID_SIZE: u16 = 1 << 15;

/// `PATH_MAX`: no name of a file is longer.
const PATH_LIMIT: usize = 4096;

/// Whether more of a feature is read than that it is there.
pub(crate) fn is_read(number: u32) -> bool {
    use feature as f;
    let texts = matches!(number, f::HOSTNAME | f::OSRELEASE | f::ARCH | f::CPUDESC | f::CPUID);
    let pmus = matches!(number, f::PMU_MAPPINGS | f::CPU_PMU_CAPS | f::HYBRID_TOPOLOGY | f::PMU_CAPS);
    texts
        || pmus
        || matches!(number, f::CMDLINE | f::EVENT_DESC | f::BUILD_ID | f::NRCPUS | f::CACHE | f::ALLOCATIONS)
}

/// Parts of the sections that are not facts yet.
#[derive(Debug, Default)]
pub(crate) struct Features {
    /// Names for events, to be matched with the attributes.
    pub(crate) descriptions: Vec<EventDescription>,
}

impl Features {
    /// Takes the section of the feature numbered `number` into `facts`.
    pub(crate) fn read(
        &mut self,
        number: u32,
        bytes: &[u8],
        place: BytePosition,
        facts: &mut RecordingFacts,
    ) -> Result<(), Error> {
        let endian = facts.endian;
        let at = |what| Cursor::new(bytes, endian, what, place);
        match number {
            feature::BUILD_ID => facts.build_ids = build_ids(at("build id section"))?,
            feature::HOSTNAME => facts.hostname = Some(at("hostname").string()?),
            feature::OSRELEASE => facts.os_release = Some(at("kernel release").string()?),
            feature::ARCH => facts.arch = Some(at("architecture").string()?),
            feature::CPUDESC => facts.cpu_description = Some(at("processor name").string()?),
            feature::CPUID => facts.cpu_id = Some(at("processor id").string()?),
            feature::NRCPUS => facts.cpus = Some(cpu_count(at("cpu count"))?),
            feature::CMDLINE => facts.command_line = strings(at("command line"))?,
            feature::EVENT_DESC => self.descriptions = EventDescription::parse_all(bytes, endian, place)?,
            feature::PMU_MAPPINGS => facts.pmus = pmus(at("pmu mappings"))?,
            feature::CACHE => facts.cacheline_size = cacheline_size(at("cache section"))?,
            feature::CPU_PMU_CAPS => {
                let caps = PmuCaps { pmu: "cpu".to_owned(), caps: pairs(&mut at("cpu pmu capabilities"))? };
                facts.pmu_caps.push(caps);
            }
            feature::PMU_CAPS => facts.pmu_caps.extend(pmu_caps(at("pmu capabilities"))?),
            feature::HYBRID_TOPOLOGY => facts.hybrid_cpus = pairs(&mut at("hybrid topology"))?,
            feature::ALLOCATIONS => facts.allocations = allocations::parse(at("the allocations"))?,
            feature::AUXTRACE => facts.has_aux_trace = true,
            feature::DIR_FORMAT => {
                let problem = "the records are in other files of a directory (perf record --threads)";
                return Err(Error::unsupported("recording", place, problem));
            }
            _ => {}
        }
        Ok(())
    }
}

/// `struct perf_record_header_build_id`, one after the other.
fn build_ids(mut at: Cursor<'_>) -> Result<Vec<DsoBuildId>, Error> {
    let mut entries = Vec::new();
    while !at.rest().is_empty() {
        let place = at.place();
        at.u32()?; // type, zero as a rule
        let misc = at.u16()?;
        let size = usize::from(at.u16()?);
        let Some(body) = size.checked_sub(8) else {
            let problem = format!("an entry has {size} bytes");
            return Err(Error::malformed("build id section", place, problem));
        };
        let body = at.take(body)?;
        entries.extend(build_id(misc, body, place)?);
    }
    Ok(entries)
}

/// The body of a build id entry or of a `PERF_RECORD_HEADER_BUILD_ID`; nothing if its id is all zeros.
pub(crate) fn build_id(misc: u16, body: &[u8], place: BytePosition) -> Result<Option<DsoBuildId>, Error> {
    let mut at = Cursor::new(body, Endian::Little, "build id", place.plus(8));
    at.take(4)?; // pid
    let bytes: [u8; 20] = at.array()?;
    let stated = at.u8()?;
    at.take(3)?;
    let length = if misc & MISC_BUILD_ID_SIZE != 0 { usize::from(stated).min(20) } else { 20 };
    let build_id = BuildId::new(bytes.get(..length).unwrap_or(&bytes));
    let filename = until_nul(at.rest().get(..PATH_LIMIT).unwrap_or(at.rest()));
    Ok(build_id.map(|build_id| DsoBuildId { filename, build_id, cpu_mode: CpuMode::from_misc(misc) }))
}

fn cpu_count(mut at: Cursor<'_>) -> Result<CpuCount, Error> {
    let available = at.u32()?;
    Ok(CpuCount { online: at.u32()?, available })
}

fn strings(mut at: Cursor<'_>) -> Result<Vec<String>, Error> {
    let count = at.u32()?;
    (0..count).map(|_| at.string()).collect()
}

fn pmus(mut at: Cursor<'_>) -> Result<Vec<(u32, String)>, Error> {
    let count = at.u32()?;
    (0..count).map(|_| Ok((at.u32()?, at.string()?))).collect()
}

/// Names and values (`write_pmu_caps` in `tools/perf/util/header.c`), or PMU and list of CPUs for each kind
/// of core.
fn pairs(at: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Error> {
    let count = at.u32()?;
    (0..count).map(|_| Ok((at.string()?, at.string()?))).collect()
}

/// Capabilities by PMU, all but those of the PMU `cpu`.
fn pmu_caps(mut at: Cursor<'_>) -> Result<Vec<PmuCaps>, Error> {
    let count = at.u32()?;
    (0..count)
        .map(|_| {
            let caps = pairs(&mut at)?;
            Ok(PmuCaps { pmu: at.string()?, caps })
        })
        .collect()
}

/// The line size of the first-level cache that holds data, from `struct cpu_cache_level`s.
fn cacheline_size(mut at: Cursor<'_>) -> Result<Option<u32>, Error> {
    let version = at.u32()?;
    if version != 1 {
        return Ok(None);
    }
    let mut found = None;
    for _ in 0..at.u32()? {
        let (level, line_size) = (at.u32()?, at.u32()?);
        at.take(8)?; // sets, ways
        let kind = at.string()?;
        at.string()?; // size
        at.string()?; // CPUs
        if level == 1 && kind != "Instruction" && line_size != 0 && found.is_none() {
            found = Some(line_size);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = (text.len() as u32 + 3).to_le_bytes().to_vec();
        bytes.extend(text.bytes());
        bytes.extend([0; 3]);
        bytes
    }

    fn read(number: u32, bytes: &[u8]) -> Result<RecordingFacts, Error> {
        let mut facts = RecordingFacts::default();
        Features::default().read(number, bytes, BytePosition::default(), &mut facts)?;
        Ok(facts)
    }

    #[test]
    fn strings_lose_their_padding() {
        let facts = read(feature::HOSTNAME, &text("guest")).unwrap();
        assert_eq!(facts.hostname.as_deref(), Some("guest"));
        let bytes = section(&[&2_u32.to_le_bytes(), &text("perf"), &text("mem")]);
        assert_eq!(read(feature::CMDLINE, &bytes).unwrap().command_line, ["perf", "mem"]);
    }

    #[test]
    fn the_cacheline_size_is_that_of_the_first_data_cache() {
        let cache = |level: u32, line: u32, kind: &str| {
            let numbers = [level, line, 64, 8].map(u32::to_le_bytes).concat();
            section(&[&numbers, &text(kind), &text("32K"), &text("0-7")])
        };
        let caches = [cache(1, 32, "Instruction"), cache(2, 256, "Unified"), cache(1, 128, "Data")].concat();
        let bytes = section(&[&1_u32.to_le_bytes(), &3_u32.to_le_bytes(), &caches]);
        assert_eq!(read(feature::CACHE, &bytes).unwrap().cacheline_size, Some(128));
    }

    #[test]
    fn capabilities_and_kinds_of_cores_are_kept_by_pmu() {
        let count = |count: u32| count.to_le_bytes();
        let single = section(&[&count(1), &text("ldlat"), &text("1")]);
        let facts = read(feature::CPU_PMU_CAPS, &single).unwrap();
        let caps = |pmu: &str, caps: &[(&str, &str)]| PmuCaps {
            pmu: pmu.to_owned(),
            caps: caps.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        assert_eq!(facts.pmu_caps, [caps("cpu", &[("ldlat", "1")])]);
        let bytes = section(&[&count(2), &single, &text("ibs_op"), &count(0), &text("cpu_atom")]);
        let facts = read(feature::PMU_CAPS, &bytes).unwrap();
        assert_eq!(facts.pmu_caps, [caps("ibs_op", &[("ldlat", "1")]), caps("cpu_atom", &[])]);
        let bytes = section(&[&count(1), &text("cpu_core"), &text("0-15")]);
        let facts = read(feature::HYBRID_TOPOLOGY, &bytes).unwrap();
        assert_eq!(facts.hybrid_cpus, [("cpu_core".to_owned(), "0-15".to_owned())]);
    }

    #[test]
    fn counts_larger_than_the_section_break_off() {
        let lists = [
            feature::CMDLINE,
            feature::PMU_MAPPINGS,
            feature::CPU_PMU_CAPS,
            feature::PMU_CAPS,
            feature::HYBRID_TOPOLOGY,
        ];
        for number in lists {
            assert!(matches!(read(number, &[0xff; 12]), Err(Error::Truncated { .. })));
        }
        let bytes = section(&[&1_u32.to_le_bytes(), &[0xff; 4]]);
        assert!(matches!(read(feature::CACHE, &bytes), Err(Error::Truncated { .. })));
    }

    #[test]
    fn build_id_entries_that_cannot_be_are_refused() {
        assert!(matches!(read(feature::BUILD_ID, &[0; 16]), Err(Error::Malformed { .. })));
        let mut short = vec![0; 16];
        short[6] = 200;
        assert!(matches!(read(feature::BUILD_ID, &short), Err(Error::Truncated { .. })));
    }
}
