//! Types that no compiler makes; tests/suite/layouts/pahole.rs compares real ones with pahole's output.

use super::printer::{MAX_DECLARATION, MAX_TEXT};
use super::*;
use fieldline_debuginfo::btf;
use fieldline_layout::testing::{declared, pointer, signed, structure};
use fieldline_layout::types::{Aggregate, Prototype, TargetMachine, Type, TypeId, TypeTable};
use std::path::Path;

const OPTIONS: PaholeOptions = PaholeOptions { cacheline_size: 64, from_btf: false };

fn text_of(table: &TypeTable, id: TypeId) -> String {
    let mut out = String::new();
    Printer::new(table, OPTIONS).print(&mut out, id).expect("a string takes any text");
    out
}

#[test]
fn anonymous_structs_that_hold_each_other_end() {
    let mut table = TypeTable::new(TargetMachine::default());
    let inner = table.push(Type::Void);
    table.set(inner, structure("", 16, vec![declared("", inner, 0), declared("", inner, 64)]));
    let outer = table.push(structure("outer", 16, vec![declared("x", inner, 0)]));
    let text = text_of(&table, outer);
    assert!(text.contains('…'));
    assert!(text.len() < 2 * MAX_TEXT, "{} bytes", text.len());
}

#[test]
fn an_anonymous_struct_that_points_to_itself_ends() {
    let mut table = TypeTable::new(TargetMachine::default());
    let inner = table.push(Type::Void);
    let to_inner = pointer(&mut table, inner);
    table.set(inner, structure("", 8, vec![declared("next", to_inner, 0)]));
    let outer = table.push(structure("outer", 8, vec![declared("first", to_inner, 0)]));
    assert!(text_of(&table, outer).contains('…'));
}

#[test]
fn an_array_of_itself_ends() {
    let mut table = TypeTable::new(TargetMachine::default());
    let array = table.push(Type::Void);
    table.set(array, Type::Array { element: array, dimensions: vec![Some(2)], is_vector: false });
    let outer = table.push(structure("outer", 8, vec![declared("x", array, 0)]));
    assert!(text_of(&table, outer).contains("…[2]"));
}

#[test]
fn prototypes_that_take_each_other_twice_end() {
    let mut table = TypeTable::new(TargetMachine::default());
    let mut taken = signed(&mut table, "int", 4);
    for _ in 0..200 {
        let parameters = vec![(None, taken), (None, taken), (None, taken)];
        let function = table.push(Type::Function(Prototype { returns: taken, parameters, variadic: false }));
        taken = pointer(&mut table, function);
    }
    let outer = table.push(structure("outer", 8, vec![declared("call", taken, 0)]));
    assert!(text_of(&table, outer).len() < 4 * MAX_DECLARATION);
}

#[test]
fn sizes_and_offsets_at_their_limits_are_printed() {
    let mut table = TypeTable::new(TargetMachine::default());
    let huge = signed(&mut table, "huge", u64::MAX);
    let small = signed(&mut table, "small", 1);
    let members = vec![declared("a", huge, u64::MAX), declared("b", small, 0), declared("c", huge, 8)];
    let outer = table.push(structure("outer", u64::MAX, members));
    assert!(text_of(&table, outer).starts_with("struct outer {\n"));
}

#[test]
fn padding_beyond_16_bits_is_printed_as_it_is() {
    let mut table = TypeTable::new(TargetMachine::default());
    let small = signed(&mut table, "char", 1);
    let Type::Aggregate(wide) = structure("wide", 131_072, vec![declared("a", small, 0)]) else {
        unreachable!("a struct");
    };
    let wide = table.push(Type::Aggregate(Aggregate { align: Some(131_072), ..wide }));
    let text = text_of(&table, wide);
    assert!(text.contains("/* padding: 131071 */\n} __attribute__((__aligned__(131072)));\n"), "{text}");
}

#[test]
fn a_struct_is_packed_if_one_printed_before_holds_it_at_an_odd_offset() {
    let mut table = TypeTable::new(TargetMachine::default());
    let (int, char) = (signed(&mut table, "int", 4), signed(&mut table, "char", 1));
    let inner = table.push(structure("inner", 4, vec![declared("x", int, 0)]));
    // The hole at the end keeps the outer one from being packed itself.
    let members = vec![declared("c", char, 0), declared("in", inner, 8)];
    let outer = table.push(structure("outer", 8, members));
    assert!(!text_of(&table, inner).contains("__packed__"));
    let mut printer = Printer::new(&table, OPTIONS);
    let mut out = String::new();
    printer.print(&mut out, outer).expect("a string takes any text");
    printer.print(&mut out, inner).expect("a string takes any text");
    assert!(out.ends_with("} __attribute__((__packed__));\n"), "{out}");
}

#[test]
fn btf_with_flipped_bits_never_panics() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/layout/x86_64.btf");
    let good = std::fs::read(path).expect("the fixture is there");
    let mut printed = 0;
    for bit in (24 * 8..good.len() * 8).step_by(61) {
        let mut broken = good.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        let Ok(btf) = btf::parse(&broken, None) else { continue };
        let (mut table, mut reader) = (TypeTable::new(btf.target()), btf::BtfReader::new(&btf));
        if btf.definitions().any(|found| reader.read(found.id, &mut table).is_err()) {
            continue;
        }
        let mut printer = Printer::new(&table, PaholeOptions { from_btf: true, ..OPTIONS });
        let mut out = String::new();
        for (id, _) in table.iter() {
            printer.print(&mut out, id).expect("a string takes any text");
        }
        printed += 1;
    }
    assert!(printed > 100, "most flips leave something to print: {printed}");
}
