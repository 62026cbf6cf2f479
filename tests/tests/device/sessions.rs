//! What a user sees of the device.

use std::process::Command;

use weft_device::stand_in::StandIn;
use weft_ir::{Column, Value};
use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session, Shown, Sink};
use weft_tests::device_check::{self, Options, Schedule, Step};

/// What a cell says: its texts and notes, and the values that it shows.
#[derive(Debug)]
struct Said {
    outcome: Outcome,
    texts: Vec<String>,
    notes: Vec<String>,
    values: Vec<String>,
}

/// The stand-in with much memory, of which no call fails.
fn stand_in() -> StandIn {
    let stand_in = StandIn::find().expect("the stand-in");
    stand_in.fail(0, false);
    stand_in.set_memory(64 << 20);
    stand_in.set_last_first(false);
    stand_in
}

fn session(backend: &str) -> Session {
    let mut session = Session::new(&Config { memory: 1 << 30, io: false });
    session.set_mode("backend", backend).expect("a back end");
    session
}

fn say(session: &mut Session, source: &str) -> Said {
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(source), &mut sink, &Cancel::default());
    let mut said = Said { outcome, texts: Vec::new(), notes: Vec::new(), values: Vec::new() };
    for event in sink.events {
        match event {
            Event::Text(text) => said.texts.push(text),
            Event::Note(note) | Event::Notice(note) => said.notes.push(note),
            Event::Shown(shown) => said.values.push(elements(&shown.value)),
            _ => {}
        }
    }
    said
}

/// A value as text, wherever its elements have been.
fn elements(value: &Value) -> String {
    match value {
        Value::Array(array) => match &array.elements {
            Column::F64(elements) => format!("{:?}", elements.as_slice()),
            other => format!("{other:?}"),
        },
        Value::Scalar(_) | Value::Tuple(_) => format!("{value:?}"),
    }
}

/// The last value of a cell, which runs without a word.
#[track_caller]
fn value(session: &mut Session, source: &str) -> String {
    let said = say(session, source);
    assert!(matches!(said.outcome, Outcome::Done), "{said:?}");
    assert!(said.notes.is_empty(), "{said:?}");
    said.values.last().cloned().unwrap_or_default()
}

pub(crate) fn commands_say_where_things_are() {
    stand_in();
    let mut session = session("gpu");
    let devices = say(&mut session, ":devices").texts.concat();
    assert!(devices.contains("\ngpu     Weft's stand-in, sm_90, 1 multiprocessors"), "{devices}");
    assert!(devices.contains("67MB  (in use)"), "{devices}");
    value(&mut session, "xs = map f32 (iota 1000)");
    let timed = say(&mut session, ":time sum xs").texts.concat();
    for part in ["compile ", "run ", "fetch ", "on gpu, 1 kernel launch; ", "4000B were there"] {
        assert!(timed.contains(part), "{part}: {timed}");
    }
    let memory = say(&mut session, ":mem").texts.concat();
    assert!(memory.contains("(4000B on the gpu too)"), "{memory}");
    let compared = say(&mut session, ":compare sum xs").texts.concat();
    assert!(compared.contains("\ngpu "), "{compared}");
    assert!(!compared.contains("DIFFERENT"), "{compared}");
    let measured = say(&mut session, ":bench sum xs").texts.concat();
    assert!(measured.contains("of it on the device, by its own clock"), "{measured}");
}

pub(crate) fn results_stay_on_the_device() {
    stand_in();
    let mut session = session("gpu");
    let expected = value(&mut self::session("interp"), "sum (scanl1 (+) (map f64 (iota 300)))");
    value(&mut session, "ys = scanl1 (+) (map f64 (iota 300))");
    let timed = say(&mut session, ":time sum ys");
    let text = timed.texts.concat();
    assert!(text.contains("0B copied to it, 2400B were there, 8B copied back"), "{text}");
    assert_eq!(timed.values, [expected]);
    // Where arrays are small, `auto` does not go there.
    value(&mut session, ":backend auto");
    let timed = say(&mut session, ":time sum ys").texts.concat();
    assert!(timed.contains("on cpu"), "{timed}");
    // Where they are large, it does.
    value(&mut session, "zs = map f32 (iota 50000)");
    let timed = say(&mut session, ":time maximum zs").texts.concat();
    assert!(timed.contains("on gpu") && timed.contains("200kB copied to it"), "{timed}");
}

/// A loop of the host that goes through an array has all of it brought first, also where there is no kernel.
pub(crate) fn loops_of_the_host_bring_all_at_once() {
    let stand_in = stand_in();
    let mut session = session("gpu");
    value(&mut session, "ys = scanl1 (+) (map f64 (iota 1500))");
    value(&mut session, ":backend cpu");
    let source = "loop s = 0.0 for i < 1500 do s * 0.5 + ys[i]";
    let before = stand_in.calls();
    let found = value(&mut session, source);
    let calls = stand_in.calls() - before;
    let mut reference = self::session("interp");
    value(&mut reference, "ys = scanl1 (+) (map f64 (iota 1500))");
    assert_eq!(found, value(&mut reference, source));
    assert!(calls < 100, "{calls} calls");
}

pub(crate) fn whatever_fails_nothing_is_lost() {
    let stand_in = stand_in();
    let source = "sum (map (\\x -> x * x) xs)";
    let mut session = session("gpu");
    value(&mut session, "xs = map f64 (iota 100)");
    let expected = value(&mut session, source);
    assert_eq!(
        expected,
        value(&mut self::session("interp"), &format!("xs = map f64 (iota 100)\n{source}"))
    );
    let mut notices = 0;
    for (call, sticky) in (1..40).flat_map(|call| [(call, false), (call, true)]) {
        let before = stand_in.calls();
        stand_in.fail(call, sticky);
        let said = say(&mut session, source);
        assert!(matches!(said.outcome, Outcome::Done), "call {call}: {said:?}");
        assert_eq!(said.values.last(), Some(&expected), "call {call}");
        let reached = stand_in.calls() - before >= call;
        stand_in.fail(0, false);
        if let Some(note) = said.notes.first() {
            assert!(note.contains("the GPU failed (") || note.contains("no GPU: "), "{note}");
            assert!(note.contains("This ran on the CPU"), "{note}");
            notices += 1;
        }
        // The next cell works, on a new context, and all is as it was.
        assert_eq!(value(&mut session, source), expected, "after call {call}");
        let timed = say(&mut session, &format!(":time {source}")).texts.concat();
        assert!(timed.contains("on gpu, "), "after call {call}: {timed}");
        if !reached {
            break;
        }
    }
    assert!(notices > 10, "{notices} notices");
    let sum = value(&mut session, "sum xs");
    assert_eq!(sum, value(&mut self::session("interp"), "sum (map f64 (iota 100))"));
}

pub(crate) fn what_nobody_has_seen_is_not_lost() {
    let stand_in = stand_in();
    let source = "ys = scanl1 (+) (map (\\x -> x * 2.0) xs)";
    let mut reference = self::session("interp");
    value(&mut reference, &format!("xs = map f64 (iota 700)\n{source}"));
    let sums = value(&mut reference, "ys");
    let sum = value(&mut reference, "sum ys");
    let mut session = session("gpu");
    value(&mut session, "xs = map f64 (iota 700)");
    let timed = say(&mut session, &format!("{source}\n:time sum ys")).texts.concat();
    assert!(timed.contains("5600B were there, 8B copied back"), "{timed}");
    let memory = say(&mut session, ":mem").texts.concat();
    assert!(memory.contains("ys      [700]f64  (5600B on the gpu only)"), "{memory}");
    for (call, sticky) in (1..).step_by(3).flat_map(|call| [(call, false), (call, true)]) {
        value(&mut session, source);
        let before = stand_in.calls();
        stand_in.fail(call, sticky);
        let said = say(&mut session, "sum ys\nys");
        assert!(matches!(said.outcome, Outcome::Done), "call {call}: {said:?}");
        assert_eq!(said.values, [sum.clone(), sums.clone()], "call {call}");
        let reached = stand_in.calls() - before >= call;
        stand_in.fail(0, false);
        assert_eq!(value(&mut session, "ys"), sums, "after call {call}");
        if !reached {
            break;
        }
    }
}

/// The values that a cell shows.
fn shown(session: &mut Session, source: &str) -> Vec<Shown> {
    let mut sink = Collected::default();
    session.eval(Cell::typed(source), &mut sink, &Cancel::default());
    let shown = |event| match event {
        Event::Shown(shown) => Some(shown),
        _ => None,
    };
    sink.events.into_iter().filter_map(shown).collect()
}

pub(crate) fn showing_fetches_what_is_shown() {
    stand_in();
    let source = "xs = map f64 (iota 1200)\nys = scanl1 (+) xs\nzs = ys / (ys - ys)\nws = scanl (+) 0 (map i32 (xs * 1.5))";
    let (mut reference, mut session) = (self::session("interp"), session("gpu"));
    value(&mut reference, source);
    value(&mut session, source);
    for name in ["ys", "zs", "ws", "reshape (120, 10) ys"] {
        let (expected, found) = (shown(&mut reference, name), shown(&mut session, name));
        let ([expected], [found]) = (&expected[..], &found[..]) else { panic!("{found:?}") };
        let never = Cancel::default();
        assert_eq!(found.text(80, false, &never), expected.text(80, false, &never), "{name}");
        assert_eq!(found.statistics(&never), expected.statistics(&never), "{name}");
        let Value::Array(array) = &found.value else { panic!("{found:?}") };
        assert!(!array.elements.is_here(), "{name}");
    }
}

/// Hears the events of a cell, and interrupts it at the first value.
struct Interrupting {
    cancel: Cancel,
    shown: usize,
}

impl Sink for Interrupting {
    fn event(&mut self, event: Event) {
        if let Event::Shown(_) = event {
            self.shown += 1;
            self.cancel.cancel();
        }
    }
}

pub(crate) fn showing_what_is_lost_can_be_interrupted() {
    let stand_in = stand_in();
    let mut session = session("gpu");
    value(&mut session, "xs = map f64 (iota 700)\nys = scanl1 (+) xs");
    let before = value(&mut self::session("interp"), "scanl1 (+) (map f64 (iota 700))");
    // The device is lost, and then `ys` is wanted.
    stand_in.fail(1, true);
    let cancel = Cancel::default();
    let mut sink = Interrupting { cancel: cancel.clone(), shown: 0 };
    let outcome = session.eval(Cell::typed("sum xs\nsum (xs + 1.0)\nys"), &mut sink, &cancel);
    stand_in.fail(0, false);
    assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}, {} shown", sink.shown);
    assert_eq!(value(&mut session, "ys"), before);
}

/// Kernels that take long and do not depend on others run beside those, and `:time` says so.
pub(crate) fn independent_kernels_are_those_of_the_interpreter() {
    let stand_in = stand_in();
    let setup = "xs = map f64 (iota 40)\nns = iota 40";
    // Their extents differ, so they are kernels of their own.
    let programs = [
        ("(scanl1 (+) xs, scanl1 max (take 30 xs), scanl1 min (take 20 xs))", false),
        (
            "let a = scanl1 (+) xs; b = scanl1 max (take 30 xs) in sum a * sum b + sum (scanl1 min (take 9 xs))",
            false,
        ),
        (
            "({ loop y = x while y > 1.0 do y * 0.5 : x in xs }, { loop y = x while y > 2.0 do y * 0.25 : x in take 30 xs })",
            true,
        ),
        (
            "let a = { loop y = x while y > 1.0 do y * 0.5 : x in xs } in sum a + sum (scanl1 min (take 9 xs))",
            true,
        ),
        (
            "(sum { sum { x * y : y in xs } : x in xs }, sort (reverse xs), filter (\\n -> n % 2 == 0) (take 30 ns))",
            false,
        ),
        ("scatter (scanl1 (+) xs) (reverse (take 30 ns)) (scanl1 max (take 30 xs))", false),
    ];
    for last_first in [true, false] {
        stand_in.set_last_first(last_first);
        for (program, beside) in programs {
            let (mut reference, mut session) = (self::session("interp"), session("gpu"));
            value(&mut reference, setup);
            value(&mut session, setup);
            let timed = say(&mut session, &format!(":time {program}"));
            assert_eq!(timed.values, [value(&mut reference, program)], "{program}: {timed:?}");
            let text = timed.texts.concat();
            assert!(text.contains("on gpu, "), "{text}");
            assert_eq!(text.contains(" beside others"), beside, "{program}: {text}");
        }
    }
}

/// Loops, most of whose turns run as graphs.
pub(crate) fn loops_are_those_of_the_interpreter() {
    stand_in();
    let fluid = "u0 = reshape (5, 4) (map f64 (iota 20))\n\
                 def sweep (u : [][]f64) = stencil clamp (\\w -> 0.25 * (w[-1, 0] + w[1, 0] + w[0, -1] + w[0, 1])) u";
    let bodies = "x0 = map f64 (iota 6)\n\
                  def pull (xs : []f64) (x : f64) = sum { (y - x) / (1.0 + (y - x) * (y - x)) : y in xs }\n\
                  def move (xs : []f64, vs : []f64) = let ws = vs + 0.125 * { pull xs x : x in xs } in (xs + 0.125 * ws, ws)";
    let means = "points = { f64 (i * 7 % 12) : i in iota 12 }\n\
                 def nearest (cs : []f64) = { argmin { abs (p - c) : c in cs } : p in points }\n\
                 def centres (cs : []f64) =\n\
                 \x20 let near = nearest cs in scatterWith (+) (replicate 3 0.0) near points / max 1.0 (f64 \
                 (histogram 3 near))";
    // The program, and whether its turns become graphs: where the host looks at something in each turn, they are too short.
    for (setup, loops, in_graphs) in [
        (fluid, "flatten (iterate 80 sweep u0)", true),
        (bodies, "(iterate 50 move (x0, x0)).0", true),
        (means, "iterate 40 centres [1.0, 2.0, 3.0]", false),
        (fluid, "loop u = flatten u0 for i < 60 do u * f64 i / (1.0 + f64 i)", true),
        (fluid, "loop u = flatten u0 while sum u > 1.0 do u * 0.5 + 0.001", false),
        (fluid, "loop u = flatten u0 for i < 15 do take (19 - i) (u + 1.0)", false),
        (
            fluid,
            "loop u = flatten u0 for i < 4 do (loop v = u for j < 70 do v * 0.5 + f64 j)",
            true,
        ),
    ] {
        let (mut reference, mut session) = (self::session("interp"), session("gpu"));
        value(&mut reference, setup);
        value(&mut session, setup);
        let timed = say(&mut session, &format!(":time {loops}"));
        assert_eq!(timed.values, [value(&mut reference, loops)], "{loops}: {timed:?}");
        let text = timed.texts.concat();
        assert!(text.contains("on gpu, "), "{loops}: {text}");
        assert_eq!(text.contains(" graph launch"), in_graphs, "{loops}: {text}");
    }
}

pub(crate) fn without_room_the_cpu_runs_it() {
    let stand_in = stand_in();
    let mut session = session("gpu");
    value(&mut session, "xs = map f64 (iota 100)");
    stand_in.set_memory(50_000);
    let said = say(&mut session, "ys = scanl1 (+) (map f64 (iota 20000))\nys[19999]");
    assert_eq!(said.values.len(), 1, "{said:?}");
    let note = said.notes.concat();
    assert!(note.contains("no room: an array of 160kB was wanted"), "{note}");
    assert!(note.contains("This ran on the CPU, and nothing is lost"), "{note}");
    assert_eq!(
        value(&mut session, "sum xs"),
        value(&mut self::session("interp"), "sum (map f64 (iota 100))")
    );
}

pub(crate) fn elements_that_are_too_wide_are_for_the_cpu() {
    stand_in();
    let list = |each: &dyn Fn(usize) -> String| (0..31).map(each).collect::<Vec<_>>().join(", ");
    let names = |letter: char| list(&|at| format!("{letter}{at}"));
    let program = format!(
        "def plus ({}) ({}) = ({})\nxs = {{ ({}) : x in map f64 (iota 300) }}\nys = scanl1 plus xs\n\
         let ({}) = ys[299] in c30",
        names('a'),
        names('b'),
        list(&|at| format!("a{at} + b{at}")),
        list(&|_| "x".to_owned()),
        names('c'),
    );
    let said = say(&mut session("gpu"), &program);
    assert_eq!(
        said.values,
        [value(&mut session("interp"), "sum (map f64 (iota 300))")],
        "{said:?}"
    );
    let note = said.notes.concat();
    assert!(note.contains("the GPU cannot do it: elements are tuples so wide that"), "{note}");
    assert!(note.contains("50112 bytes of shared memory"), "{note}");
    assert!(note.starts_with("In[1]:2: "), "where the kernel begins: {note}");
}

/// A loop with nothing parallel: a thread of the CPU is faster than one of a device.
pub(crate) fn loops_with_nothing_parallel_are_for_the_cpu() {
    stand_in();
    let (definitions, program) =
        ("xs = { i % 7 : i in iota 100_000 }", "loop s = 0 for i < 1000 do (s * 3 + xs[i]) % 1000");
    let mut interp = session("interp");
    say(&mut interp, definitions);
    let expected = [value(&mut interp, program)];
    for (backend, where_it_ran) in [("auto", "on cpu, "), ("gpu", "on gpu, 1 kernel launch")] {
        let mut session = session(backend);
        say(&mut session, definitions);
        // It is there already, as the elements are.
        say(&mut session, "sum xs");
        for _ in 0..2 {
            let said = say(&mut session, &format!(":time {program}"));
            assert!(said.texts.concat().contains(where_it_ran), "{said:?}");
            assert_eq!(said.values, expected);
        }
    }
}

/// A call whose result is an argument of another one: the CPU has a stack for it, a device has not.
pub(crate) fn recursion_with_a_stack_is_for_the_cpu() {
    stand_in();
    let definitions = "xs = { i % 7 : i in iota 100_000 }\n\
         def f (n : i64) (ys : []i64) : i64 = if n < 2 then ys[n] else f (f (n - 1) ys % n) ys + 1";
    let mut auto = session("auto");
    say(&mut auto, definitions);
    assert!(say(&mut auto, ":time sum xs").texts.concat().contains("on gpu, "));
    let said = say(&mut auto, ":time f 9 xs");
    assert!(said.texts.concat().contains("on cpu, "), "{said:?}");
    let mut interp = session("interp");
    say(&mut interp, definitions);
    assert_eq!(said.values, [value(&mut interp, "f 9 xs")]);
}

pub(crate) fn a_device_may_come_later() {
    let stand_in = stand_in();
    let mut session = session("gpu");
    stand_in.fail(1, true);
    let said = say(&mut session, "xs = map f64 (iota 10)\nsum xs");
    assert_eq!(said.values.len(), 1, "{said:?}");
    assert!(said.notes.concat().contains("no GPU: "), "{said:?}");
    // It is said once, and the CPU goes on.
    assert_eq!(
        value(&mut session, "sum xs"),
        value(&mut self::session("interp"), "sum (map f64 (iota 10))")
    );
    assert!(say(&mut session, ":devices").texts.concat().contains("\ngpu     none: "));
    stand_in.fail(0, false);
    assert!(say(&mut session, ":devices").texts.concat().contains("\ngpu     Weft's stand-in"));
    assert!(say(&mut session, ":time sum xs").texts.concat().contains("on gpu, "));
}

pub(crate) fn errors_are_those_of_the_interpreter() {
    stand_in();
    let mut session = session("gpu");
    value(&mut session, "xs = iota 10");
    let failed = say(&mut session, "map (\\i -> xs[i]) (iota 20)");
    assert!(
        matches!(&failed.outcome, Outcome::Failed(code) if code.starts_with("E06")),
        "{failed:?}"
    );
    assert!(failed.notes.is_empty(), "{failed:?}");
    assert_eq!(value(&mut session, "sum xs"), value(&mut self::session("interp"), "sum (iota 10)"));
}

/// The device program where there is nothing else of the repository, unpacked from what is carried there.
pub(crate) fn the_device_program_is_carried() {
    stand_in();
    let folder = tempfile::tempdir().expect("a folder");
    let (program, archive) = (env!("CARGO_BIN_EXE_weft-device"), folder.path().join("carried.tar"));
    let script = weft_tests::repository().join("bench/device.sh");
    let packed = Command::new(script).args(["--pack", program]).arg(&archive).status();
    assert!(packed.expect("a shell").success());
    let unpacked = Command::new("tar").arg("xf").arg(&archive).current_dir(&folder).status();
    assert!(unpacked.expect("tar").success());
    let carried = folder.path().join("weft-device");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(carried.join("bench/device.sh"));
        command.arg(carried.join("weft-device")).args(arguments).env_clear();
        // Where the stand-in is, and its compiler.
        for name in ["LD_LIBRARY_PATH", "PATH"] {
            command.env(name, std::env::var_os(name).unwrap_or_default());
        }
        // A package of the compiler would come before the stand-in.
        command.env("WEFT_PYTHON", "no-python");
        let output = command.current_dir(&folder).env("HOME", folder.path()).output();
        let output = output.expect("a shell");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (is_well, report, errors) = run(&["--small", "--no-times"]);
    assert!(is_well, "{report}{errors}");
    for part in ["commit: ", "device: Weft's stand-in", "golden kernels: ", "pages: "] {
        assert!(report.contains(part), "{part}: {report}");
    }
    // It says what it misses.
    std::fs::remove_dir_all(carried.join("cuda")).expect("plans");
    let (is_well, report, errors) = run(&["--small", "--no-times"]);
    assert!(!is_well && errors.contains("cuda/gate/plans"), "{report}{errors}");
}

/// Of the compilers that are Python packages the newest comes before whatever else is called `libnvrtc.so`.
pub(crate) fn the_compiler_of_a_package_comes_first() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|said| said.status.success()) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("a folder");
        std::fs::write(at(name), text).expect("a file");
    };
    write("old/libnvrtc.so", "");
    // Older than any driver's.
    for (package, release) in [("cuda_nvrtc", 1), ("cu2", 2)] {
        write(&format!("packages/nvidia/{package}/lib/libnvrtc.so.{release}"), "");
        write(&format!("packages/nvidia/{package}/lib/libnvrtc-builtins.so.{release}.0"), "");
    }
    write(
        "program",
        "first=${LD_LIBRARY_PATH%%:*}\necho \"$first\"\nreadlink \"$first/libnvrtc.so\"\nls \"$first\"\nexit 7\n",
    );
    let chmod = Command::new("chmod").arg("+x").arg(at("program")).status();
    assert!(chmod.expect("chmod").success());
    let output = Command::new("sh")
        .arg(weft_tests::repository().join("bench/device.sh"))
        .arg(at("program"))
        .env("LD_LIBRARY_PATH", at("old"))
        .env("PYTHONPATH", at("packages"))
        .env_remove("WEFT_PYTHON")
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(7), "{said}");
    let lines: Vec<&str> = said.lines().skip_while(|line| !line.starts_with('/')).collect();
    let newest = at("packages/nvidia/cu2/lib/libnvrtc.so.2");
    assert_eq!(lines[1], newest.to_string_lossy(), "{said}");
    assert_eq!(lines[2..], ["libnvrtc-builtins.so.2.0", "libnvrtc.so", "libnvrtc.so.2"], "{said}");
    assert!(!std::path::Path::new(lines[0]).exists(), "{said}");
}

/// The device program in small, as long as that takes.
fn small_device_check() -> Options {
    Options {
        is_small: true,
        steps: Step::ALL.map(|(_, step)| step).to_vec(),
        only: None,
        from: None,
        threads: None,
        times_anyway: false,
        is_once: false,
        python: Some("python3".into()),
        peers: None,
        peers_limit: 110,
        schedule: Schedule::unlimited(),
    }
}

pub(crate) fn the_device_program_says_what_it_skips() {
    stand_in();
    let options = Options { schedule: Schedule::seconds(0), ..small_device_check() };
    let mut report = Vec::new();
    let all_hold = device_check::run(&options, &mut report).expect("the repository");
    let report = String::from_utf8(report).expect("a text");
    assert!(all_hold, "{report}");
    for line in [
        "golden kernels: ",
        "pages: 1 of 1 ",
        "- 15 of 15 programs ",
        "- 7 of 7 loops and branches ",
    ] {
        let is_it = |said: &str| {
            said.starts_with(line) && said.contains("skipped: the time for it is over")
        };
        assert!(report.lines().any(is_it), "{line}: {report}");
    }
    assert!(report.contains("\n- Peers: all skipped: the time for it is over"), "{report}");
    assert!(report.contains("\n- The compiler was not timed: "), "{report}");
}

pub(crate) fn the_device_program_runs_programs_once() {
    stand_in();
    let once = |schedule| {
        let (steps, only) = (vec![Step::Programs], Some("dot,histogram".to_owned()));
        let options = Options { steps, only, is_once: true, schedule, ..small_device_check() };
        let mut report = Vec::new();
        device_check::run(&options, &mut report).expect("the repository");
        String::from_utf8(report).expect("a text")
    };
    let report = once(Schedule::unlimited());
    assert!(report.ends_with("\nprogram dot\nprogram histogram\n"), "{report}");
    let report = once(Schedule::seconds(0));
    assert!(report.contains("\n2 of 2 programs skipped: the time for it is over"), "{report}");
}

pub(crate) fn the_device_program_runs() {
    stand_in();
    let options = small_device_check();
    let mut report = Vec::new();
    let all_hold = device_check::run(&options, &mut report).expect("the repository");
    let report = String::from_utf8(report).expect("a text");
    assert!(all_hold, "{report}");
    assert!(report.contains("\ngolden sort f32: 4 hold, "), "{report}");
    assert!(report.contains("\ngolden kernels: "), "{report}");
    for name in ["dot", "Canny", "PageRank", "k-means, 100 turns", "six prefix sums"] {
        assert!(report.contains(&format!("\n| {name} | ")), "{name}: {report}");
    }
    assert_eq!(
        report.lines().filter(|line| line.starts_with("| ")).count(),
        2 + 15 + 2 + 4 + 2 + 3,
        "{report}"
    );
    assert!(report.contains("\n- Compiling and loading a program of 1 kernel: "), "{report}");
    assert!(!report.contains("not on the device"), "{report}");
}
