//! The laws that data flow rests on: values and states form a lattice, and more knowledge before an
//! instruction is never less behind it.
//!
//! Where a value was made is no knowledge of it: origins are left out of comparisons.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail as tests do")]

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Instruction, Register};
use fieldline_typeflow::flow::state::{State, ValueLocation};
use fieldline_typeflow::flow::transfer::TransferContext;
use fieldline_typeflow::flow::unit_context::UnitContext;
use fieldline_typeflow::flow::value::{Pointer, Value, join};
use fieldline_typeflow::program::Program;
use fieldline_typeflow::types::{Ty, TypeSpace};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::Path;

/// Structs of the fixture that are in each other, hold arrays and unions, or stand alone.
const STRUCTS: [&str; 8] = ["task", "entity", "queue", "group", "worker", "slot", "link", "average"];

fn with_world(work: impl for<'a> FnOnce(&RefCell<UnitContext<'a>>, &[Ty])) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/attribution/idioms");
    let file = FileBytes::open(&path).unwrap();
    let elf = Elf::parse(&file).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    let code = LinkedAddress(program.symbols.find_by_name("charge").unwrap().address);
    program.load([code]);
    let mut world = UnitContext::new(&program, program.unit_at(code).unwrap());
    let find = |name: &&str| program.definitions.find(&dwarf, name).unwrap();
    let types: Vec<Ty> = STRUCTS.iter().map(|name| world.types.type_of_die(find(name))).collect();
    work(&RefCell::new(world), &types);
}

/// A runner that tries the same cases in every run.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Generated values: all kinds, pointers into some structs at some offsets.
fn values(types: &[Ty]) -> impl Strategy<Value = Value> + use<> {
    let structs = proptest::sample::select(types.to_vec());
    // Offsets before, in and behind the structs; few, so that some are equal.
    let offsets = proptest::option::weighted(0.9, (-2..30_i32).prop_map(|word| word * 8));
    let flags = (proptest::bool::weighted(0.2), proptest::bool::weighted(0.2));
    let pointers = (structs, offsets, flags, 0..3_u32).prop_map(|(ty, offset, flags, origin)| {
        let (is_indexed, is_element) = (flags.0 && offset.is_some(), flags.1 && offset.is_some());
        Value::Pointer(Pointer { ty, offset, is_indexed, is_element, origin })
    });
    prop_oneof![
        6 => pointers,
        1 => (0..3_u32).prop_map(Value::Word),
        1 => proptest::sample::select(vec![0, 8, 64, u64::MAX, 0xffff_ffff_8100_0000]).prop_map(Value::Number),
        1 => Just(Value::Null),
        1 => proptest::sample::select(vec![2, 8, 12, 24]).prop_map(Value::Multiple),
        1 => (-4..0_i64).prop_map(|slot| Value::Stack(slot * 8)),
        1 => Just(Value::Frame),
        1 => Just(Value::PerCpuOffset),
    ]
}

fn without_origin(value: Value) -> Value {
    match value {
        Value::Word(_) => Value::UNKNOWN,
        Value::Pointer(pointer) => Value::Pointer(Pointer { origin: 0, ..pointer }),
        other => other,
    }
}

fn join_without_origins(types: &mut TypeSpace<'_, '_>, a: Value, b: Value) -> Value {
    without_origin(join(types, without_origin(a), without_origin(b), 0))
}

/// Whether `less` is known wherever `more` is: joining them leaves `less`.
fn is_below(types: &mut TypeSpace<'_, '_>, more: Value, less: Value) -> bool {
    join_without_origins(types, more, less) == without_origin(less)
}

#[test]
fn a_join_does_not_depend_on_order() {
    with_world(|world, types| {
        let values = (values(types), values(types));
        let law = |(a, b)| {
            let types = &mut world.borrow_mut().types;
            prop_assert_eq!(join_without_origins(types, a, b), join_without_origins(types, b, a));
            Ok(())
        };
        runner(20_000).run(&values, law).unwrap();
    });
}

#[test]
fn a_join_with_itself_or_with_what_came_of_it_changes_nothing() {
    with_world(|world, types| {
        let values = (values(types), values(types));
        let law = |(a, b)| {
            let types = &mut world.borrow_mut().types;
            prop_assert_eq!(join_without_origins(types, a, a), without_origin(a));
            let both = join_without_origins(types, a, b);
            prop_assert_eq!(join_without_origins(types, both, a), both);
            prop_assert_eq!(join_without_origins(types, both, b), both);
            Ok(())
        };
        runner(20_000).run(&values, law).unwrap();
    });
}

/// Of three values of one struct the order does not matter at all. Of pointers into several structs it may be
/// open which container is the result; whichever is, it holds for each of them.
#[test]
fn a_join_of_three_holds_for_each() {
    with_world(|world, types| {
        let triples = (values(types), values(types), values(types));
        let law = |(a, b, c)| {
            let types = &mut world.borrow_mut().types;
            let both = join_without_origins(types, a, b);
            let all = join_without_origins(types, both, c);
            for value in [a, b, c, both] {
                prop_assert!(is_below(types, value, all), "{:?} is not below {:?}", value, all);
            }
            Ok(())
        };
        runner(40_000).run(&triples, law).unwrap();
        for ty in types {
            let triples_of_type = (values(&[*ty]), values(&[*ty]), values(&[*ty]));
            let law = |(a, b, c)| {
                let types = &mut world.borrow_mut().types;
                let (first, last) = (join_without_origins(types, a, b), join_without_origins(types, b, c));
                prop_assert_eq!(join_without_origins(types, first, c), join_without_origins(types, a, last));
                Ok(())
            };
            runner(5_000).run(&triples_of_type, law).unwrap();
        }
    });
}

const REGISTERS: [Register; 3] = [Register::RAX, Register::RDI, Register::RCX];
const SLOTS: [i64; 2] = [-16, -24];

/// States that differ in a few registers and slots; rsp is at the lower slot.
fn states(types: &[Ty]) -> impl Strategy<Value = State> + use<> {
    let values = proptest::collection::vec(values(types), REGISTERS.len() + SLOTS.len());
    values.prop_map(|values| {
        let mut state = State::entry(Architecture::X86_64);
        state.set(ValueLocation::Register(Register::RSP), Value::Stack(SLOTS[1]));
        let registers = REGISTERS.into_iter().map(ValueLocation::Register);
        for (location, value) in registers.chain(SLOTS.map(ValueLocation::Slot)).zip(values) {
            state.set(location, without_origin(value));
        }
        state
    })
}

/// Joins states; whether the first changed.
fn join_states(types: &mut TypeSpace<'_, '_>, mine: &mut State, other: &State) -> bool {
    mine.join(other, types, |_| 0, |_, value| value)
}

#[test]
fn a_join_of_states_is_that_of_their_values_and_says_whether_it_changed() {
    with_world(|world, types| {
        let states = (states(types), states(types));
        let law = |(a, b): (State, State)| {
            let types = &mut world.borrow_mut().types;
            let mut both = a.clone();
            let changed = join_states(types, &mut both, &b);
            prop_assert_eq!(changed, both != a);
            let mut other = b.clone();
            join_states(types, &mut other, &a);
            prop_assert_eq!(&both, &other);
            prop_assert!(!join_states(types, &mut both, &a) && !join_states(types, &mut both, &b));
            let expected = join_without_origins(types, a.register(Register::RDI), b.register(Register::RDI));
            prop_assert_eq!(both.register(Register::RDI), expected);
            Ok(())
        };
        runner(10_000).run(&states, law).unwrap();
    });
}

/// Instructions that bring values from one place to another.
const MOVES: [(&str, &[u8]); 9] = [
    ("mov rax, rdi", &[0x48, 0x89, 0xf8]),
    ("mov eax, edi", &[0x89, 0xf8]),
    ("mov eax, 8", &[0xb8, 8, 0, 0, 0]),
    ("xor eax, eax", &[0x31, 0xc0]),
    ("xchg rdi, rcx", &[0x48, 0x87, 0xcf]),
    ("cmove rax, rdi", &[0x48, 0x0f, 0x44, 0xc7]),
    ("push rdi", &[0x57]),
    ("pop rcx", &[0x59]),
    ("mov [rsp+8], rdi", &[0x48, 0x89, 0x7c, 0x24, 0x08]),
];

/// Instructions that move a pointer. Of a struct without arrays knowing more before means knowing no less
/// behind. Where a pointer leaves an array, or the one member two structs share, what was common before is
/// not behind.
const STEPS: [(&str, &[u8]); 3] = [
    ("add rdi, 8", &[0x48, 0x83, 0xc7, 0x08]),
    ("sub rdi, 8", &[0x48, 0x83, 0xef, 0x08]),
    ("lea rax, [rdi+16]", &[0x48, 0x8d, 0x47, 0x10]),
];

fn step(world: &mut UnitContext<'_>, state: &mut State, instruction: &Instruction) {
    let (refined, returned) = (FxHashMap::default(), FxHashMap::default());
    let clobbered = |_: &Instruction| Architecture::X86_64.caller_saved();
    let context =
        TransferContext { regions: &[], refined: &refined, returned: &returned, clobbered: &clobbered };
    world.execute(state, 0, instruction, &context);
    for (location, value) in state.locations().collect::<Vec<_>>() {
        state.set(location, without_origin(value));
    }
}

#[test]
fn more_knowledge_before_an_instruction_is_not_less_behind() {
    with_world(|world, types| {
        let without_arrays = &types[1..2];
        let moves = MOVES.iter().map(|instruction| (instruction, types));
        let steps = STEPS.iter().map(|instruction| (instruction, without_arrays));
        for ((text, bytes), types) in moves.chain(steps) {
            let instruction = InstructionReader::new(Architecture::X86_64).read(0, bytes).unwrap();
            let law = |(more, other): (State, State)| {
                let world = &mut world.borrow_mut();
                let mut less = more.clone();
                join_states(&mut world.types, &mut less, &other);
                let mut more = more;
                step(world, &mut more, &instruction);
                step(world, &mut less, &instruction);
                let mut both = less.clone();
                join_states(&mut world.types, &mut both, &more);
                prop_assert_eq!(both, less, "{}: {:?}", text, more);
                Ok(())
            };
            runner(3_000).run(&(states(types), states(types)), law).unwrap();
        }
    });
}
