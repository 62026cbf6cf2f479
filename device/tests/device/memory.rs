//! What stays on the device, and what makes room.

use weft_cuda::{Broken, Halt};
use weft_ir::Value;

use crate::{assert_same, device, f32_of, f32s, golden, result, run, stand_in};

/// Bytes of an array of so many elements.
fn bytes(elements: u64) -> u64 {
    4 * elements
}

fn ones(elements: u64) -> Value {
    f32s((0..elements).map(|_| 1.0))
}

pub(crate) fn inputs_and_results_stay() {
    stand_in();
    let mut device = device();
    let (scanned, multiplied) = (golden(&device, "prefix_sum"), golden(&device, "dot"));
    let input = ones(1000);
    let ran = run(&mut device, &scanned, std::slice::from_ref(&input));
    assert_eq!((ran.traffic.uploaded, ran.traffic.reused), (bytes(1000), 0));
    assert_eq!(ran.traffic.downloaded, bytes(1000));
    let sums = result(ran);
    assert_eq!(device.resident_bytes(&sums), bytes(1000));
    assert_eq!(device.residency().arrays, 2);
    let ran = run(&mut device, &multiplied, &[input.clone(), sums.clone()]);
    assert_eq!((ran.traffic.uploaded, ran.traffic.reused), (0, bytes(2000)));
    assert_eq!(f32_of(&result(ran)), 500_500.0);
    // An equal array is another one.
    assert_eq!(device.resident_bytes(&ones(1000)), 0);
}

pub(crate) fn what_the_host_forgets_goes() {
    stand_in();
    let mut device = device();
    let scanned = golden(&device, "prefix_sum");
    drop(run(&mut device, &scanned, &[ones(1000)]));
    assert_eq!(device.residency().arrays, 2);
    // The next run finds that nobody has them any more.
    let kept = ones(10);
    let sums = result(run(&mut device, &scanned, std::slice::from_ref(&kept)));
    assert_eq!(device.residency().bytes, bytes(20));
    drop((kept, sums));
}

pub(crate) fn the_oldest_copies_make_room() {
    let stand_in = stand_in();
    let mut device = device();
    let multiplied = golden(&device, "dot");
    let arrays: Vec<Value> = (0..6).map(|_| ones(1000)).collect();
    // Three of them, and what a run needs beside.
    stand_in.set_memory(bytes(3000) + 1000);
    for (left, right) in [(0, 1), (1, 2), (3, 4), (5, 0), (2, 2)] {
        let inputs = [arrays[left].clone(), arrays[right].clone()];
        assert_eq!(f32_of(&result(run(&mut device, &multiplied, &inputs))), 1000.0);
        for used in [left, right] {
            assert_eq!(device.resident_bytes(&arrays[used]), bytes(1000), "{used}");
        }
    }
    assert!(device.residency().bytes <= bytes(3000));
    assert_eq!(device.contexts(), 1);
}

pub(crate) fn without_room_it_is_said_what_was_wanted() {
    let stand_in = stand_in();
    let mut device = device();
    let scanned = golden(&device, "prefix_sum");
    stand_in.set_memory(bytes(10_000));
    let large = ones(6000);
    let halted = run(&mut device, &scanned, std::slice::from_ref(&large)).results;
    let Err(Halt::Broken(Broken::Memory { wanted, held })) = halted else {
        panic!("{halted:?}");
    };
    assert_eq!(wanted, bytes(6000));
    assert!(held < 100, "{held}");
    // What was there before is there still, and smaller runs fit.
    assert_same(&large, &ones(6000), "the input");
    let sums = result(run(&mut device, &scanned, &[ones(2)]));
    assert_same(&sums, &f32s([1.0, 2.0]), "sums");
    assert_eq!(device.contexts(), 1);
    stand_in.set_memory(bytes(20_000));
    assert!(run(&mut device, &scanned, &[large]).results.is_ok());
}
