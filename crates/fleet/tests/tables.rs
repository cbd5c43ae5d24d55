//! Profiles through files of tables: one host comes back as it was, several are summed, damage is named.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use fieldline_access::access::{
    Access, AccessProfile, AwaySamples, BlockCount, CpuAccess, EventCoverage, HomeCounts, Recording,
    SampleCount, TypeProfile, Window,
};
use fieldline_access::line_turns::{LineTurns, TurnPair};
use fieldline_fleet::dataset::{Dataset, ReadOptions};
use fieldline_fleet::file::to_parquet;
use fieldline_fleet::filter::{Condition, Filter};
use fieldline_fleet::profile_rows::{ProfileFacts, to_tables};
use fieldline_fleet::schema::{Projection, Table};
use fieldline_fleet::to_profile::{FleetProfile, ProfileOptions, to_profile};
use fieldline_layout::{Layout, Member};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn member(name: &str, offset: u64) -> Member {
    let type_name = "long".to_owned();
    Member {
        name: Some(name.to_owned()),
        type_name,
        bit_offset: 8 * offset,
        bit_size: 64,
        align: 8,
        ..Member::default()
    }
}

fn layout(members: &[(&str, u64)]) -> Layout {
    let members: Vec<Member> = members.iter().map(|(name, offset)| member(name, *offset)).collect();
    Layout { name: "queue".to_owned(), size: 8 * members.len() as u64, members, ..Layout::default() }
}

/// An access of so many loads in block 0 and stores in block 1.
fn access(ip: u64, offset: u64, samples: u64) -> Access {
    Access {
        ip,
        function: 0,
        offset,
        size: 8,
        loads: SampleCount { samples, period: 200 * samples },
        stores: SampleCount { samples: 1, period: 200 },
        latency: 7 * samples,
        levels: BTreeMap::from([("L1".to_owned(), samples), ("HITM".to_owned(), 1)]),
        store_levels: BTreeMap::from([("TAKEN".to_owned(), 1)]),
        away: AwaySamples { loads: 1, stores: 1, lost: 1 },
        blocks: vec![
            BlockCount { block: 0, loads: samples, stores: 0 },
            BlockCount { block: 1, loads: 0, stores: 1 },
        ],
    }
}

/// A profile that has something of everything; `head` and `tail` say where these members are.
fn profile(build: &str, layout: Layout, (head, tail): (u64, u64)) -> AccessProfile {
    let count = |samples| SampleCount { samples, period: 200 * samples };
    AccessProfile {
        recordings: vec![Recording {
            file: "perf.data".to_owned(),
            host: Some("recorded".to_owned()),
            release: Some("6.12".to_owned()),
            build_id: Some(build.to_owned()),
            cacheline: Some(64),
            samples: 30,
            lost: 2,
            ..Recording::default()
        }],
        coverage: vec![EventCoverage {
            event: "loads".to_owned(),
            total: count(30),
            attributed: count(20),
            unattributed: BTreeMap::from([("stack".to_owned(), count(10))]),
        }],
        blind_spots: vec!["No stores.".to_owned(), "No user code.".to_owned()],
        types: vec![TypeProfile {
            name: "queue".to_owned(),
            size: layout.size,
            fingerprint: layout.fingerprint(),
            layout: Some(layout),
            // Addresses of a kernel are above what is positive in 64 bits.
            accesses: vec![access(0xffff_ffff_8100_0000, head, 12), access(0xffff_ffff_8100_0008, tail, 5)],
            cpus: vec![CpuAccess { offset: head, cpu: 3, loads: 12, stores: 1 }],
            phases: BTreeMap::from([(64, 2)]),
            homes: HomeCounts { samples: 19, others: 4 },
            turns: vec![LineTurns {
                line: 64,
                true_turns: 3,
                false_turns: 2,
                cpus: 4,
                pairs: vec![TurnPair { offset: head, written: tail, turns: 2, objects: 1 }],
            }],
        }],
        functions: vec!["walk".to_owned(), "outer".to_owned()],
        windows: vec![
            Window { entries: vec![(-1, 1), (0, 0)], count: 4, blocks: vec![(0, 3), (1, 1)] },
            Window { entries: vec![(0, 0), (0, 0)], count: 2, blocks: vec![(1, 2)] },
        ],
        blocks: vec![20, 10],
        ..AccessProfile::empty()
    }
}

fn own_layout() -> Layout {
    layout(&[("head", 0), ("tail", 8)])
}

fn write(folder: &Path, profile: &AccessProfile, host: Option<&str>, cohort: &str) {
    let facts = ProfileFacts {
        host: host.map(str::to_owned),
        day: Some("2026-05-01".to_owned()),
        labels: BTreeMap::from([("cohort".to_owned(), cohort.to_owned())]),
    };
    let tables = to_tables(profile, &facts).unwrap().unwrap();
    let folder = folder.join(host.unwrap_or("one"));
    std::fs::create_dir_all(&folder).unwrap();
    for table in Table::ALL {
        std::fs::write(folder.join(format!("{}.parquet", table.name())), to_parquet(&tables, table).unwrap())
            .unwrap();
    }
}

fn open(folder: &Path, conditions: &[&str], skip_broken: bool) -> Result<Dataset, String> {
    let conditions: Vec<Condition> = conditions.iter().map(|text| text.parse().unwrap()).collect();
    let options = ReadOptions { filter: Filter::new(&conditions), skip_broken };
    Dataset::open(&[folder.to_path_buf()], &options).map_err(|error| error.to_string())
}

fn read(folder: &Path, conditions: &[&str], build_id: Option<&str>) -> FleetProfile {
    let mut dataset = open(folder, conditions, false).unwrap();
    let is_alone = dataset.hosts().len() < 2;
    let projection = if is_alone { Projection::all() } else { Projection::merged(&[]) };
    let tables = dataset.sum(&projection).unwrap();
    to_profile(&tables, &ProfileOptions { build_id, ..ProfileOptions::default() }, folder).unwrap()
}

#[test]
fn the_folder_of_one_host_is_its_profile() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile("aa", own_layout(), (0, 8));
    write(folder.path(), &profile, None, "web");
    let FleetProfile { profile: read, notes } = read(folder.path(), &[], None);
    assert_eq!(notes, Vec::<String>::new());
    // Functions are numbered in the order in which rows name them.
    assert_eq!(read, profile);
}

#[test]
fn members_of_other_builds_go_by_path() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &profile("aa", own_layout(), (0, 8)), Some("a"), "web");
    // The members have changed places, and another build lacks one.
    write(folder.path(), &profile("bb", layout(&[("tail", 0), ("head", 8)]), (8, 0)), Some("b"), "web");
    write(folder.path(), &profile("cc", layout(&[("head", 0), ("other", 8)]), (0, 8)), Some("c"), "db");
    let found = read(folder.path(), &[], Some("aa"));
    let [queue] = found.profile.types.as_slice() else { panic!("{:?}", found.profile.types) };
    let at = |offset| queue.accesses.iter().find(|access| access.offset == offset).unwrap();
    assert_eq!((at(0).loads.samples, at(8).loads.samples), (36, 10));
    assert_eq!(at(0).levels["L1"], 36);
    assert_eq!(queue.fingerprint, own_layout().fingerprint());
    assert_eq!(queue.cpus, [CpuAccess { offset: 0, cpu: 3, loads: 36, stores: 3 }]);
    let [note] = found.notes.as_slice() else { panic!("{:?}", found.notes) };
    assert!(note.contains("6 samples") && note.contains("other (6)"), "{note}");
    assert_eq!(found.profile.recordings.len(), 3);
    assert_eq!(found.profile.windows.iter().map(|window| window.count).sum::<u64>(), 18);
    // Blocks are groups of hosts: none of a host is in two.
    assert!(found.profile.blocks.len() <= 3);
    assert_eq!(found.profile.blocks.iter().sum::<u64>(), 90);
    let blocks = |access: &Access| access.blocks.iter().map(|count| count.loads).sum::<u64>();
    assert_eq!(blocks(at(0)), 36);
}

#[test]
fn conditions_choose_hosts() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &profile("aa", own_layout(), (0, 8)), Some("a"), "web");
    write(folder.path(), &profile("bb", layout(&[("tail", 0), ("head", 8)]), (8, 0)), Some("b"), "db");
    for conditions in [["cohort=web"], ["host=a"], ["build=aa"], ["kernel=6.12"]] {
        let found = read(folder.path(), &conditions, None);
        let expected = if conditions == ["kernel=6.12"] { 34 + 4 } else { 17 + 2 };
        assert_eq!(found.profile.types[0].samples(), expected, "{conditions:?}");
    }
    let none = open(folder.path(), &["cohort=none"], false).unwrap_err();
    assert!(none.contains("no recording is left"), "{none}");
}

#[test]
fn sums_in_steps_are_the_sum_at_once() {
    let (folder, steps) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (host, cohort) in [("a", "web"), ("b", "db"), ("c", "web")] {
        write(folder.path(), &profile("aa", own_layout(), (0, 8)), Some(host), cohort);
    }
    let sum = |folder: &Path| {
        let mut tables = open(folder, &[], false).unwrap().sum(&Projection::merged(&[])).unwrap();
        tables.sort();
        Table::ALL.map(|table| to_parquet(&tables, table).unwrap())
    };
    let at_once = sum(folder.path());
    for (part, hosts) in [("first", &["a", "b"][..]), ("second", &["c"])] {
        let parts: Vec<PathBuf> = hosts.iter().map(|host| folder.path().join(host)).collect();
        let mut tables =
            Dataset::open(&parts, &ReadOptions::default()).unwrap().sum(&Projection::merged(&[])).unwrap();
        tables.sort();
        std::fs::create_dir(steps.path().join(part)).unwrap();
        for table in Table::ALL {
            let path = steps.path().join(part).join(format!("{}.parquet", table.name()));
            std::fs::write(path, to_parquet(&tables, table).unwrap()).unwrap();
        }
    }
    assert!(sum(steps.path()) == at_once);
    let filtered = open(steps.path(), &["host=a"], false).unwrap().sum(&Projection::all()).unwrap_err();
    assert!(filtered.to_string().contains("keep no host"), "{filtered}");
}

#[test]
fn damage_is_named_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    for host in ["a", "b"] {
        write(folder.path(), &profile("aa", own_layout(), (0, 8)), Some(host), "web");
    }
    let path = folder.path().join("b/accesses.parquet");
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[100] ^= 1;
    for damaged in [&whole[..whole.len() / 2], &whole[..10], &[], &flipped] {
        std::fs::write(&path, damaged).unwrap();
        let opened = open(folder.path(), &[], false);
        let error = match opened {
            Ok(mut dataset) => dataset.sum(&Projection::all()).unwrap_err().to_string(),
            Err(error) => error,
        };
        assert!(error.contains("b/accesses.parquet: broken Parquet file"), "{error}");
        let mut rest = open(folder.path(), &[], true).unwrap();
        let tables = rest.sum(&Projection::merged(&[])).unwrap();
        assert_eq!(rest.broken.len(), 1);
        let found = to_profile(&tables, &ProfileOptions::default(), folder.path()).unwrap();
        assert_eq!(found.profile.types[0].samples(), 19, "those of the other host");
    }
    // The same recording once more.
    std::fs::write(&path, &whole).unwrap();
    std::fs::create_dir(folder.path().join("copy")).unwrap();
    std::fs::copy(folder.path().join("a/recordings.parquet"), folder.path().join("copy/r.parquet")).unwrap();
    let twice = open(folder.path(), &[], false).unwrap_err();
    assert!(twice.contains("perf.data of host a is there twice"), "{twice}");
}

/// A damaged byte anywhere is an error or changes nothing.
#[test]
fn no_damaged_byte_changes_a_sum() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &profile("aa", own_layout(), (0, 8)), Some("a"), "web");
    let sum = || {
        let mut tables =
            open(folder.path(), &[], false)?.sum(&Projection::all()).map_err(|error| error.to_string())?;
        tables.sort();
        Ok::<_, String>(Table::ALL.map(|table| to_parquet(&tables, table).unwrap()))
    };
    let expected = sum().unwrap();
    let path = folder.path().join("a/windows.parquet");
    let whole = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(5) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        match sum() {
            Ok(found) => assert!(found == expected, "byte {at}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > whole.len() / 10, "{refused} of {}", whole.len());
}
