//! Operands of `fixtures/attribution/idioms`, a collection of idioms of kernel code, typed by code alone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail as tests do")]

use crate::idiom::{operands, with_program};
use fieldline_debuginfo::LinkedAddress;
use fieldline_typeflow::operands::explain::explain;
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::program::Program;

fn with_idioms<T>(work: impl for<'a> FnOnce(&'a Program<'a>, &[LinkedAddress]) -> T) -> T {
    with_program("idioms", work)
}

#[track_caller]
fn assert_touches(function: &str, expected: &[&str]) {
    let found = with_idioms(|program, addresses| {
        operands(&ProgramOperands::new(program, &addresses.into()), function)
    });
    assert_eq!(found, expected, "{function}");
}

#[test]
fn links_are_those_of_what_they_are_embedded_in() {
    // The link is loaded before the code says whose it is, and the weight lies in front of it.
    let walk = ["queue+8", "entity+32", "entity+0", "entity+16", "entity+24"];
    assert_touches("least_deadline", &walk);
}

#[test]
fn a_cast_behind_a_loop_types_the_loop_variable() {
    assert_touches("leftmost", &["queue+8", "entity+16"]);
}

#[test]
fn an_argument_is_what_all_callers_pass() {
    let average = ["entity+64", "entity+72", "entity+72", "entity+64"];
    assert_touches("decay", &average);
}

#[test]
fn an_argument_that_callers_disagree_on_is_what_it_is_declared_to_be() {
    assert_touches("age", &["average+8"]);
}

#[test]
fn registers_that_a_local_callee_leaves_alone_stay_known() {
    assert_touches("update_entity", &["entity+56", "entity+48"]);
}

#[test]
fn a_callback_is_called_with_the_struct_it_was_put_into() {
    assert_touches("refill", &["group+56", "group+64", "group+16"]);
    assert_touches("tick", &["queue+32"]);
    assert_touches("setup", &["group+24", "queue+40", "queue+80"]);
}

#[test]
fn facts_of_a_branch_stay_inside_it() {
    // Only where there is a deadline the entity is a task's; in front of it lies the task then.
    let charge = ["entity+0", "entity+32", "task+0", "task+88", "entity+40"];
    assert_touches("charge", &charge);
}

#[test]
fn arrays_of_pointers_are_followed() {
    assert_touches("pick", &["group+8", "struct queue *+0", "queue+72", "queue+80", "entity+32"]);
}

#[test]
fn per_cpu_data_is_found_through_its_segment_and_through_offsets() {
    assert_touches("on_cpus", &["long unsigned int+0", "queue+80", "queue+0"]);
}

#[test]
fn globals_are_found_by_their_addresses() {
    let globals = ["struct task *+0", "group+56", "task+88", "task+48", "task+96", "queue+0", "group+64"];
    let counts = ["task+104+i*8"];
    assert_touches("globals", &[&globals[..], &counts].concat());
}

#[test]
fn what_a_callee_returns_is_known_by_its_declaration() {
    assert_touches("returned", &["queue+80"]);
}

#[test]
fn a_warning_does_not_end_the_function() {
    assert_touches("warned", &["entity+0", "entity+48", "entity+40", "entity+32"]);
}

#[test]
fn list_helpers_know_the_struct_their_links_are_in() {
    // What the links lead to may be the head of the list, which is in another struct.
    assert_touches("remove", &["job+8", "job+16", "list+8", "list+0"]);
    assert_touches("finish", &["job+24", "worker+32"]);
    assert_touches("cancel", &["job+32"]);
    assert_touches("total_cost", &["worker+8", "job+24", "job+8"]);
}

#[test]
fn a_conditional_move_keeps_what_both_have_in_common() {
    assert_touches("cheaper", &["job+24", "job+24", "job+32"]);
    assert_touches("either_average", &["average+8"]);
}

#[test]
fn an_exchange_brings_what_was_there() {
    assert_touches("exchange", &["worker+24", "job+24"]);
    assert_touches("exchange_if_none", &["worker+24", "job+24"]);
}

#[test]
fn spilled_pointers_stay_known() {
    let before = ["queue+8", "job+0", "stack"];
    let behind = ["stack", "group+64", "task+88", "entity+40", "worker+32", "job+24", "queue+80", "link+0"];
    assert_touches("spilled", &[&before[..], &behind, &["queue+80"]].concat());
}

#[test]
fn a_jump_to_another_function_is_a_call_of_it() {
    assert_touches("tail", &["job+32"]);
    assert_touches("ending", &["job+40"]);
}

#[test]
fn facts_survive_a_jump_through_a_table() {
    // The table itself is no variable.
    let jump = ["worker+24", "unknown_pointer"];
    let cases = ["job+48", "worker+48", "job+24", "worker+32", "job+32", "worker+32", "job+0"];
    assert_touches("by_kind", &[&jump[..], &cases].concat());
}

#[test]
fn of_an_array_of_structs_the_element_is_known() {
    assert_touches("slot_value", &["slot+8"]);
    assert_touches("two_of_a_slot", &["slot+8", "slot+0"]);
    assert_touches("sum_of_slots", &["slot+8"]);
    assert_touches("count_of", &["worker+168+i*8"]);
}

#[test]
fn a_union_of_pointers_is_no_guess() {
    assert_touches("of_either", &["either+0", "either+8", "unknown_pointer", "job+0", "job+24", "queue+80"]);
}

#[test]
fn explanations_name_scopes_registers_and_verdict() {
    with_idioms(|program, _| {
        let address = LinkedAddress(program.symbols.find_by_name("charge").unwrap().address);
        let explanation = explain(program, address).unwrap();
        assert_eq!(explanation.location, "charge+0x0");
        assert_eq!(explanation.scopes, ["charge"]);
        assert!(explanation.registers.contains(&"rdi = -> struct entity".to_owned()), "{explanation:?}");
        let [operand] = explanation.line.operands.as_slice() else { panic!("{explanation:?}") };
        assert_eq!((operand.written.as_str(), operand.size), ("(%rdi)", 8));
        assert_eq!((operand.verdict.as_str(), operand.meaning), ("struct entity +0", None));
        assert_eq!(explanation.base_history.first().map(|step| step.text.as_str()), Some("at the entry"));
        assert!(explain(program, LinkedAddress(1)).is_none());
    });
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let answers = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        with_idioms(|program, addresses| {
            let answers = pool.install(|| ProgramOperands::new(program, &addresses.into()));
            (answers.types, answers.functions)
        })
    };
    assert_eq!(answers(1), answers(2));
}
