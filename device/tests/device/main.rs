//! The code that calls the driver, on the stand-in for the driver: results, what stays on the device, what
//! happens without room, and what happens when any one call fails.
//!
//! The loader of the system finds the stand-in by `LD_LIBRARY_PATH`, which counts from the start of a
//! process; so this program starts itself again, as two processes that have half of the tests each. The device of a process is
//! one, so its tests come one after the other.
#![allow(clippy::print_stdout, reason = "it is the main program of a test")]

mod bench;
mod deferred;
mod faults;
mod inputs;
mod loops;
mod memory;
mod plans;
mod rules;
mod runs;
mod streams;

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{env, fs};

use weft_cuda::Halt;
use weft_device::stand_in::StandIn;
use weft_device::{Beside, Config, Device, Kernels, Ran};
use weft_ir::{Array, Column, Scalar, Value, plan};

/// The tests by name.
const TESTS: &[(&str, fn())] = &[
    ("the_device_is_found_and_described", runs::the_device_is_found_and_described),
    ("what_is_missing_is_said", runs::what_is_missing_is_said),
    ("results_are_those_of_the_host", runs::results_are_those_of_the_host),
    ("code_is_kept_in_memory_and_on_disk", runs::code_is_kept_in_memory_and_on_disk),
    ("many_modules_are_unloaded", runs::many_modules_are_unloaded),
    (
        "what_is_hardly_ever_launched_is_compiled_then",
        runs::what_is_hardly_ever_launched_is_compiled_then,
    ),
    ("a_long_kernel_can_be_interrupted", runs::a_long_kernel_can_be_interrupted),
    (
        "an_endless_loop_in_a_kernel_can_be_interrupted",
        runs::an_endless_loop_in_a_kernel_can_be_interrupted,
    ),
    ("nothing_is_read_that_nothing_depends_on", runs::nothing_is_read_that_nothing_depends_on),
    ("a_long_plan_can_be_interrupted", runs::a_long_plan_can_be_interrupted),
    ("copying_has_a_rate", runs::copying_has_a_rate),
    ("inputs_and_results_stay", memory::inputs_and_results_stay),
    ("what_the_host_forgets_goes", memory::what_the_host_forgets_goes),
    ("the_oldest_copies_make_room", memory::the_oldest_copies_make_room),
    ("without_room_it_is_said_what_was_wanted", memory::without_room_it_is_said_what_was_wanted),
    ("inputs_come_beside_kernels", inputs::inputs_come_beside_kernels),
    ("what_has_not_come_is_not_there", inputs::what_has_not_come_is_not_there),
    ("any_call_may_fail_while_inputs_come", inputs::any_call_may_fail_while_inputs_come),
    ("inputs_of_loops_come_before_them", inputs::inputs_of_loops_come_before_them),
    ("results_stay_until_they_are_seen", deferred::results_stay_until_they_are_seen),
    ("showing_does_not_fetch", deferred::showing_does_not_fetch),
    ("few_of_many_stay", deferred::few_of_many_stay),
    ("showing_survives_any_failure", deferred::showing_survives_any_failure),
    ("results_of_results_do_not_pile_up", deferred::results_of_results_do_not_pile_up),
    ("what_nobody_has_seen_makes_room_too", deferred::what_nobody_has_seen_makes_room_too),
    ("nothing_is_lost_that_nobody_has_seen", deferred::nothing_is_lost_that_nobody_has_seen),
    ("results_outlive_the_device", deferred::results_outlive_the_device),
    (
        "bringing_all_can_be_interrupted_whatever_fails",
        deferred::bringing_all_can_be_interrupted_whatever_fails,
    ),
    ("turns_become_graphs", loops::turns_become_graphs),
    ("numbers_of_turns_are_those_of_the_turn", loops::numbers_of_turns_are_those_of_the_turn),
    ("what_depends_on_each_other_waits", loops::what_depends_on_each_other_waits),
    ("turns_may_end_by_what_they_compute", loops::turns_may_end_by_what_they_compute),
    ("turns_of_other_extents_are_other_turns", loops::turns_of_other_extents_are_other_turns),
    ("loops_in_loops", loops::loops_in_loops),
    ("behind_a_failed_check_nothing_is_done", loops::behind_a_failed_check_nothing_is_done),
    ("the_first_check_of_a_turn_comes_first", loops::the_first_check_of_a_turn_comes_first),
    ("what_turns_keep_makes_room", loops::what_turns_keep_makes_room),
    ("what_waits_is_done_before_its_buffers_go", loops::what_waits_is_done_before_its_buffers_go),
    ("constants_come_between_kernels", loops::constants_come_between_kernels),
    ("without_graphs_all_is_launched", loops::without_graphs_all_is_launched),
    ("any_call_of_a_loop_may_fail", loops::any_call_of_a_loop_may_fail),
    ("a_loop_may_be_interrupted_anywhere", loops::a_loop_may_be_interrupted_anywhere),
    ("a_graph_in_flight_can_be_interrupted", loops::a_graph_in_flight_can_be_interrupted),
    ("what_is_independent_runs_beside", streams::what_is_independent_runs_beside),
    ("only_what_takes_long_goes_beside", streams::only_what_takes_long_goes_beside),
    ("what_is_overwritten_has_been_read", streams::what_is_overwritten_has_been_read),
    ("what_comes_between_is_in_order", streams::what_comes_between_is_in_order),
    ("loops_come_behind_and_before", streams::loops_come_behind_and_before),
    (
        "in_streams_nothing_is_done_behind_a_failed_check",
        streams::behind_a_failed_check_nothing_is_done,
    ),
    ("checks_hold_nothing_back", streams::checks_hold_nothing_back),
    ("buffers_go_that_nobody_has_used", streams::buffers_go_that_nobody_has_used),
    (
        "what_the_host_writes_is_there_before_its_buffer_goes",
        streams::what_the_host_writes_is_there_before_its_buffer_goes,
    ),
    ("what_is_given_back_late_makes_room", streams::what_is_given_back_late_makes_room),
    ("what_is_late_goes_with_a_lost_context", streams::what_is_late_goes_with_a_lost_context),
    ("any_call_about_streams_may_fail", streams::any_call_about_streams_may_fail),
    (
        "several_streams_can_be_interrupted_anywhere",
        streams::several_streams_can_be_interrupted_anywhere,
    ),
    ("an_interrupt_at_once_is_not_lost", rules::an_interrupt_at_once_is_not_lost),
    ("waiting_to_load_can_be_interrupted", rules::waiting_to_load_can_be_interrupted),
    ("units_are_loaded_before_a_rare_function", rules::units_are_loaded_before_a_rare_function),
    ("waiting_to_copy_can_be_interrupted", rules::waiting_to_copy_can_be_interrupted),
    ("a_lost_context_has_nothing", rules::a_lost_context_has_nothing),
    ("a_driver_that_refuses_is_left_alone", rules::a_driver_that_refuses_is_left_alone),
    ("contexts_are_kept", rules::contexts_are_kept),
    ("kept_contexts_are_made_current", rules::kept_contexts_are_made_current),
    ("what_is_cleared_needs_room", rules::what_is_cleared_needs_room),
    ("any_call_may_fail_once", faults::any_call_may_fail_once),
    ("any_call_may_fail_for_good", faults::any_call_may_fail_for_good),
];

/// Asks this program to say what it finds of CUDA, without the stand-in if there is another driver.
const DESCRIBE: &str = "--describe";

fn main() -> ExitCode {
    let has = |wanted: &str| env::args().any(|argument| argument == wanted);
    if has(DESCRIBE) {
        match weft_device::find() {
            Ok(found) => println!("on this machine: {}", found[0]),
            Err(absent) => println!("{absent}"),
        }
        return ExitCode::SUCCESS;
    }
    if has("--list") {
        TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if let Some(status) = weft_stand_in::start_again(2) {
        return status;
    }
    if matches!(weft_device::find(), Err(weft_device::Absent::NoDevice)) {
        if weft_stand_in::is_ours(0) {
            println!("\ntest result: ok. 0 passed; {} skipped: there is no g++\n", TESTS.len());
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<String> = env::args().skip(1).filter(|text| !text.starts_with('-')).collect();
    let mut failed = 0;
    let chosen = |name: &str| filters.is_empty() || filters.iter().any(|part| name.contains(part));
    let chosen: Vec<_> = TESTS
        .iter()
        .filter(|(name, _)| chosen(name))
        .enumerate()
        .filter(|(number, _)| weft_stand_in::is_ours(*number))
        .map(|(_, test)| test)
        .collect();
    for (name, test) in &chosen {
        let passed = catch_unwind(test).is_ok();
        failed += usize::from(!passed);
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
    }
    let said = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {said}. {} passed; {failed} failed\n", chosen.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The stand-in with much memory, of which no call fails.
fn stand_in() -> StandIn {
    let stand_in = StandIn::find().expect("the stand-in");
    stand_in.fail(0, false);
    stand_in.set_memory(64 << 20);
    stand_in.set_graphs(true);
    stand_in.set_last_first(false);
    stand_in.set_delay(0);
    stand_in.set_refusing(false);
    stand_in
}

/// A device that keeps code in memory only.
fn device() -> Device {
    let found = weft_device::find().expect("a device");
    Device::open(found[0].clone(), &CONFIG).expect("a context")
}

/// As on a device, but that no code is kept between tests.
const CONFIG: Config = Config {
    cache: None,
    cache_bytes: 0,
    graphs: true,
    streams: Beside::All,
    compilers: 1,
    modules: 4096,
    cleared: 0,
};

/// A plan of the golden kernels.
fn golden(device: &Device, name: &str) -> Kernels {
    let path = format!("{}/../cuda/gate/plans/{name}.plan", env!("CARGO_MANIFEST_DIR"));
    kernels(device, &fs::read_to_string(path).expect("a golden plan"))
}

fn kernels(device: &Device, text: &str) -> Kernels {
    let program = plan::parse(text).expect("a plan");
    plan::check(&program).expect("a plan");
    device.kernels(program)
}

/// Runs with enough memory and without an interrupt.
fn run(device: &mut Device, kernels: &Kernels, inputs: &[Value]) -> Ran {
    device.run(kernels, inputs, 1 << 30, &AtomicBool::new(false), &mut |_| {})
}

/// The only result of a run.
#[track_caller]
fn result(ran: Ran) -> Value {
    match ran.results {
        Ok(results) => results[0].clone(),
        Err(Halt::Stop(stop)) => panic!("{stop:?}"),
        Err(Halt::Broken(broken)) => panic!("{broken}"),
    }
}

fn f32s(numbers: impl IntoIterator<Item = f32>) -> Value {
    let numbers: Vec<f32> = numbers.into_iter().collect();
    Value::Array(Arc::new(Array::new(Column::F32(numbers.into()))))
}

fn f32_of(value: &Value) -> f32 {
    match value {
        Value::Scalar(Scalar::F32(number)) => *number,
        other => panic!("{other:?} is no f32"),
    }
}

/// That two values have the same bits.
#[track_caller]
fn assert_same(found: &Value, expected: &Value, place: &str) {
    assert!(found.same_bits(expected), "{place}: {found:?}, not {expected:?}");
}
