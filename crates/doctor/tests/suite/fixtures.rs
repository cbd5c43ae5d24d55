//! Recordings made by `perf record` itself; `fixtures/perf/README.md` says how.

use fieldline_doctor::DoctorFinding;
use fieldline_doctor::blind_spots::blind_spots;
use fieldline_perfdata::sample_file::SampleFile;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/perf").join(name)
}

#[test]
fn a_clock_recording_misses_code_with_interrupts_off() {
    for name in ["clock.data", "packed-stream.data"] {
        let file = SampleFile::open(&fixture(name)).unwrap();
        let spots = blind_spots(file.facts(), &file.count_records().unwrap(), None);
        let is_clock =
            |spot: &DoctorFinding| spot.key == "clock-event" && spot.message.starts_with("cpu-clock");
        assert!(spots.iter().any(is_clock), "{name}: {spots:?}");
        let keys: Vec<_> = spots.iter().map(|spot| spot.key.as_str()).collect();
        assert!(keys.contains(&"no-addresses") && keys.contains(&"no-data-source"), "{name}: {keys:?}");
    }
}

#[test]
fn blind_spots_of_damaged_recordings_have_texts() {
    let mut read = 0;
    for name in ["clock.data", "memory.data", "stream.data", "packed.data"] {
        let whole = std::fs::read(fixture(name)).unwrap();
        // The header with the attributes, and every now and then a byte behind them.
        let offsets = (0..whole.len().min(600)).chain((600..whole.len()).step_by(61));
        for (index, flip) in offsets.zip([0x01, 0x80, 0xff].into_iter().cycle()) {
            let mut bytes = whole.clone();
            bytes[index] ^= flip;
            let Ok(file) = SampleFile::from_bytes(bytes) else { continue };
            let Ok(tally) = file.count_records() else { continue };
            for spot in blind_spots(file.facts(), &tally, None) {
                assert!(!spot.message.is_empty() && !spot.evidence.is_empty());
            }
            read += 1;
        }
    }
    assert!(read > 500, "{read}");
}

#[test]
fn a_recording_that_perf_did_not_finish_is_reported() {
    let mut bytes = std::fs::read(fixture("clock.data")).unwrap();
    let data_offset = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    let data_size = u64::from_le_bytes(bytes[48..56].try_into().unwrap());
    bytes.truncate((data_offset + data_size) as usize);
    bytes[48..56].fill(0);
    let file = SampleFile::from_bytes(bytes).unwrap();
    let tally = file.count_records().unwrap();
    assert!(tally.samples() > 20);
    let spots = blind_spots(file.facts(), &tally, None);
    assert!(spots.iter().any(|spot| spot.key == "unfinished"), "{spots:?}");
}
