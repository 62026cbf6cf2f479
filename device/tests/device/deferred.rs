//! Results that stay on the device until somebody wants to see them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use weft_cuda::{Broken, Halt};
use weft_device::{Again, Device, Kernels};
use weft_ir::{Column, Looks, Scalar, Summary, Value};

use crate::{assert_same, device, f32s, golden, result, run, stand_in};

/// So many that results are not fetched at once.
const MANY: usize = 1500;

/// The first elements are zeros, so that sums of sums stay exact.
fn ones() -> Value {
    f32s(numbers())
}

fn numbers() -> Vec<f32> {
    (0..MANY).map(|at| f32::from(u8::from(at >= MANY - 20))).collect()
}

/// What scanning them so many times comes to.
fn scanned(times: u32) -> Value {
    let mut sums = numbers();
    for _ in 0..times {
        for at in 1..MANY {
            sums[at] += sums[at - 1];
        }
    }
    f32s(sums)
}

/// A program that counts how often it runs again, elsewhere.
fn again(expected: &Value, count: &Arc<AtomicU32>) -> Again {
    let (expected, count) = (expected.clone(), Arc::clone(count));
    Arc::new(move |cancel| {
        count.fetch_add(1, Ordering::Relaxed);
        (!cancel.load(Ordering::Relaxed)).then(|| vec![expected.clone()])
    })
}

/// Runs with enough memory and without an interrupt.
fn deferring(
    device: &mut Device,
    kernels: &Kernels,
    input: &Value,
    again: Again,
) -> weft_device::Ran {
    let (inputs, never) = (std::slice::from_ref(input), AtomicBool::new(false));
    device.run_deferring(kernels, inputs, 1 << 30, &never, again, &mut |_| {})
}

fn is_here(value: &Value) -> bool {
    match value {
        Value::Array(array) => array.elements.is_here(),
        Value::Scalar(_) | Value::Tuple(_) => true,
    }
}

pub(crate) fn results_stay_until_they_are_seen() {
    stand_in();
    let mut device = device();
    let (scan, runs) = (golden(&device, "prefix_sum"), Arc::new(AtomicU32::new(0)));
    let ran = deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs));
    assert_eq!(ran.traffic.downloaded, 0);
    let once = result(ran);
    assert!(!is_here(&once));
    assert_eq!(device.resident_bytes(&once), 4 * MANY as u64);
    // The next run finds them there, and nobody has seen them still.
    let ran = deferring(&mut device, &scan, &once, again(&scanned(2), &runs));
    assert_eq!((ran.traffic.uploaded, ran.traffic.reused), (0, 4 * MANY as u64));
    let twice = result(ran);
    assert!(!is_here(&once) && !is_here(&twice));
    assert_same(&twice, &scanned(2), "twice");
    assert!(is_here(&twice) && !is_here(&once));
    assert_same(&once, &scanned(1), "once");
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // Small ones come at once.
    let few = deferring(&mut device, &scan, &f32s([1.0, 1.0]), again(&scanned(1), &runs));
    assert!(is_here(&result(few)));
}

/// A filter has room for all that it might have kept; what it keeps stays without that.
pub(crate) fn few_of_many_stay() {
    stand_in();
    let mut device = device();
    let (filter, runs) = (golden(&device, "filter"), Arc::new(AtomicU32::new(0)));
    let kept = |at: &usize| at.is_multiple_of(4);
    let input = f32s((0..4 * MANY).map(|at| if kept(&at) { 1.0 + at as f32 } else { -1.0 }));
    let expected = f32s((0..4 * MANY).filter(kept).map(|at| 2.0 * (1.0 + at as f32)));
    let found = result(deferring(&mut device, &filter, &input, again(&expected, &runs)));
    assert!(!is_here(&found));
    assert_eq!(device.resident_bytes(&found), 4 * MANY as u64);
    // Besides the input, nothing else is left there.
    assert_eq!(device.residency().bytes, 4 * (4 * MANY + MANY) as u64);
    assert_same(&found, &expected, "what is kept");
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

/// The column of an array of scalars.
fn column(value: &Value) -> &Column {
    match value {
        Value::Array(array) => &array.elements,
        other => panic!("{other:?} is no array"),
    }
}

/// What elements come to, as the host computes it.
fn summary_of(numbers: &[f32]) -> Summary {
    let known = || numbers.iter().copied().filter(|number| !number.is_nan());
    Summary {
        least: Scalar::F32(known().fold(f32::INFINITY, |a, b| if b < a { b } else { a })),
        greatest: Scalar::F32(known().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a })),
        sum: known().map(f64::from).sum(),
        nans: numbers.len() - known().count(),
    }
}

pub(crate) fn showing_does_not_fetch() {
    stand_in();
    let mut device = device();
    let (filter, runs) = (golden(&device, "filter"), Arc::new(AtomicU32::new(0)));
    let doubled: Vec<f32> = (1..=MANY).map(|at| 2.0 * at as f32).collect();
    let input = f32s(doubled.iter().map(|number| number / 2.0));
    let expected = f32s(doubled.iter().copied());
    let value = result(deferring(&mut device, &filter, &input, again(&expected, &runs)));
    let elements = column(&value);
    let found = [0, 7, MANY - 1].map(|at| elements.scalar(at));
    assert_eq!(found, [0, 7, MANY - 1].map(|at| Some(Scalar::F32(doubled[at]))));
    assert_eq!(elements.slice(3, 9).scalar(1), Some(Scalar::F32(doubled[4])));
    assert_eq!(elements.summary(), Some(summary_of(&doubled)));
    assert_eq!(elements.slice(0, 9).summary(), None, "of all or of nothing");
    assert!(!is_here(&value));
    let held = device.residency();
    assert_eq!(elements.summary(), Some(summary_of(&doubled)));
    assert_eq!(device.residency(), held);
    // Who looks at many gets all.
    let all = |elements: &Column| (0..MANY).all(|at| elements.scalar(at).is_some());
    assert!(all(elements) && !is_here(&value));
    assert!(all(elements) && is_here(&value));
    assert_eq!(elements.summary(), None, "the host has them");
    assert_same(&value, &expected, "all of them");
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

pub(crate) fn showing_survives_any_failure() {
    let (mut lost, mut unknown) = (0, 0);
    for (call, sticky) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let stand_in = stand_in();
        let mut device = device();
        let (scan, runs) = (golden(&device, "prefix_sum"), Arc::new(AtomicU32::new(0)));
        let value = result(deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs)));
        let expected = column(&scanned(1)).scalar(MANY - 1);
        let before = stand_in.calls();
        stand_in.fail(call, sticky);
        let place = format!("call {call}");
        assert_eq!(column(&value).scalar(MANY - 1), expected, "{place}");
        unknown += u32::from(column(&value).summary().is_none());
        assert_same(&value, &scanned(1), &place);
        let was_reached = stand_in.calls() - before >= call;
        stand_in.fail(0, false);
        lost += runs.load(Ordering::Relaxed);
        if !was_reached {
            break;
        }
    }
    assert!(lost > 10 && unknown > 10, "{lost} contexts lost, {unknown} summaries");
}

pub(crate) fn results_of_results_do_not_pile_up() {
    stand_in();
    let mut device = device();
    let scan = golden(&device, "prefix_sum");
    let runs = Arc::new(AtomicU32::new(0));
    let (mut value, mut here) = (ones(), Vec::new());
    for times in 1..=6 {
        let expected = scanned(times);
        value = result(deferring(&mut device, &scan, &value, again(&expected, &runs)));
        here.push(is_here(&value));
    }
    assert_eq!(here, [false, false, false, false, true, false]);
    assert_same(&value, &scanned(6), "six times");
    // Of what is forgotten nothing is left on the device.
    drop(result(run(&mut device, &scan, &[f32s([1.0])])));
    assert_eq!(device.residency().arrays, 3, "the last, and the input and result of this run");
}

pub(crate) fn what_nobody_has_seen_makes_room_too() {
    let stand_in = stand_in();
    let mut device = device();
    let scan = golden(&device, "prefix_sum");
    let runs = Arc::new(AtomicU32::new(0));
    // Five arrays, and what a run needs beside.
    stand_in.set_memory(4 * 5 * MANY as u64 + 1000);
    let results: Vec<Value> = (0..6)
        .map(|_| result(deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs))))
        .collect();
    assert!(!is_here(&results[5]));
    results.iter().for_each(|value| assert_same(value, &scanned(1), "a result"));
    assert_eq!((runs.load(Ordering::Relaxed), device.contexts()), (0, 1));
}

pub(crate) fn nothing_is_lost_that_nobody_has_seen() {
    let (mut repeated, mut lost) = (0, 0);
    for (call, sticky) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let stand_in = stand_in();
        let mut device = device();
        let scan = golden(&device, "prefix_sum");
        let runs = Arc::new(AtomicU32::new(0));
        let first = result(deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs)));
        let other = result(deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs)));
        let before = stand_in.calls();
        stand_in.fail(call, sticky);
        let ran = deferring(&mut device, &scan, &first, again(&scanned(2), &runs));
        let place = format!("call {call}");
        let second = match ran.results {
            Ok(results) => Some(results[0].clone()),
            Err(Halt::Broken(Broken::Lost(_))) => None,
            Err(halt) => panic!("{place}: {halt:?}"),
        };
        lost += u32::from(second.is_none());
        assert_same(&first, &scanned(1), &place);
        if let Some(second) = second {
            assert_same(&second, &scanned(2), &place);
        }
        let was_reached = stand_in.calls() - before >= call;
        stand_in.fail(0, false);
        // The device works again, with what nobody has seen so far.
        let ran = deferring(&mut device, &scan, &other, again(&scanned(2), &runs));
        assert_same(&result(ran), &scanned(2), &place);
        assert_same(&other, &scanned(1), &place);
        repeated += runs.load(Ordering::Relaxed);
        if !was_reached {
            break;
        }
    }
    assert!(repeated > 20 && lost > 10, "{repeated} runs repeated, {lost} contexts lost");
}

pub(crate) fn results_outlive_the_device() {
    stand_in();
    let mut device = device();
    let scan = golden(&device, "prefix_sum");
    let runs = Arc::new(AtomicU32::new(0));
    let kept = result(deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs)));
    assert!(kept.bring(Looks::AtSome, &AtomicBool::new(true)), "it is there");
    drop(device);
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // Running again can be interrupted, and nothing is lost by that.
    assert!(!kept.bring(Looks::AtSome, &AtomicBool::new(true)));
    assert_eq!((runs.load(Ordering::Relaxed), is_here(&kept)), (1, false));
    assert!(kept.bring(Looks::AtSome, &AtomicBool::new(false)));
    assert_same(&kept, &scanned(1), "kept");
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

/// A device that is lost while all elements are wanted of it.
pub(crate) fn bringing_all_can_be_interrupted_whatever_fails() {
    let (mut interrupted, mut repeated) = (0, 0);
    for (call, sticky) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let stand_in = stand_in();
        let mut device = device();
        let (scan, runs) = (golden(&device, "prefix_sum"), Arc::new(AtomicU32::new(0)));
        let value = result(deferring(&mut device, &scan, &ones(), again(&scanned(1), &runs)));
        let before = stand_in.calls();
        stand_in.fail(call, sticky);
        let is_brought = value.bring(Looks::AtAll, &AtomicBool::new(true));
        let was_reached = stand_in.calls() - before >= call;
        // Nothing takes long any more, if it is said that nothing does; nor is anything lost by the interrupt.
        let asked = runs.load(Ordering::Relaxed);
        assert_eq!(asked, u32::from(!is_brought), "call {call}");
        if is_brought {
            // Also if now all is lost.
            stand_in.fail(1, true);
        } else {
            interrupted += 1;
            assert!(value.bring(Looks::AtAll, &AtomicBool::new(false)), "call {call}");
        }
        assert!(!is_here(&value));
        assert_same(&value, &scanned(1), &format!("call {call}"));
        repeated += runs.load(Ordering::Relaxed) - asked;
        stand_in.fail(0, false);
        if !was_reached {
            break;
        }
    }
    assert!(
        interrupted > 2 && repeated == interrupted,
        "{interrupted} interrupted, {repeated} repeated"
    );
}
