//! A holder with the members of the planned structs in place of these, as one struct to plan.
//!
//! A member without size stands before each part, aligned as the part is: it keeps the parts apart, and has each one
//! begin where the C ABI puts it behind the one before. All else in the holder keeps its place among them.

use fieldline_layout::constraint::{
    CachelineRequest, MemberNote, MemberRun, PinnedMember, PlacementRequests, SmallerConfiguration,
};
use fieldline_layout::{Layout, Member, abi};

use super::side::SideBySide;
use crate::options::PlanRequest;

/// Numbers of one struct's notes stay below this, so that those of several don't meet.
const NOTE_NUMBERS: u32 = 1 << 20;
/// The name of members that only keep parts apart.
const BORDER: &str = "(part)";

/// A holder as one struct.
#[derive(Clone, Debug)]
pub(super) struct FlatStruct {
    pub(super) layout: Layout,
    pub(super) requests: PlacementRequests,
    /// For each part: the flat index of its first member, and how many there are.
    pub(super) spans: Vec<(usize, usize)>,
}

impl FlatStruct {
    /// Fails with the reason if the requests of a part can't be told of its members inside the holder.
    pub(super) fn new(side: &SideBySide, requests: &[PlanRequest<'_>]) -> Result<Self, String> {
        let mut flat = Self {
            layout: side.holder.clone(),
            requests: PlacementRequests::default(),
            spans: vec![(0, 0); side.parts.len()],
        };
        let mut members: Vec<Member> = Vec::new();
        let mut before = 1;
        for (index, held) in side.holder.members.iter().enumerate() {
            let part = side.parts.iter().position(|part| part.member == index);
            let request = part.and_then(|part| requests.get(side.parts.get(part)?.request));
            // A part that is aligned in its holder has more alignment there than its type.
            let own = request.map_or(1, |request| request.layout.align).max(1);
            let written = held.explicit_align.filter(|align| *align > own);
            let align = if request.is_some() { written.unwrap_or(own) } else { held.align.max(1) };
            let border = border(held.bit_offset, align.max(before));
            members.push(border);
            before = align;
            match part.zip(request) {
                Some((part, request)) => {
                    let start = members.len();
                    flat.spans[part] = (start, request.layout.members.len());
                    members.extend(request.layout.members.iter().map(|own| shift(own, held.bit_offset)));
                    flat.add_requests(request, start, part)?;
                }
                None => members.push(Member { line: None, ..held.clone() }),
            }
        }
        flat.pad_notes(members.len());
        flat.layout = Layout { line: None, ..Layout::from_members(&side.holder, members, side.holder.size) };
        match abi::find_mismatch(&flat.layout) {
            None => Ok(flat),
            Some(_) => Err(format!("the alignments inside struct {} aren't known", side.holder.name)),
        }
    }

    /// Adds the requests of a part whose members begin at `start`.
    fn add_requests(&mut self, request: &PlanRequest<'_>, start: usize, part: usize) -> Result<(), String> {
        let (own, name) = (request.requests, &request.layout.name);
        if own.size_is_kept || own.size_is_asserted {
            return Err(format!("code knows the size of struct {name}"));
        }
        if !own.keep.is_empty() {
            return Err(format!("members of struct {name} keep their offsets"));
        }
        let last = request.layout.members.len().saturating_sub(1);
        let is_at_end = |pins: &[PinnedMember], place: &dyn Fn(usize) -> usize| {
            pins.iter().enumerate().all(|(number, pin)| pin.member == place(number))
        };
        let lasts = own.last.len();
        if !is_at_end(&own.first, &|number| number)
            || !is_at_end(&own.last, &|number| (last + 1 + number).saturating_sub(lasts))
        {
            return Err(format!("pins of struct {name} move its first or last members"));
        }
        let pin = |pin: &PinnedMember| PinnedMember { member: pin.member + start, ..pin.clone() };
        let all = &mut self.requests;
        all.fixed.extend(own.first.iter().chain(&own.last).chain(&own.fixed).map(pin));
        all.ordered.extend(own.ordered.iter().map(pin));
        all.runs.extend(own.runs.iter().map(|run| MemberRun {
            first: run.first + start,
            last: run.last + start,
            ..run.clone()
        }));
        let shifted = |members: &[usize]| members.iter().map(|member| member + start).collect();
        all.line_requests.extend(
            own.line_requests
                .iter()
                .map(|lines| CachelineRequest { members: shifted(&lines.members), ..lines.clone() }),
        );
        all.configurations.extend(own.configurations.iter().map(|smaller| SmallerConfiguration {
            name: smaller.name.clone(),
            absent: shifted(&smaller.absent),
        }));
        all.is_shared_allowed |= own.is_shared_allowed;
        self.pad_notes(start);
        let base = (part as u32 + 1) * NOTE_NUMBERS;
        let number = |number: Option<u32>| number.map(|number| base + number % NOTE_NUMBERS);
        let notes = own.notes.iter().map(|note| MemberNote {
            unit: number(note.unit),
            guard: number(note.guard),
            region: number(note.region),
            paragraph: number(note.paragraph),
            ..note.clone()
        });
        self.requests.notes.extend(notes);
        self.pad_notes(start + request.layout.members.len());
        Ok(())
    }

    /// Fills up with notes of members that nothing is known of.
    fn pad_notes(&mut self, count: usize) {
        self.requests.notes.resize(count.max(self.requests.notes.len()), MemberNote::default());
    }

    /// The flat order in which each part has its members in the order given for it.
    pub(super) fn order(&self, parts: &[Vec<usize>]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.layout.members.len()).collect();
        for ((start, count), own) in self.spans.iter().zip(parts) {
            let places = order.iter_mut().skip(*start).take(*count);
            places.zip(own).for_each(|(place, member)| *place = start + member);
        }
        order
    }

    /// The order of a part's members in a flat order.
    pub(super) fn part_order(&self, part: usize, order: &[usize]) -> Vec<usize> {
        let Some((start, count)) = self.spans.get(part).copied() else { return Vec::new() };
        let own = order.iter().filter(|member| (start..start + count).contains(member));
        own.map(|member| member - start).collect()
    }
}

/// A member without size that begins at a multiple of `align` bytes.
fn border(bit_offset: u64, align: u64) -> Member {
    Member {
        name: Some(BORDER.to_owned()),
        type_name: String::new(),
        bit_offset,
        align,
        explicit_align: Some(align),
        ..Member::default()
    }
}

/// A member and all inside it, so many bits further on. Its line says nothing in the holder's file.
fn shift(member: &Member, bits: u64) -> Member {
    Member {
        bit_offset: member.bit_offset.saturating_add(bits),
        members: member.members.iter().map(|inner| shift(inner, bits)).collect(),
        ..member.clone()
    }
}
