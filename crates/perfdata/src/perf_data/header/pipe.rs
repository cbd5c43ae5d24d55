//! The facts of a recording in pipe mode, which are records of their own.

use crate::perf_data::bytes::{Cursor, Endian, until_nul};
use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::header::attr::Attr;
use crate::perf_data::header::event_table::{EventDescription, apply_descriptions};
use crate::perf_data::header::facts::{Event, RecordingFacts};
use crate::perf_data::header::features::{self, Features};
use crate::perf_data::stream::record::{HEADER_SIZE, RawRecord, kind};
use crate::perf_data::stream::records::FileRecords;

/// `PERF_EVENT_UPDATE__NAME`.
const UPDATE_NAME: u64 = 2;
/// Events and build ids beyond this come from no recording.
const ENTRY_LIMIT: usize = 1 << 16;
/// Ids beyond this come from no recording: events times CPUs.
const ID_LIMIT: usize = 4 << 20;

/// Walks over all records of the file and reads those that state facts. Build ids may come last, so
/// there is no stopping early; bodies of other records are only stepped over.
pub(crate) fn read_facts(mut records: FileRecords<'_>, endian: Endian) -> Result<RecordingFacts, Error> {
    let facts = RecordingFacts { endian, is_finished: true, ..RecordingFacts::default() };
    let mut reader = PipeFactsReader { facts, ..PipeFactsReader::default() };
    while let Some(raw) = records.next()? {
        reader.read(raw)?;
    }
    reader.finish()
}

/// The facts so far, and parts that need all of them.
#[derive(Default)]
struct PipeFactsReader {
    facts: RecordingFacts,
    features: Features,
    updates: Vec<EventDescription>,
    id_count: usize,
}

impl PipeFactsReader {
    fn read(&mut self, raw: RawRecord<'_>) -> Result<(), Error> {
        let place = raw.place.plus(HEADER_SIZE as u64);
        match raw.kind {
            kind::HEADER_ATTR => {
                let event = parse_event(raw.body, self.facts.endian, place)?;
                self.id_count += event.ids.len();
                self.facts.events.push(event);
                self.check_counts(raw.place)?;
            }
            kind::HEADER_FEATURE => {
                let mut at = Cursor::new(raw.body, self.facts.endian, "a feature record", place);
                let number = u32::try_from(at.u64()?).unwrap_or(u32::MAX);
                self.features.read(number, at.rest(), at.place(), &mut self.facts)?;
            }
            kind::HEADER_BUILD_ID => {
                self.facts.build_ids.extend(features::build_id(raw.misc, raw.body, raw.place)?);
                self.check_counts(raw.place)?;
            }
            kind::EVENT_UPDATE => {
                self.updates.extend(parse_name_update(raw, self.facts.endian)?);
                self.check_counts(raw.place)?;
            }
            kind::AUXTRACE => self.facts.has_aux_trace = true,
            _ => {}
        }
        Ok(())
    }

    fn check_counts(&self, place: BytePosition) -> Result<(), Error> {
        let entries = self.facts.events.len().max(self.facts.build_ids.len()).max(self.updates.len());
        if entries > ENTRY_LIMIT || self.id_count > ID_LIMIT {
            let problem = format!("more than {ENTRY_LIMIT} events, build ids or names, or {ID_LIMIT} ids");
            return Err(Error::malformed("recording", place, problem));
        }
        Ok(())
    }

    fn finish(self) -> Result<RecordingFacts, Error> {
        let mut facts = self.facts;
        if facts.events.is_empty() {
            return Err(Error::malformed(
                "recording",
                BytePosition::default(),
                "no event is described in it",
            ));
        }
        apply_descriptions(&mut facts.events, self.features.descriptions);
        apply_descriptions(&mut facts.events, self.updates);
        facts.name_events();
        Ok(facts)
    }
}

/// An attribute of the size it states, then ids up to the end of the record.
fn parse_event(body: &[u8], endian: Endian, place: BytePosition) -> Result<Event, Error> {
    let attr = Attr::parse(body, endian, place)?;
    let mut at = Cursor::new(body, endian, "event ids", place);
    at.take(attr.size as usize)?;
    let ids = (0..at.rest().len() / 8).map(|_| at.u64()).collect::<Result<_, _>>()?;
    Ok(Event { name: String::new(), attr, ids })
}

/// The new name of an event; other updates, of units and CPUs, do not matter here.
fn parse_name_update(raw: RawRecord<'_>, endian: Endian) -> Result<Option<EventDescription>, Error> {
    let place = raw.place.plus(HEADER_SIZE as u64);
    let mut at = Cursor::new(raw.body, endian, "an event update", place);
    let (update_kind, id) = (at.u64()?, at.u64()?);
    let named = EventDescription { name: until_nul(at.rest()), ids: vec![id] };
    Ok((update_kind == UPDATE_NAME).then_some(named))
}
