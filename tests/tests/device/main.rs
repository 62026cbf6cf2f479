//! Sessions on a GPU: on the stand-in for the driver, so that they run on any machine, at small sizes.
//!
//! Pages of the suite give the same values there, nothing is lost where the device fails, and the
//! commands say where things are. Where there is no `g++`, all of it is skipped, and counted.
#![allow(clippy::print_stdout, reason = "it is the main program of a test")]

mod sessions;

use std::panic::catch_unwind;
use std::process::ExitCode;

use weft_tests::engine;
use weft_tests::part::Part;

/// The tests by name.
const TESTS: &[(&str, fn())] = &[
    ("commands_say_where_things_are", sessions::commands_say_where_things_are),
    ("results_stay_on_the_device", sessions::results_stay_on_the_device),
    ("loops_of_the_host_bring_all_at_once", sessions::loops_of_the_host_bring_all_at_once),
    ("whatever_fails_nothing_is_lost", sessions::whatever_fails_nothing_is_lost),
    ("what_nobody_has_seen_is_not_lost", sessions::what_nobody_has_seen_is_not_lost),
    ("showing_fetches_what_is_shown", sessions::showing_fetches_what_is_shown),
    ("loops_are_those_of_the_interpreter", sessions::loops_are_those_of_the_interpreter),
    (
        "independent_kernels_are_those_of_the_interpreter",
        sessions::independent_kernels_are_those_of_the_interpreter,
    ),
    ("showing_what_is_lost_can_be_interrupted", sessions::showing_what_is_lost_can_be_interrupted),
    ("without_room_the_cpu_runs_it", sessions::without_room_the_cpu_runs_it),
    (
        "elements_that_are_too_wide_are_for_the_cpu",
        sessions::elements_that_are_too_wide_are_for_the_cpu,
    ),
    (
        "loops_with_nothing_parallel_are_for_the_cpu",
        sessions::loops_with_nothing_parallel_are_for_the_cpu,
    ),
    ("recursion_with_a_stack_is_for_the_cpu", sessions::recursion_with_a_stack_is_for_the_cpu),
    ("a_device_may_come_later", sessions::a_device_may_come_later),
    ("the_device_program_is_carried", sessions::the_device_program_is_carried),
    ("the_compiler_of_a_package_comes_first", sessions::the_compiler_of_a_package_comes_first),
    ("the_device_program_runs", sessions::the_device_program_runs),
    ("the_device_program_says_what_it_skips", sessions::the_device_program_says_what_it_skips),
    ("the_device_program_runs_programs_once", sessions::the_device_program_runs_programs_once),
    ("errors_are_those_of_the_interpreter", sessions::errors_are_those_of_the_interpreter),
];

/// Pages that have kernels of every kind. (All pages run on the emulated device; here it is about the way
/// there.)
const PAGES: Part = Part {
    name: "device",
    engine: &engine::GPU,
    takes: |name| {
        ["fusion/producers.md", "operations/scan.md", "compiled/rows.md"]
            .iter()
            .position(|page| name.ends_with(page))
            .is_some_and(weft_stand_in::is_ours)
    },
    needs: &["g++"],
};

fn main() -> ExitCode {
    if PAGES.is_listed() {
        return ExitCode::SUCCESS;
    }
    if let Some(status) = weft_stand_in::start_again(2) {
        return status;
    }
    let mut passed = true;
    if weft_device::find().is_ok() {
        for (number, (name, test)) in TESTS.iter().enumerate() {
            if !weft_stand_in::is_ours(number) {
                continue;
            }
            let result = catch_unwind(test);
            passed &= result.is_ok();
            println!("test {name} ... {}", if result.is_ok() { "ok" } else { "FAILED" });
        }
    }
    let pages = PAGES.run();
    if passed { pages } else { ExitCode::FAILURE }
}
