//! Recordings made by `perf record` itself; `fixtures/perf/README.md` says how.

use fieldline_doctor::blind_spots::{BlindSpot, blind_spots};
use fieldline_perfdata::perf_data::PerfFile;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/perf").join(name)
}

#[test]
fn a_clock_recording_is_said_to_be_blind() {
    for name in ["clock.data", "packed-stream.data"] {
        let file = PerfFile::open(&fixture(name)).unwrap();
        let spots = blind_spots(file.facts(), &file.tally().unwrap());
        let clock = BlindSpot::ClockEvent { event: "cpu-clock".to_owned() };
        assert!(spots.contains(&clock), "{name}: {spots:?}");
        let keys: Vec<_> = spots.iter().map(BlindSpot::key).collect();
        assert!(keys.contains(&"no-addresses") && keys.contains(&"no-data-source"), "{name}: {keys:?}");
    }
}

#[test]
fn whatever_is_counted_of_a_damaged_recording_can_be_talked_about() {
    let mut read = 0;
    for name in ["clock.data", "memory.data", "stream.data", "packed.data"] {
        let whole = std::fs::read(fixture(name)).unwrap();
        // The header with the attributes, and every now and then a byte behind them.
        let places = (0..whole.len().min(600)).chain((600..whole.len()).step_by(61));
        for (index, flip) in places.zip([0x01, 0x80, 0xff].into_iter().cycle()) {
            let mut bytes = whole.clone();
            bytes[index] ^= flip;
            let Ok(file) = PerfFile::of_bytes(bytes) else { continue };
            let Ok(tally) = file.tally() else { continue };
            for spot in blind_spots(file.facts(), &tally) {
                assert!(!spot.to_string().is_empty());
            }
            read += 1;
        }
    }
    assert!(read > 500, "{read}");
}

#[test]
fn a_recording_that_perf_did_not_finish_is_said_to_be_unfinished() {
    let mut bytes = std::fs::read(fixture("clock.data")).unwrap();
    let data_offset = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    let data_size = u64::from_le_bytes(bytes[48..56].try_into().unwrap());
    bytes.truncate((data_offset + data_size) as usize);
    bytes[48..56].fill(0);
    let file = PerfFile::of_bytes(bytes).unwrap();
    let tally = file.tally().unwrap();
    assert!(tally.samples() > 20);
    let keys: Vec<_> = blind_spots(file.facts(), &tally).iter().map(|spot| spot.key()).collect();
    assert!(keys.contains(&"unfinished"), "{keys:?}");
}
