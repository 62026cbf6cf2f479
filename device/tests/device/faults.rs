//! Every call of the driver and of the compiler fails in turn.

use weft_cuda::{Broken, Halt};
use weft_device::{Beside, Config, Device};

use crate::{assert_same, f32s, golden, result, run, stand_in};

pub(crate) fn any_call_may_fail_once() {
    each_call_fails(false);
}

pub(crate) fn any_call_may_fail_for_good() {
    each_call_fails(true);
}

/// Lets call after call fail while a device is opened and runs two programs, until there are no more
/// calls. Either all goes well or it is said what does not; and then everything goes well.
fn each_call_fails(sticky: bool) {
    let stand_in = stand_in();
    let config = Config {
        cache: None,
        cache_bytes: 0,
        graphs: true,
        streams: Beside::All,
        compilers: 1,
        modules: 4096,
        cleared: 0,
    };
    let (numbers, sums) = (f32s([1.0, 2.0, 3.0]), f32s([1.0, 3.0, 6.0]));
    let doubled = f32s([2.0, 4.0, 6.0]);
    let (mut failures, mut lost) = (0, 0);
    for call in 1.. {
        stand_in.fail(call, sticky);
        let before = stand_in.calls();
        let opened = weft_device::find().map_err(|absent| absent.to_string());
        let opened = opened.and_then(|found| Device::open(found[0].clone(), &config));
        let mut all_went_well = opened.is_ok();
        if let Err(why) = &opened {
            assert!(why.contains("failed"), "{why}");
        }
        let device = opened.or_else(|_| {
            stand_in.fail(0, false);
            let found = weft_device::find().expect("a device");
            Device::open(found[0].clone(), &config)
        });
        let mut device = device.expect("a context");
        for (name, expected) in [("prefix_sum", &sums), ("filter", &doubled)] {
            let kernels = golden(&device, name);
            match run(&mut device, &kernels, std::slice::from_ref(&numbers)).results {
                Ok(results) => assert_same(&results[0], expected, &format!("call {call}")),
                Err(Halt::Broken(Broken::Lost(why))) => {
                    assert!(why.contains("failed") || why.contains("do not compile"), "{why}");
                    lost += 1;
                    all_went_well = false;
                }
                Err(halt) => panic!("call {call}: {halt:?}"),
            }
            // Nothing is lost but the context.
            assert_same(&numbers, &f32s([1.0, 2.0, 3.0]), "the input");
        }
        let was_reached = stand_in.calls() - before >= call;
        stand_in.fail(0, false);
        let kernels = golden(&device, "prefix_sum");
        let again = result(run(&mut device, &kernels, std::slice::from_ref(&numbers)));
        assert_same(&again, &sums, &format!("after call {call}"));
        failures += u32::from(!all_went_well);
        if !was_reached {
            break;
        }
    }
    assert!(failures > 20 && lost > 20, "{failures} failures, {lost} contexts lost");
}
