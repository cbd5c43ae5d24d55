use super::*;
use crate::address::{DataAddress, LoadedAddress};
use crate::data_source::DataSource;
use crate::perf_data::{Attr, Endian};
use crate::testing::Random;
use std::num::NonZeroU64;

/// A body under construction, in one byte order.
struct Body {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Body {
    fn new(endian: Endian) -> Self {
        Self { bytes: Vec::new(), endian }
    }

    fn u64(mut self, value: u64) -> Self {
        self.bytes.extend(match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.bytes.extend(match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
        self
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }
}

fn layout(fields: SampleFields, endian: Endian) -> SampleLayout {
    SampleLayout::new(&Attr { sample_type: fields, ..Attr::default() }, endian)
}

/// Reads a body that is to have the form of its event.
fn parse<'a>(event: &SampleLayout, misc: u16, body: &'a [u8]) -> Result<Sample<'a>, FieldError> {
    let mut sample = Sample::default();
    event.read(misc, body, &mut sample).map(|()| sample)
}

/// Gets a field.
type Read = fn(&Sample<'_>) -> Option<u64>;

/// One number per field: a field consumed too early or too late shifts every later one.
const PLAIN: [(SampleFields, Read); 7] = [
    (SampleFields::IP, |s| s.ip.map(|ip| ip.0)),
    (SampleFields::TIME, |s| s.time),
    (SampleFields::ADDR, |s| s.addr.map(DataAddress::get)),
    (SampleFields::PERIOD, |s| Some(s.period).filter(|&period| period != 0)),
    (SampleFields::WEIGHT, |s| s.latency),
    (SampleFields::DATA_SRC, |s| s.data_source.map(|d| d.0)),
    (SampleFields::PHYS_ADDR, |s| s.physical_address.map(NonZeroU64::get)),
];
/// Numbers that are stepped over.
const SKIPPED: [SampleFields; 7] = [
    SampleFields::IDENTIFIER,
    SampleFields::ID,
    SampleFields::STREAM_ID,
    SampleFields::TRANSACTION,
    SampleFields::CGROUP,
    SampleFields::DATA_PAGE_SIZE,
    SampleFields::CODE_PAGE_SIZE,
];

#[test]
fn each_plain_field_alone_is_the_whole_body() {
    for endian in [Endian::Little, Endian::Big] {
        for (field, read) in PLAIN {
            let body = Body::new(endian).u64(0x0102_0304_0506_0708);
            let event = layout(field, endian);
            let sample = parse(&event, 0, &body.bytes).unwrap();
            assert_eq!(read(&sample), Some(0x0102_0304_0506_0708), "{field:?}");
            let others = PLAIN.iter().filter(|(other, _)| *other != field);
            assert!(others.map(|(_, read)| read(&sample)).all(|value| value.is_none()));
        }
    }
}

#[test]
fn skipped_fields_take_their_space() {
    for endian in [Endian::Little, Endian::Big] {
        for field in SKIPPED {
            let body = Body::new(endian).u64(1).u64(2).u64(3);
            let event = layout(field | SampleFields::ADDR | SampleFields::PHYS_ADDR, endian);
            for event in [event.clone(), event.without_fixed_offsets()] {
                let sample = parse(&event, 0, &body.bytes).unwrap();
                // By how many of the other two it follows.
                let wanted = match field {
                    SampleFields::IDENTIFIER => [2, 3],
                    SampleFields::ID | SampleFields::STREAM_ID | SampleFields::TRANSACTION => [1, 3],
                    _ => [1, 2],
                };
                let wanted = (DataAddress::new(wanted[0]), NonZeroU64::new(wanted[1]));
                assert_eq!((sample.addr, sample.physical_address), wanted, "{field:?}");
                assert_eq!(sample.ip, None, "{field:?}");
            }
        }
    }
}

#[test]
fn pairs_keep_the_order_of_their_halves_in_both_byte_orders() {
    for endian in [Endian::Little, Endian::Big] {
        let body = Body::new(endian).u32(11).u32(12).u32(3).u32(0);
        let fields = SampleFields::TID | SampleFields::CPU;
        let event = layout(fields, endian);
        let sample = parse(&event, 2, &body.bytes).unwrap();
        assert_eq!((sample.pid, sample.tid, sample.cpu), (Some(11), Some(12), Some(3)));
        assert_eq!(sample.cpu_mode, CpuMode::User);
        assert!(!sample.exact_ip);
    }
}

#[test]
fn weight_struct_splits_the_word_the_same_way_in_both_byte_orders() {
    // As the C struct lies in memory: var1, var2, var3, and the reverse on big-endian machines.
    let little = [0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77];
    let big = [0x77, 0x88, 0x55, 0x66, 0x11, 0x22, 0x33, 0x44];
    for (endian, bytes) in [(Endian::Little, little), (Endian::Big, big)] {
        let event = layout(SampleFields::WEIGHT_STRUCT, endian);
        assert_eq!(parse(&event, 0, &bytes).unwrap().latency, Some(0x1122_3344));
        let by_cursor = event.without_fixed_offsets();
        assert_eq!(parse(&by_cursor, 0, &bytes).unwrap().latency, Some(0x1122_3344));
    }
}

#[test]
fn weight_struct_stands_before_the_data_source() {
    let fields = SampleFields::WEIGHT_STRUCT | SampleFields::DATA_SRC | SampleFields::PHYS_ADDR;
    let body = Body::new(Endian::Little).u64(9).u64(0x1e_0508_0021).u64(0xabc);
    let event = layout(fields, Endian::Little);
    let sample = parse(&event, 0, &body.bytes).unwrap();
    assert_eq!(sample.data_source, Some(DataSource(0x1e_0508_0021)));
    assert_eq!(sample.physical_address, NonZeroU64::new(0xabc));
}

/// Whether counters of this format take so many words, of which the first is `count`: the weight behind is
/// read.
fn assert_counters(read_format: u64, count: u64, words: usize) {
    let sample_type = SampleFields::READ | SampleFields::WEIGHT;
    let attr = Attr { sample_type, read_format, ..Attr::default() };
    let event = SampleLayout::new(&attr, Endian::Little);
    let body = (1..words as u64).fold(Body::new(Endian::Little).u64(count), Body::u64).u64(9);
    let sample = parse(&event, 0, &body.bytes).unwrap();
    assert_eq!((sample.latency, sample.period), (Some(9), 0));
    let short = parse(&event, 0, &body.bytes[..8 * words - 8]);
    assert!(matches!(short, Err(FieldError::Short { field: SampleFields::READ, .. })), "{short:?}");
    assert!(matches!(parse(&event, 0, &[]), Err(FieldError::Short { offset: 0, needed: 8, .. })));
}

#[test]
fn a_lone_counter_is_value_times_id_lost() {
    assert_counters(0b1_0111, 100, 5);
}

#[test]
fn a_lone_counter_without_extras_is_one_word() {
    assert_counters(0, 100, 1);
}

#[test]
fn grouped_counters_are_count_times_and_one_entry_each() {
    assert_counters(0b1_1111, 2, 9);
}

#[test]
fn a_group_with_lost_but_no_id() {
    assert_counters(0b1_1000, 1, 3);
}

#[test]
fn call_chain_and_raw_data() {
    let fields = SampleFields::CALLCHAIN | SampleFields::RAW | SampleFields::DATA_SRC;
    // Raw data is sized so that its length word and itself end on eight bytes.
    let body = Body::new(Endian::Big).u64(3).u64(1).u64(2).u64(3).u32(12).raw(b"twelve bytes").u64(0x21);
    let event = layout(fields, Endian::Big);
    let sample = parse(&event, 0, &body.bytes).unwrap();
    assert_eq!(sample.callchain.unwrap().iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(sample.branch_stack, None);
    assert_eq!(sample.data_source, Some(DataSource(0x21)));
}

fn branch_layout(branch_sample_type: u64) -> SampleLayout {
    let sample_type = SampleFields::BRANCH_STACK | SampleFields::WEIGHT;
    SampleLayout::new(&Attr { sample_type, branch_sample_type, ..Attr::default() }, Endian::Little)
}

#[test]
fn branch_stacks_with_index_and_counters() {
    let body = Body::new(Endian::Little).u64(2).u64(5);
    let body = body.u64(10).u64(20).u64(1 << 24 | 77 << 4).u64(30).u64(40).u64(2).u64(0xc0).u64(0xc1).u64(9);
    let event = branch_layout(1 << 17 | 1 << 19);
    let sample = parse(&event, 0, &body.bytes).unwrap();
    let stack = sample.branch_stack.unwrap();
    let entries: Vec<_> = stack.entries().map(|e| (e.from.0, e.to.0, e.is_wrong_path)).collect();
    assert_eq!(entries, [(10, 20, true), (30, 40, false)]);
    assert_eq!(sample.latency, Some(9));
}

#[test]
fn branch_stack_without_extras() {
    let body = Body::new(Endian::Little).u64(1).u64(10).u64(20).u64(0).u64(9);
    let event = branch_layout(1);
    let sample = parse(&event, 0, &body.bytes).unwrap();
    assert_eq!(sample.branch_stack.unwrap().entries().count(), 1);
    assert_eq!(sample.latency, Some(9));
}

#[test]
fn an_empty_branch_stack_may_lack_its_index() {
    let with_index = Body::new(Endian::Little).u64(0).u64(5).u64(9);
    let bare = Body::new(Endian::Little).u64(0).u64(9);
    for body in [with_index, bare] {
        let event = branch_layout(1 << 17);
        let sample = parse(&event, 0, &body.bytes).unwrap();
        assert_eq!(sample.branch_stack.unwrap().entries().count(), 0);
        assert_eq!(sample.latency, Some(9));
    }
}

#[test]
fn registers_are_as_many_as_their_mask_has_bits() {
    let attr = Attr {
        sample_type: SampleFields::REGS_USER | SampleFields::DATA_SRC | SampleFields::REGS_INTR,
        user_registers: 0b101,
        interrupt_registers: 1 << 63 | 1 << 8,
        ..Attr::default()
    };
    let all = Body::new(Endian::Little).u64(2).u64(100).u64(102).u64(0x21).u64(2).u64(108).u64(163);
    let none = Body::new(Endian::Little).u64(0).u64(0x21).u64(0);
    let event = SampleLayout::new(&attr, Endian::Little);
    for body in [all, none] {
        assert_eq!(parse(&event, 0, &body.bytes).unwrap().data_source, Some(DataSource(0x21)));
        let short = parse(&event, 0, &body.bytes[..body.bytes.len() - 8]);
        assert!(matches!(short, Err(FieldError::Short { field: SampleFields::REGS_INTR, .. })), "{short:?}");
    }
}

#[test]
fn an_empty_user_stack_has_no_filled_size() {
    let fields = SampleFields::STACK_USER | SampleFields::WEIGHT;
    let empty = Body::new(Endian::Little).u64(0).u64(9);
    let full = Body::new(Endian::Little).u64(8).raw(b"stack...").u64(5).u64(9);
    for body in [empty, full] {
        let event = layout(fields, Endian::Little);
        let sample = parse(&event, 0, &body.bytes).unwrap();
        assert_eq!(sample.latency, Some(9));
    }
}

#[test]
fn aux_data_comes_after_the_page_sizes() {
    let fields = SampleFields::AUX | SampleFields::CODE_PAGE_SIZE | SampleFields::PHYS_ADDR;
    let body = Body::new(Endian::Little).u64(77).u64(4096).u64(8).raw(b"aux data");
    let event = layout(fields, Endian::Little);
    assert_eq!(parse(&event, 0, &body.bytes).unwrap().physical_address, NonZeroU64::new(77));
    let short = parse(&event, 0, &body.bytes[..28]).unwrap_err();
    assert_eq!(short, FieldError::Short { field: SampleFields::AUX, offset: 24, needed: 8 });
}

#[test]
fn fields_are_named_in_messages() {
    let names: Vec<String> = (0..25).map(|bit| SampleFields(1 << bit).to_string()).collect();
    assert!(names.iter().all(|name| !name.is_empty()));
    assert_eq!((names[0].as_str(), names[5].as_str(), names[24].as_str()), ("ip", "callchain", "weight"));
    let (tid, stack) = (SampleFields::TID.to_string(), SampleFields::STACK_USER.to_string());
    assert_eq!((tid.as_str(), stack.as_str()), ("pid and tid", "user stack"));
}

/// Every field at once, each with a value of its own, in the order of `perf_output_sample`.
fn full(endian: Endian) -> (SampleLayout, Vec<u8>) {
    let sample_type = SampleFields(SampleFields::KNOWN.0 & !SampleFields::WEIGHT.0);
    let attr = Attr {
        sample_type,
        read_format: 0b0_0100,
        branch_sample_type: 1 << 17,
        user_registers: 1,
        interrupt_registers: 2,
        ..Attr::default()
    };
    let body = Body::new(endian)
        .u64(1)
        .u64(2)
        .u32(3)
        .u32(4)
        .u64(5)
        .u64(6)
        .u64(7)
        .u64(8)
        .u32(9)
        .u32(0)
        .u64(10)
        .u64(11)
        .u64(12)
        .u64(1)
        .u64(13)
        .u32(4)
        .raw(b"raw.");
    let body = body.u64(1).u64(14).u64(15).u64(16).u64(0).u64(2).u64(17).u64(8).raw(b"ustack..").u64(6);
    let body = body.u64(18).u64(19).u64(20).u64(2).u64(21).u64(22).u64(23).u64(24).u64(25);
    (SampleLayout::new(&attr, endian), body.u64(8).raw(b"aux.....").bytes)
}

#[test]
fn all_fields_at_once() {
    for endian in [Endian::Little, Endian::Big] {
        let (layout, bytes) = full(endian);
        let s = parse(&layout, 1 | 1 << 14, &bytes).unwrap();
        assert_eq!((s.cpu_mode, s.exact_ip), (CpuMode::Kernel, true));
        assert_eq!((s.ip, s.time, s.addr), (Some(LoadedAddress(2)), Some(5), DataAddress::new(6)));
        assert_eq!([s.pid, s.tid, s.cpu], [Some(3), Some(4), Some(9)]);
        assert_eq!(s.period, 10);
        assert_eq!(s.callchain.unwrap().iter().collect::<Vec<_>>(), [13]);
        let branches: Vec<_> = s.branch_stack.unwrap().entries().map(|e| (e.from.0, e.to.0)).collect();
        assert_eq!(branches, [(15, 16)]);
        assert_eq!(s.latency, Some(18));
        assert_eq!(s.data_source, Some(DataSource(19)));
        assert_eq!(s.physical_address, NonZeroU64::new(22));
    }
}

#[test]
fn a_body_cut_anywhere_is_short_and_a_longer_one_has_leftovers() {
    let (layout, mut bytes) = full(Endian::Little);
    for end in 0..bytes.len() {
        assert!(matches!(parse(&layout, 0, &bytes[..end]), Err(FieldError::Short { .. })), "cut at {end}");
    }
    let length = bytes.len();
    bytes.push(0);
    assert_eq!(parse(&layout, 0, &bytes), Err(FieldError::Leftover { offset: length, count: 1 }));
}

#[test]
fn lengths_beyond_the_record_are_short_and_not_an_allocation() {
    for field in [
        SampleFields::CALLCHAIN,
        SampleFields::RAW,
        SampleFields::BRANCH_STACK,
        SampleFields::STACK_USER,
        SampleFields::AUX,
    ] {
        let body = Body::new(Endian::Little).u64(u64::MAX).u64(0);
        let event = layout(field, Endian::Little);
        let parsed = parse(&event, 0, &body.bytes);
        assert!(matches!(parsed, Err(FieldError::Short { .. })), "{field:?}: {parsed:?}");
    }
}

#[test]
fn the_period_is_recorded_or_fixed_or_one() {
    let period = |attr: &Attr, body: &[u8]| {
        let layout = SampleLayout::new(attr, Endian::Little);
        parse(&layout, 0, body).unwrap().period
    };
    let recorded = Attr { sample_type: SampleFields::PERIOD, period_or_frequency: 200, ..Attr::default() };
    assert_eq!(period(&recorded, &7_u64.to_le_bytes()), 7);
    let fixed = Attr { period_or_frequency: 200, ..Attr::default() };
    assert_eq!(period(&fixed, &[]), 200);
    let frequency = Attr { period_or_frequency: 4000, flags: 1 << 10, ..Attr::default() };
    assert_eq!(period(&frequency, &[]), 1);
}

#[test]
fn an_address_of_zero_is_none() {
    let layout = layout(SampleFields::ADDR, Endian::Little);
    let address = |value: u64| parse(&layout, 0, &value.to_le_bytes()).unwrap().addr.map(DataAddress::get);
    assert_eq!([address(0), address(5)], [None, Some(5)]);
}

#[test]
fn fields_are_the_same_at_fixed_offsets_and_by_cursor() {
    let mut random = Random(1);
    for _ in 0..1000 {
        let mask = random.next() & SampleFields::KNOWN.0;
        let words: Vec<u64> = (0..random.below(18)).map(|_| random.next()).collect();
        let endian = [Endian::Little, Endian::Big][random.below(2)];
        let misc = random.next() as u16;
        let event = layout(SampleFields(mask & !fixed_offsets::VARIABLE_SIZE_FIELDS.0), endian);
        let walked = event.clone().without_fixed_offsets();
        // As long as the fields say, and as long as it happens to be.
        let count = (0..=17).find(|count| parse(&walked, misc, &vec![0; 8 * count]).is_ok()).unwrap();
        for body in
            [words.clone(), (0..count).map(|at| words.get(at).copied().unwrap_or(at as u64)).collect()]
        {
            let body = body.into_iter().fold(Body::new(endian), Body::u64);
            let (found, walked) = (parse(&event, misc, &body.bytes), parse(&walked, misc, &body.bytes));
            assert_eq!(found, walked, "{mask:#x}");
        }
    }
}

#[test]
fn no_body_makes_it_panic() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let registers = random.next();
        let attr = Attr {
            sample_type: SampleFields(random.next() & 0x1ff_ffff),
            read_format: random.next() & 31,
            branch_sample_type: random.next() & 0xf_ffff,
            user_registers: registers,
            interrupt_registers: registers,
            ..Attr::default()
        };
        // Every other word is small, as counts are.
        let word = |random: &mut Random| if random.below(2) == 0 { random.next() & 3 } else { random.next() };
        let bytes: Vec<u8> = (0..random.below(64)).flat_map(|_| word(&mut random).to_le_bytes()).collect();
        let body = &bytes[..bytes.len().saturating_sub(random.below(8))];
        for endian in [Endian::Little, Endian::Big] {
            let event = SampleLayout::new(&attr, endian);
            if let Ok(sample) = parse(&event, 0, body) {
                // Whatever was read lies within the body.
                let chain = sample.callchain.map_or(0, |chain| chain.iter().count());
                assert!(chain <= body.len() / 8);
            }
        }
    }
}

#[test]
fn wrong_path_branches_are_marked_in_both_byte_orders() {
    for (endian, flags) in [(Endian::Little, 1 << 24), (Endian::Big, 1 << 38)] {
        let body = Body::new(endian).u64(2).u64(10).u64(20).u64(flags).u64(30).u64(40).u64(0);
        let event = layout(SampleFields::BRANCH_STACK, endian);
        let sample = parse(&event, 0, &body.bytes).unwrap();
        let entries = sample.branch_stack.unwrap().entries();
        let entries: Vec<_> = entries.map(|e| (e.from.0, e.to.0, e.is_wrong_path)).collect();
        assert_eq!(entries, [(10, 20, true), (30, 40, false)]);
        assert_eq!(sample.callchain, None);
    }
}

#[test]
fn fields_are_a_set() {
    let found = [(true, SampleFields::IP), (false, SampleFields::TID), (true, SampleFields::TIME)];
    let fields = SampleFields::from_flags(found);
    assert_eq!(fields, SampleFields::IP | SampleFields::TIME);
    assert!(fields.contains(SampleFields::IP) && !fields.contains(SampleFields::TID));
    assert!(fields.intersects(SampleFields::TID | SampleFields::TIME));
    assert_eq!(fields.to_string(), "ip, time");
}
