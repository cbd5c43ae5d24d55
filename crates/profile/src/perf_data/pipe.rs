//! The facts of a recording in pipe mode, which stand in records of their own.

use super::attr::Attr;
use super::bytes::{Cursor, Endian, until_nul};
use super::error::{Error, Place};
use super::event_table::{EventDescription, apply_descriptions};
use super::facts::{Event, Facts, Mode};
use super::features::{self, Features};
use super::record::{HEADER_SIZE, RawRecord, kind};
use super::stream::FileRecords;

/// `PERF_EVENT_UPDATE__NAME`.
const UPDATE_NAME: u64 = 2;
/// Events and build ids beyond this come from no recording.
const ENTRY_LIMIT: usize = 1 << 16;

/// Walks over all records of the file and reads those that state facts. Build ids may come last, so
/// there is no stopping early; bodies of other records are only stepped over.
pub(crate) fn read_facts(mut records: FileRecords<'_>, endian: Endian) -> Result<Facts, Error> {
    let mut facts = Facts { mode: Mode::Pipe, endian, is_finished: true, ..Facts::default() };
    let mut features = Features::default();
    let mut updates = Vec::new();
    while let Some(raw) = records.next()? {
        read_record(raw, &mut facts, &mut features, &mut updates)?;
        if facts.events.len().max(facts.build_ids.len()).max(updates.len()) > ENTRY_LIMIT {
            let problem = format!("more than {ENTRY_LIMIT} events, build ids or names");
            return Err(Error::malformed("recording", raw.place, problem));
        }
    }
    if facts.events.is_empty() {
        return Err(Error::malformed("recording", Place::default(), "no event is described in it"));
    }
    apply_descriptions(&mut facts.events, features.descriptions);
    apply_descriptions(&mut facts.events, updates);
    facts.name_events();
    Ok(facts)
}

fn read_record(
    raw: RawRecord<'_>,
    facts: &mut Facts,
    features: &mut Features,
    updates: &mut Vec<EventDescription>,
) -> Result<(), Error> {
    let place = raw.place.plus(HEADER_SIZE as u64);
    match raw.kind {
        kind::HEADER_ATTR => facts.events.push(event(raw.body, facts.endian, place)?),
        kind::HEADER_FEATURE => {
            let mut at = Cursor::new(raw.body, facts.endian, "a feature record", place);
            let number = u32::try_from(at.u64()?).unwrap_or(u32::MAX);
            features.read(number, at.rest(), at.place(), facts)?;
        }
        kind::HEADER_BUILD_ID => {
            facts.build_ids.extend(features::build_id(raw.misc, raw.body, raw.place)?);
        }
        kind::EVENT_UPDATE => updates.extend(new_name(raw, facts.endian)?),
        kind::COMPRESSED | kind::COMPRESSED2 => facts.is_compressed = true,
        kind::AUXTRACE => facts.has_aux_trace = true,
        _ => {}
    }
    Ok(())
}

/// An attribute of the size it states, then ids up to the end of the record.
fn event(body: &[u8], endian: Endian, place: Place) -> Result<Event, Error> {
    let attr = Attr::parse(body, endian, place)?;
    let mut at = Cursor::new(body, endian, "event ids", place);
    at.take(attr.size as usize)?;
    let ids = (0..at.rest().len() / 8).map(|_| at.u64()).collect::<Result<_, _>>()?;
    Ok(Event { name: String::new(), attr, ids })
}

/// The new name of an event; other updates, of units and CPUs, do not matter here.
fn new_name(raw: RawRecord<'_>, endian: Endian) -> Result<Option<EventDescription>, Error> {
    let place = raw.place.plus(HEADER_SIZE as u64);
    let mut at = Cursor::new(raw.body, endian, "an event update", place);
    let (what, id) = (at.u64()?, at.u64()?);
    let named = EventDescription { name: until_nul(at.rest()), ids: vec![id] };
    Ok((what == UPDATE_NAME).then_some(named))
}
