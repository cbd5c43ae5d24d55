//! Operands of `fixtures/attribution/idioms-aarch64`: the idioms of `idioms.rs`, and those of AArch64.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail as tests do")]

use crate::idiom::{operands, with_program};
use fieldline_debuginfo::LinkedAddress;
use fieldline_typeflow::operands::explain::explain;
use fieldline_typeflow::operands::program_operands::ProgramOperands;

const PROGRAM: &str = "idioms-aarch64";

#[track_caller]
fn assert_touches(function: &str, expected: &[&str]) {
    let found = with_program(PROGRAM, |program, addresses| {
        operands(&ProgramOperands::new(program, &addresses.into()), function)
    });
    let off_stack: Vec<_> = found.into_iter().filter(|operand| operand != "stack").collect();
    assert_eq!(off_stack, expected, "{function}");
}

#[test]
fn links_are_those_of_what_they_are_embedded_in() {
    // The last is of two members: left and right are loaded at once, from the second's place on.
    assert_touches("least_deadline", &["queue+8", "entity+0", "entity+16", "entity+24"]);
    assert_touches("leftmost", &["queue+8", "entity+16"]);
}

#[test]
fn an_argument_is_what_all_callers_pass() {
    assert_touches("decay", &["entity+64", "entity+72", "entity+64"]);
    assert_touches("age", &["average+8"]);
    assert_touches("update_entity", &["entity+56", "entity+48"]);
    assert_touches("ending", &["job+40"]);
    assert_touches("tail", &["job+32"]);
}

#[test]
fn a_callback_is_called_with_the_struct_it_was_put_into() {
    // Functions' addresses are made of a page and the rest.
    assert_touches("refill", &["group+16", "group+64", "group+56", "group+16"]);
    assert_touches("tick", &["queue+32", "queue+32"]);
    assert_touches("setup", &["group+24", "queue+40", "queue+80", "queue+80"]);
}

#[test]
fn facts_of_a_branch_stay_inside_it() {
    let charge = ["entity+0", "entity+32", "entity+0", "task+0", "task+88", "task+0", "task+88", "entity+40"];
    assert_touches("charge", &charge);
}

#[test]
fn variables_are_found_by_page_and_rest() {
    let globals =
        ["struct task *+0", "task+88", "task+48", "group+56", "queue+0", "group+64", "task+104+i*8"];
    assert_touches("globals", &globals);
}

#[test]
fn per_cpu_data_and_the_running_task_are_found_through_registers_of_the_system() {
    assert_touches("on_cpus", &["long unsigned int+0", "queue+0", "queue+80"]);
    assert_touches("running", &["task_struct+8", "queue+80", "task_struct+16"]);
}

#[test]
fn arrays_are_followed_by_parts_of_registers() {
    assert_touches("pick", &["group+8", "struct queue *+0", "queue+72", "entity+32"]);
    assert_touches("slot_value", &["slot+8"]);
    assert_touches("sum_of_slots", &["slot+8"]);
    assert_touches("count_of", &["worker+168+i*8"]);
}

#[test]
fn a_warning_does_not_end_the_function() {
    assert_touches("warned", &["entity+0", "entity+40", "entity+32"]);
}

#[test]
fn a_jump_that_may_be_patched_away_is_followed_both_ways() {
    assert_touches("patched", &["job+24", "worker+32", "job+0", "job+32"]);
}

#[test]
fn atomic_operations_bring_what_was_there() {
    assert_touches("exchange", &["worker+24", "job+24"]);
    assert_touches("exchange_if_none", &["worker+24", "job+24"]);
}

#[test]
fn pairs_and_moving_bases_stay_known() {
    let pairs = ["job+24", "worker+32", "outside_type", "job+0", "job+48"];
    assert_touches("pairs", &pairs);
    let before = ["job+0", "queue+8", "worker+32", "entity+40", "group+64", "task+88", "job+24", "queue+80"];
    assert_touches("spilled", &[&before[..], &["link+0", "queue+80"]].concat());
}

#[test]
fn facts_survive_a_jump_through_a_table() {
    let cases = ["worker+24", "job+32", "worker+48", "worker+32", "job+48", "job+0", "worker+32", "job+24"];
    assert_touches("by_kind", &cases);
}

#[test]
fn explanations_spell_operands_as_arm_does() {
    with_program(PROGRAM, |program, _| {
        let address = LinkedAddress(program.symbols.find_by_name("leftmost").unwrap().address);
        let explanation = explain(program, address).unwrap();
        assert_eq!(explanation.line.text, "ldr    x0, [x0, #0x8]");
        let [operand] = explanation.line.operands.as_slice() else { panic!("{explanation:?}") };
        assert_eq!((operand.written.as_str(), operand.verdict.as_str()), ("[x0, #0x8]", "struct queue +8"));
        assert!(explanation.registers.contains(&"x0 = -> struct queue".to_owned()), "{explanation:?}");
    });
}
