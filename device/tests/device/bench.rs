//! A device with one input, on which programs of one array run.

use std::sync::atomic::{AtomicBool, Ordering};

use weft_cuda::{Broken, Halt};
use weft_device::stand_in::StandIn;
use weft_device::{Beside, Config, Device, Kernels, Ran};
use weft_ir::{Exhausted, FaultKind, Stop, Value};

use crate::{assert_same, f32s, kernels, result, stand_in};

/// All goes through one stream, one piece after the other.
pub(crate) const PLAIN: Config = Config {
    cache: None,
    cache_bytes: 0,
    graphs: false,
    streams: Beside::Nothing,
    compilers: 1,
    modules: 4096,
    cleared: 0,
};

/// Loops become graphs, and what is independent goes to several streams.
pub(crate) const ALL: Config = Config {
    cache: None,
    cache_bytes: 0,
    graphs: true,
    streams: Beside::All,
    compilers: 1,
    modules: 4096,
    cleared: 0,
};

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

    /// Runs a program, which yields this, on the one context that there is, and leaves nothing else there.
    #[track_caller]
    pub(crate) fn yields(&mut self, program: &Kernels, expected: &Value, place: &str) -> Ran {
        let Ran { results, traffic } = self.again(program);
        assert_same(&result(Ran { results: results.clone(), traffic }), expected, place);
        assert_eq!(self.device.contexts(), 1, "{place}");
        // Of all that the run had, its input and its results are left, and what the run before has yielded.
        assert!(self.device.residency().arrays <= 3, "{place}: {:?}", self.device.residency());
        Ran { results, traffic }
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

/// Two benches: the last stream comes first, or the first one does.
pub(crate) fn in_both_orders(numbers: &[f32]) -> impl Iterator<Item = Bench> {
    [true, false].into_iter().map(|last_first| {
        let bench = Bench::of(ALL, numbers.iter().copied());
        bench.stand_in.set_last_first(last_first);
        bench
    })
}

/// The kind of the fault with which a run ends.
#[track_caller]
pub(crate) fn fault(ran: Ran) -> FaultKind {
    match ran.results {
        Err(Halt::Stop(Stop::Fault(fault))) => fault.kind,
        other => panic!("{other:?}"),
    }
}

/// Interrupts a program behind each of these kernels: the next run is as ever.
#[track_caller]
pub(crate) fn interrupted_behind(
    bench: &mut Bench,
    text: &str,
    kernels: impl Iterator<Item = u32>,
    expected: &Value,
) {
    let program = bench.program(text);
    for kernel in kernels {
        let (cancel, mut launched) = (AtomicBool::new(false), 0);
        let ran = bench.observed(&program, &cancel, &mut || {
            launched += 1;
            cancel.store(launched > kernel, Ordering::SeqCst);
        });
        assert_eq!(ran.results.err(), Some(interrupted()), "kernel {kernel}");
        bench.yields(&program, expected, &format!("after kernel {kernel}"));
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
