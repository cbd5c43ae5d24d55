//! Recordings that break off, are damaged or are none: an error with its position, never a panic, and never
//! more memory than the file is worth.

use crate::random::Random;
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian, Error, PerfFile, RecordCounts};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{Packing, RecordingWriter, SampleValues};

/// A recording in the manner of `perf mem record`: two events, the kernel's map and build id.
fn recording(samples: u64) -> RecordingWriter {
    let mut recording = RecordingWriter::new(Endian::Little);
    let sample_type = SampleFields::IDENTIFIER
        | SampleFields::IP
        | SampleFields::TID
        | SampleFields::TIME
        | SampleFields::ADDR
        | SampleFields::CPU
        | SampleFields::PERIOD
        | SampleFields::CALLCHAIN
        | SampleFields::WEIGHT
        | SampleFields::DATA_SRC;
    let attr = Attr { kind: 4, config: 0x1cd, sample_type, flags: 1 << 18, ..Attr::default() };
    let loads = recording.event("loads", attr.clone(), &[1]);
    let stores = recording.event("stores", attr, &[2]);
    recording.build_id("[kernel.kallsyms]", CpuMode::Kernel, BuildId::new(&[5; 20]).unwrap());
    recording.command_line(&["perf", "mem", "record"]);
    recording.cacheline_size(64);
    recording.kernel_map(0xffff_ffff_8100_0000, 0x100_0000, "_stext", 0xffff_ffff_8100_0000);
    recording.comm(1, 1, "init");
    for index in 0..samples {
        let callchain = [0xffff_ffff_ffff_ff80, 0xffff_ffff_8100_0000 + index];
        let values = SampleValues {
            cpu_mode: CpuMode::Kernel,
            ip: 0xffff_ffff_8100_0000 + index,
            addr: 0xffff_8880_0000_0000 + index,
            time: index,
            callchain: &callchain,
            data_source: 0x2_2810_0142,
            ..SampleValues::default()
        };
        recording.sample(if index.is_multiple_of(2) { loads } else { stores }, &values);
    }
    recording.lost(1, 3);
    recording.aux_trace(&[7; 48]);
    recording.finished_round();
    recording
}

/// The recording in every form a file can have.
fn forms(samples: u64) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for packing in [Packing::None, Packing::Compressed(500), Packing::Compressed2(500)] {
        let mut recording = recording(samples);
        recording.set_packing(packing);
        forms.extend([recording.to_file(), recording.to_pipe()]);
    }
    forms
}

/// Reads all there is.
fn read(bytes: Vec<u8>) -> Result<RecordCounts, Error> {
    SampleFile::from(PerfFile::from_bytes(bytes)?).count_records()
}

/// The numbers of a message, which must lie within the file or its decompressed records.
fn offset_of(error: &Error) -> Option<u64> {
    match error {
        Error::Truncated { place, .. }
        | Error::Malformed { place, .. }
        | Error::Unsupported { place, .. } => Some(place.offset),
        Error::Io { offset, .. } => Some(*offset),
        _ => None,
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_that_says_where() {
    let whole = recording(5).to_file();
    assert!(read(whole.clone()).is_ok());
    for end in 0..whole.len() {
        let error = read(whole[..end].to_vec()).expect_err("a cut file was read");
        match offset_of(&error) {
            Some(offset) => assert!(offset <= whole.len() as u64, "cut at {end}: {error}"),
            None => assert!(end < 8, "cut at {end}: {error}"),
        }
        assert!(
            matches!(error, Error::Empty | Error::NotPerfData { .. } | Error::Truncated { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_stream_cut_anywhere_ends_at_a_record_or_is_an_error() {
    let whole = recording(5).to_pipe();
    let samples = read(whole.clone()).unwrap().samples();
    let mut complete = 0;
    for end in 0..whole.len() {
        match read(whole[..end].to_vec()) {
            // Nothing marks the end of a stream, so a cut between records cannot be seen.
            Ok(tally) => {
                complete += 1;
                assert!(tally.samples() <= samples);
            }
            Err(error) => assert!(!matches!(error, Error::Io { .. }), "cut at {end}: {error}"),
        }
    }
    assert!((5..40).contains(&complete), "{complete} cuts went unseen");
}

#[test]
fn a_packed_recording_cut_at_any_fiftieth_is_an_error() {
    for whole in forms(200).into_iter().filter(|bytes| bytes[8] == 104) {
        for part in 0..50 {
            let end = whole.len() * part / 50;
            assert!(read(whole[..end].to_vec()).is_err(), "cut at {end} of {}", whole.len());
        }
    }
}

#[test]
fn a_flipped_byte_is_read_or_refused() {
    for whole in forms(3) {
        for index in 0..whole.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[index] ^= flip;
                if let Err(error) = read(bytes) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn sizes_and_offsets_of_all_ones_are_refused_without_allocating_them() {
    let whole = recording(3).to_file();
    // Every field of the file header that is an offset or a size, and the feature table.
    let data_offset = u64::from_le_bytes(whole[40..48].try_into().unwrap());
    let data_size = u64::from_le_bytes(whole[48..56].try_into().unwrap());
    let table = (data_offset + data_size) as usize;
    for field in [16, 24, 32, 40, 48, table, table + 8, table + 16, table + 24] {
        for value in [u64::MAX, u64::MAX / 2, 1 << 40, 1 << 62] {
            let mut bytes = whole.clone();
            bytes[field..field + 8].copy_from_slice(&value.to_le_bytes());
            assert!(read(bytes).is_err(), "{value:#x} at {field}");
        }
    }
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(read(Vec::new()), Err(Error::Empty)));
    let error = read(b"\x7fELF\x02\x01\x01\x00 and more".to_vec()).unwrap_err();
    assert!(matches!(error, Error::NotPerfData { magic: [0x7f, b'E', b'L', b'F', ..] }));
    assert!(error.to_string().contains("not a perf.data file"));
    assert!(matches!(read(b"PERF".to_vec()), Err(Error::NotPerfData { .. })));
    assert!(matches!(read(b"PERFFILE".to_vec()), Err(Error::Unsupported { .. })));
    assert!(matches!(read(b"PERFILE2".to_vec()), Err(Error::Truncated { .. })));
}

#[test]
fn paths_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let error = PerfFile::open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Directory { is_recording: false }), "{error}");
    std::fs::write(folder.path().join("data"), b"").unwrap();
    let error = PerfFile::open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Directory { is_recording: true }), "{error}");
    assert!(matches!(PerfFile::open(&folder.path().join("none")), Err(Error::Io { .. })));
    assert!(matches!(PerfFile::open(std::path::Path::new("/dev/null")), Err(Error::NotRegular(_))));
    assert!(matches!(PerfFile::open(&folder.path().join("data")), Err(Error::Empty)));
}

#[test]
fn a_recording_that_perf_did_not_finish_is_read_to_its_end() {
    let mut bytes = recording(5).to_file();
    let data_offset = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    let data_size = u64::from_le_bytes(bytes[48..56].try_into().unwrap());
    bytes.truncate((data_offset + data_size) as usize);
    bytes[48..56].fill(0);
    let file = SampleFile::from_bytes(bytes).unwrap();
    assert_eq!(file.count_records().unwrap().samples(), 5);
    assert!(!file.facts().is_finished);
}

#[test]
fn a_sample_shorter_than_its_event_says_is_named_with_its_field_and_place() {
    let mut recording = recording(0);
    recording.record(9, 1, &[1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    let bytes = recording.to_file();
    let at = bytes.windows(10).position(|window| window == [1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]).unwrap();
    let error = read(bytes).unwrap_err();
    let wanted =
        format!("malformed sample at byte {}: its ip need 8 bytes and 2 are left in the record", at + 8);
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn a_record_smaller_than_its_header_is_refused_and_does_not_loop() {
    for size in 0..8_u16 {
        let mut bytes = recording(0).to_pipe();
        bytes.extend([9, 0, 0, 0, 0, 0]);
        bytes.extend(size.to_le_bytes());
        assert!(matches!(read(bytes), Err(Error::Malformed { .. })), "{size}");
    }
}

#[test]
fn after_an_error_there_are_no_more_records() {
    let mut recording = recording(2);
    recording.record(81, 0, b"this is no zstd");
    recording.finished_round();
    let file = PerfFile::from_bytes(recording.to_file()).unwrap();
    let mut records = file.records();
    let error = loop {
        match records.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("no error"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Malformed { what: "compressed records", .. }), "{error}");
    assert!(records.next_record().unwrap().is_none());
}

#[test]
fn the_data_of_trace_records_must_be_within_the_file() {
    let mut recording = recording(0);
    let mut body = [0; 40];
    body[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    recording.record(71, 0, &body);
    assert!(matches!(read(recording.to_file()), Err(Error::Truncated { .. })));
    assert!(matches!(read(recording.to_pipe()), Err(Error::Truncated { .. })));
}

#[test]
fn events_without_a_common_id_position_are_refused_at_once() {
    let mut recording = RecordingWriter::new(Endian::Little);
    let attr = Attr { sample_type: SampleFields::IP, ..Attr::default() };
    recording.event("a", attr.clone(), &[1]);
    recording.event("b", attr, &[2]);
    let error = read(recording.to_pipe()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("2 events"), "{error}");
}

#[test]
fn a_recording_without_events_is_refused() {
    let mut recording = RecordingWriter::new(Endian::Little);
    recording.finished_round();
    for bytes in [recording.to_file(), recording.to_pipe()] {
        assert!(matches!(read(bytes), Err(Error::Malformed { .. })));
    }
}

#[test]
fn no_garbage_makes_it_panic() {
    let mut random = Random(1);
    for _ in 0..1000 {
        let length = 16 + random.below(1984);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        bytes[..8].copy_from_slice(b"PERFILE2");
        let header = [16_u64, 104][random.below(2)];
        bytes[8..16].copy_from_slice(&header.to_le_bytes());
        let _ = read(bytes);
    }
}

#[test]
fn no_damage_makes_it_panic() {
    let mut random = Random(2);
    let forms = forms(20);
    for _ in 0..2000 {
        let mut bytes = forms[random.below(forms.len())].clone();
        for _ in 0..1 + random.below(19) {
            let index = random.below(bytes.len());
            bytes[index] = random.next() as u8;
        }
        for _ in 0..random.below(3) {
            let index = random.below(bytes.len() / 8 - 1) * 8;
            bytes[index..index + 8].copy_from_slice(&random.next().to_le_bytes());
        }
        let _ = read(bytes);
    }
}
