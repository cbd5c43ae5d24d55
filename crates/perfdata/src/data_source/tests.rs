use super::*;

/// Builds a word from `(position, bits)` pairs.
fn data_source(parts: &[(u32, u64)]) -> DataSource {
    DataSource(parts.iter().fold(0, |word, (position, bits)| word | bits << position))
}

const OP: u32 = 0;
const LVL: u32 = 5;
const SNOOP: u32 = 19;
const LOCK: u32 = 24;
const TLB: u32 = 26;
const LVL_NUM: u32 = 33;
const REMOTE: u32 = 37;
const SNOOPX: u32 = 38;

#[test]
fn each_operation() {
    for (bits, wanted) in [
        (0, Operation::NotAvailable),
        (1, Operation::NotAvailable),
        (2, Operation::Load),
        (4, Operation::Store),
        (6, Operation::LoadStore),
        (8, Operation::Prefetch),
        (16, Operation::Execute),
    ] {
        assert_eq!(data_source(&[(OP, bits)]).operation(), wanted);
    }
    assert!(Operation::LoadStore.is_load() && Operation::LoadStore.is_store());
    assert!(!Operation::Prefetch.is_load() && !Operation::NotAvailable.is_store());
}

#[test]
fn each_level_by_its_number() {
    let levels = [
        (0x1, Level::L1),
        (0x2, Level::L2),
        (0x3, Level::L3),
        (0x4, Level::L4),
        (0x5, Level::L2MissBuffer),
        (0x6, Level::MemorySideCache),
        (0x7, Level::Unknown(7)),
        (0x8, Level::Uncached),
        (0x9, Level::Cxl),
        (0xa, Level::Io),
        (0xb, Level::AnyCache),
        (0xc, Level::LineFillBuffer),
        (0xd, Level::LocalRam),
        (0xe, Level::PersistentMemory),
        (0xf, Level::NotAvailable),
    ];
    for (number, wanted) in levels {
        assert_eq!(data_source(&[(LVL_NUM, number)]).level(), wanted);
    }
}

#[test]
fn each_level_by_its_old_bit() {
    let levels = [
        (0x8, Level::L1),
        (0x10, Level::LineFillBuffer),
        (0x20, Level::L2),
        (0x40, Level::L3),
        (0x80, Level::LocalRam),
        (0x100, Level::RemoteRam),
        (0x200, Level::RemoteRam),
        (0x400, Level::RemoteCache),
        (0x800, Level::RemoteCache),
        (0x1000, Level::Io),
        (0x2000, Level::Uncached),
    ];
    for (bit, wanted) in levels {
        let hit = data_source(&[(LVL, bit | 2)]);
        assert_eq!((hit.level(), hit.is_l1_hit()), (wanted, wanted == Level::L1));
        // "Not available" as a number defers to the old bits too.
        assert_eq!(data_source(&[(LVL, bit | 2), (LVL_NUM, 0xf)]).level(), wanted);
    }
    assert_eq!(data_source(&[(LVL, 1)]).level(), Level::NotAvailable);
    assert_eq!(data_source(&[(LVL, 0x40 | 0x80 | 2)]).level(), Level::LocalRam);
}

#[test]
fn the_remote_bit_turns_caches_and_memory_into_remote_ones() {
    assert_eq!(data_source(&[(LVL_NUM, 0x3), (REMOTE, 1)]).level(), Level::RemoteCache);
    assert_eq!(data_source(&[(LVL_NUM, 0xb), (REMOTE, 1)]).level(), Level::RemoteCache);
    assert_eq!(data_source(&[(LVL_NUM, 0xd), (REMOTE, 1)]).level(), Level::RemoteRam);
    assert_eq!(data_source(&[(LVL_NUM, 0x3), (REMOTE, 1), (LVL, 0x102)]).level(), Level::RemoteRam);
}

#[test]
fn hit_and_miss() {
    assert!(!data_source(&[(LVL, 0x8 | 4), (LVL_NUM, 1)]).is_l1_hit());
    assert!(data_source(&[(LVL_NUM, 1)]).is_l1_hit(), "a number alone means a hit");
    assert!(!data_source(&[(LVL_NUM, 5)]).is_l1_hit() && !data_source(&[]).is_l1_hit());
    assert!(data_source(&[(LVL, 0x8 | 2)]).is_l1_hit());
    assert!(!data_source(&[(LVL, 0x8 | 4)]).is_l1_hit());
}

#[test]
fn each_snoop_answer() {
    let answers = [
        ((0, 0), Snoop::NotAvailable),
        ((1, 0), Snoop::NotAvailable),
        ((2, 0), Snoop::None),
        ((4, 0), Snoop::Hit),
        ((8, 0), Snoop::Miss),
        ((2 | 8, 0), Snoop::Miss),
        ((0x10, 0), Snoop::HitModified),
        ((0x10, 2), Snoop::HitModified),
        ((0, 1), Snoop::Forward),
        ((1, 2), Snoop::Peer),
    ];
    for ((snoop, extended), wanted) in answers {
        assert_eq!(data_source(&[(SNOOP, snoop), (SNOOPX, extended)]).snoop(), wanted);
    }
    assert!(Snoop::Peer.is_transfer() && Snoop::HitModified.is_transfer() && !Snoop::Hit.is_transfer());
    assert!(data_source(&[(SNOOP, 0x10)]).is_hitm());
}

#[test]
fn words_that_intel_tables_make() {
    // arch/x86/events/intel/ds.c: L3 hit by a snoop of a modified line; an L1 hit of a locked load.
    let hitm = data_source(&[(OP, 2), (LVL, 0x40 | 2), (LVL_NUM, 3), (SNOOP, 0x10)]);
    let meaning = |word: DataSource| (word.operation(), word.level(), word.is_l1_hit(), word.is_hitm());
    assert_eq!(meaning(hitm), (Operation::Load, Level::L3, false, true));
    let locked = data_source(&[(OP, 2), (LVL, 0x8 | 2), (LVL_NUM, 1), (SNOOP, 2), (LOCK, 2), (TLB, 0x1a)]);
    assert_eq!(meaning(locked), (Operation::Load, Level::L1, true, false));
    let missed_store = data_source(&[(OP, 4), (LVL, 0x8 | 4)]);
    assert_eq!(meaning(missed_store), (Operation::Store, Level::L1, false, false));
}
