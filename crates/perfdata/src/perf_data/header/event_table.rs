//! Which event a record belongs to, and how the samples of each event are laid out.

use rustc_hash::FxHashMap;

use crate::perf_data::bytes::{Cursor, Endian};
use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::header::attr::Attr;
use crate::perf_data::header::facts::{Event, EventIndex};
use crate::sample::{SampleFields, SampleLayout};

/// The layouts of all events and the way from a record to its event.
#[derive(Debug)]
pub(crate) struct EventTable {
    layouts: Vec<SampleLayout>,
    /// Fields of the `struct sample_id` that records end in which are no samples.
    trailers: Vec<SampleFields>,
    by_id: FxHashMap<u64, EventIndex>,
    id_position: EventIdPosition,
    endian: Endian,
}

/// Where records name their event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventIdPosition {
    /// Nowhere, and there is no need: the recording has one event.
    Single,
    /// The 64-bit word at this index of a sample.
    WordOffset(usize),
}

impl EventTable {
    /// The table of `events`.
    pub(crate) fn new(events: &[Event], endian: Endian) -> Result<Self, Error> {
        let layouts = events.iter().map(|event| SampleLayout::new(&event.attr, endian)).collect();
        let trailer =
            |attr: &Attr| Some(attr.sample_type).filter(|_| attr.has_sample_id_all()).unwrap_or_default();
        let trailers = events.iter().map(|event| trailer(&event.attr)).collect();
        let mut by_id = FxHashMap::default();
        for (index, event) in events.iter().enumerate() {
            let index = EventIndex(u32::try_from(index).unwrap_or(u32::MAX));
            by_id.extend(event.ids.iter().map(|&id| (id, index)));
        }
        Ok(Self { layouts, trailers, by_id, id_position: find_id_position(events)?, endian })
    }

    /// The layout of the event's samples.
    #[inline]
    pub(crate) fn layout(&self, event: EventIndex) -> Option<&SampleLayout> {
        self.layouts.get(event.index())
    }

    /// The event of a sample, or the id that belongs to none.
    #[inline]
    pub(crate) fn sample_event(&self, body: &[u8]) -> Result<EventIndex, Option<u64>> {
        let EventIdPosition::WordOffset(words) = self.id_position else { return Ok(EventIndex(0)) };
        let word = body.get(8 * words..).and_then(|rest| rest.first_chunk());
        let id = self.endian.u64(*word.ok_or(None)?);
        self.event_by_id(id).ok_or(Some(id))
    }

    /// The event with this id. Records that `perf record` synthesized carry the id zero.
    fn event_by_id(&self, id: u64) -> Option<EventIndex> {
        match self.by_id.get(&id) {
            Some(&event) => Some(event),
            None => (id == 0).then_some(EventIndex(0)),
        }
    }

    /// When a record was written that is no sample, by the identity at its end; one too short for that has
    /// none.
    pub(crate) fn record_time(&self, body: &[u8]) -> Option<u64> {
        let first = self.trailers.first().copied().unwrap_or_default();
        let fields = match body.last_chunk() {
            Some(&word) if first.contains(SampleFields::IDENTIFIER) => {
                let event = self.event_by_id(self.endian.u64(word));
                event.and_then(|event| self.trailers.get(event.index()).copied()).unwrap_or(first)
            }
            _ => first,
        };
        let after = SampleFields::ID | SampleFields::STREAM_ID | SampleFields::CPU | SampleFields::IDENTIFIER;
        let words = 1 + (fields.0 & after.0).count_ones() as usize;
        let at = body.len().checked_sub(8 * words).filter(|_| fields.contains(SampleFields::TIME))?;
        body.get(at..)?.first_chunk().map(|&word| self.endian.u64(word))
    }
}

/// Words between the front of a sample and its event's id.
fn words_before_id(fields: SampleFields) -> Option<usize> {
    if fields.contains(SampleFields::IDENTIFIER) {
        return Some(0);
    }
    let before = SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::ADDR;
    fields.contains(SampleFields::ID).then_some((fields.0 & before.0).count_ones() as usize)
}

fn find_id_position(events: &[Event]) -> Result<EventIdPosition, Error> {
    let (first, others) = match events {
        [] | [_] => return Ok(EventIdPosition::Single),
        [first, others @ ..] => (words_before_id(first.attr.sample_type), others),
    };
    let agree = others.iter().all(|event| words_before_id(event.attr.sample_type) == first);
    match first {
        Some(words) if agree => Ok(EventIdPosition::WordOffset(words)),
        _ => {
            let problem = format!(
                "its {} events name themselves at different places or not at all in their samples; \
                 record with IDENTIFIER, as perf record does by itself, or one event at a time",
                events.len()
            );
            Err(Error::unsupported("recording", BytePosition::default(), problem))
        }
    }
}

/// One event of the `EVENT_DESC` feature.
#[derive(Debug)]
pub(crate) struct EventDescription {
    pub(crate) name: String,
    pub(crate) ids: Vec<u64>,
}

impl EventDescription {
    pub(crate) fn parse_all(bytes: &[u8], endian: Endian, place: BytePosition) -> Result<Vec<Self>, Error> {
        let mut at = Cursor::new(bytes, endian, "event description", place);
        let (count, attr_size) = (at.u32()?, at.u32()?);
        (0..count).map(|_| Self::parse(&mut at, attr_size as usize)).collect()
    }

    fn parse(at: &mut Cursor<'_>, attr_size: usize) -> Result<Self, Error> {
        at.take(attr_size)?;
        let count = at.u32()?;
        let name = at.string()?;
        let ids = (0..count).map(|_| at.u64()).collect::<Result<_, _>>()?;
        Ok(Self { name, ids })
    }
}

/// Gives events their names: by a common id, or by position where no ids were recorded.
pub(crate) fn apply_descriptions(events: &mut [Event], descriptions: Vec<EventDescription>) {
    let mut of_id = FxHashMap::default();
    for (index, event) in events.iter().enumerate() {
        of_id.extend(event.ids.iter().map(|&id| (id, index)));
    }
    let same_count = events.len() == descriptions.len();
    for (index, description) in descriptions.into_iter().enumerate() {
        let by_id = description.ids.iter().find_map(|id| of_id.get(id).copied());
        let by_position = (same_count && description.ids.is_empty()).then_some(index);
        if let Some(event) = by_id.or(by_position).and_then(|position| events.get_mut(position)) {
            event.name = description.name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(fields: SampleFields, ids: &[u64]) -> Event {
        let attr = Attr { sample_type: fields, flags: 1 << 18, ..Attr::default() };
        Event { attr, ids: ids.to_vec(), ..Event::default() }
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_single_event_needs_no_id() {
        let table = EventTable::new(&[event(SampleFields::IP, &[])], Endian::Little).unwrap();
        assert_eq!(table.sample_event(&[]), Ok(EventIndex(0)));
    }

    #[test]
    fn the_identifier_leads_to_the_event_though_the_formats_differ() {
        let events = [
            event(SampleFields::IDENTIFIER | SampleFields::IP, &[11, 12]),
            event(SampleFields::IDENTIFIER | SampleFields::TIME | SampleFields::CPU, &[21]),
        ];
        let table = EventTable::new(&events, Endian::Little).unwrap();
        assert_eq!(table.sample_event(&words(&[21, 5])), Ok(EventIndex(1)));
        assert_eq!(table.sample_event(&words(&[12, 5])), Ok(EventIndex(0)));
        assert_eq!(table.sample_event(&words(&[99, 5])), Err(Some(99)));
        assert_eq!(table.sample_event(&[1, 2]), Err(None));
        // The trailer is that of the event the last word names.
        assert_eq!(table.record_time(&words(&[700, 3, 21])), Some(700));
        assert_eq!(table.record_time(&words(&[700, 3, 11])), None);
    }

    #[test]
    fn an_id_at_one_place_in_all_events_serves_too() {
        let common = SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::ID;
        let events = [event(common, &[11]), event(common | SampleFields::WEIGHT, &[21])];
        let table = EventTable::new(&events, Endian::Little).unwrap();
        assert_eq!(table.sample_event(&words(&[1, 2, 3, 21])), Ok(EventIndex(1)));
        let shifted = [event(common, &[11]), event(common | SampleFields::ADDR, &[21])];
        assert!(matches!(EventTable::new(&shifted, Endian::Little), Err(Error::Unsupported { .. })));
        let nameless = [event(SampleFields::IP, &[11]), event(SampleFields::IP, &[21])];
        assert!(matches!(EventTable::new(&nameless, Endian::Little), Err(Error::Unsupported { .. })));
    }

    #[test]
    fn the_trailer_is_read_from_the_end() {
        let fields = SampleFields::TID | SampleFields::TIME | SampleFields::ID | SampleFields::CPU;
        let table = EventTable::new(&[event(fields, &[])], Endian::Little).unwrap();
        let body = [b"a record's own bytes".to_vec(), words(&[5 | 6 << 32, 700, 44, 3])].concat();
        assert_eq!(table.record_time(&body), Some(700));
        assert_eq!(table.record_time(&body[body.len() - 24..]), Some(700));
        assert_eq!((table.record_time(&body[body.len() - 23..]), table.record_time(&[0; 4])), (None, None));
    }

    #[test]
    fn names_go_to_events_by_id_and_else_by_position() {
        let described =
            |name: &str, ids: &[u64]| EventDescription { name: name.to_owned(), ids: ids.to_vec() };
        let names = |events: &[Event]| events.iter().map(|event| event.name.clone()).collect::<Vec<_>>();
        let mut events = [event(SampleFields::IP, &[11, 12]), event(SampleFields::IP, &[21])];
        apply_descriptions(&mut events, vec![described("b", &[21]), described("a", &[12])]);
        assert_eq!(names(&events), ["a", "b"]);
        let mut events = [event(SampleFields::IP, &[]), event(SampleFields::IP, &[])];
        apply_descriptions(&mut events, vec![described("a", &[]), described("b", &[])]);
        assert_eq!(names(&events), ["a", "b"]);
    }
}
