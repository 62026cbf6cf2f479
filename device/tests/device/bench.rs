//! A device with one input, on which programs of one array run.

use std::sync::atomic::AtomicBool;

use weft_cuda::{Broken, Halt};
use weft_device::stand_in::StandIn;
use weft_device::{Config, Device, Kernels, Ran};
use weft_ir::{Exhausted, Stop, Value};

use crate::{assert_same, f32s, kernels, result, stand_in};

/// All goes through one stream, one piece after the other.
pub(crate) const PLAIN: Config =
    Config { cache: None, cache_bytes: 0, graphs: false, streams: false };

/// Loops become graphs, and what is independent goes to several streams.
pub(crate) const ALL: Config = Config { cache: None, cache_bytes: 0, graphs: true, streams: true };

pub(crate) struct Bench {
    pub(crate) stand_in: StandIn,
    pub(crate) device: Device,
    pub(crate) input: Value,
}

/// The usual input.
pub(crate) fn numbers() -> Vec<f32> {
    vec![8.0, -4.0, 0.5, 16.0, 2.0, 1.0, -64.0]
}

pub(crate) fn interrupted() -> Halt {
    Halt::Stop(Stop::Exhausted(Exhausted::Interrupted))
}

impl Bench {
    /// With [`numbers`].
    pub(crate) fn new(config: Config) -> Bench {
        Bench::of(config, numbers())
    }

    pub(crate) fn of(config: Config, numbers: impl IntoIterator<Item = f32>) -> Bench {
        let stand_in = stand_in();
        let found = weft_device::find().expect("a device");
        let device = Device::open(found[0].clone(), &config).expect("a context");
        Bench { stand_in, device, input: f32s(numbers) }
    }

    pub(crate) fn program(&self, text: &str) -> Kernels {
        kernels(&self.device, text)
    }

    pub(crate) fn run(&mut self, text: &str) -> Ran {
        let program = self.program(text);
        self.again(&program)
    }

    pub(crate) fn again(&mut self, program: &Kernels) -> Ran {
        self.observed(program, &AtomicBool::new(false), &mut || {})
    }

    /// Runs a program; `observe` hears of every kernel that has been launched.
    pub(crate) fn observed(
        &mut self,
        program: &Kernels,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(),
    ) -> Ran {
        let inputs = std::slice::from_ref(&self.input);
        self.device.run(program, inputs, 1 << 30, cancel, &mut |_| observe())
    }
}

/// Runs a program with call after call failing, once and for good, until there are no more: how often the device was
/// lost. Either the result is right or it is said what went wrong; and then the device works again.
pub(crate) fn lost_by_failing_calls(text: &str, expected: &Value) -> u32 {
    let program = Bench::new(ALL).program(text);
    let mut lost = 0;
    for (call, sticky) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let mut bench = Bench::new(ALL);
        let (before, place) = (bench.stand_in.calls(), format!("call {call}"));
        bench.stand_in.fail(call, sticky);
        match bench.again(&program).results {
            Ok(results) => assert_same(&results[0], expected, &place),
            Err(Halt::Broken(Broken::Lost(why))) => {
                assert!(why.contains("failed") || why.contains("do not compile"), "{why}");
                lost += 1;
            }
            Err(halt) => panic!("{place}: {halt:?}"),
        }
        let was_reached = bench.stand_in.calls() - before >= call;
        bench.stand_in.fail(0, false);
        assert_same(&result(bench.again(&program)), expected, &format!("after {place}"));
        if !was_reached {
            break;
        }
    }
    lost
}
