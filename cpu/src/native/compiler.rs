//! Finds a C compiler and runs it.

use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::native::{Config, scratch};

/// The flags beside those for the machine. No flag changes what a float operation yields.
const FLAGS: [&str; 11] = [
    "-std=gnu11",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fopenmp-simd",
    // Short loops with two branches take half as long again where they lie badly.
    "-falign-loops=32",
    "-fPIC",
    "-shared",
];

/// What makes code for this machine.
const MACHINE: &[&str] =
    if cfg!(target_arch = "x86_64") { &["-march=native"] } else { &["-mcpu=native"] };

/// The flags for a compiler that breaks down, one after the other: GCC 12 does where a loop that is to be of vectors chooses
/// among small integers by a mask of AVX-512. Loops are of vectors without the first too, where the compiler sees by itself
/// that they may be, and then it may break down again; so the second has none.
const WAYS_OUT: [&[&str]; 2] =
    [&["-fno-openmp-simd"], &["-fno-openmp-simd", "-fno-tree-vectorize"]];

/// What a compiler says that breaks down.
const BREAKDOWN: &str = "internal compiler error";

/// How long a compiler may take to say what it is.
const ANSWER: Duration = Duration::from_secs(3);

/// Why there is no code. Both are sentences for the user.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The compiler or the code is wrong, and will be the next time.
    Lasting(String),
    /// The system did not give what was needed, such as a file: it may do so later.
    Passing(String),
}

impl Failure {
    /// The sentence.
    pub(crate) fn reason(self) -> String {
        match self {
            Failure::Lasting(reason) | Failure::Passing(reason) => reason,
        }
    }
}

/// A C compiler that has been tried.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    /// The program and what comes first among its arguments.
    command: Vec<String>,
    /// What it calls itself.
    version: String,
    /// Where files go.
    folder: PathBuf,
    /// How long it may take.
    patience: Duration,
    /// Set when nobody waits for it any more.
    given_up: Arc<AtomicBool>,
}

/// A shared object. Its file goes with it.
#[derive(Debug)]
pub(crate) struct Object {
    path: PathBuf,
    bytes: Vec<u8>,
    _folder: tempfile::TempDir,
}

impl Object {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the file holds.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Compiler {
    /// The first of the compilers that answers. It is ended when `given_up` is set.
    ///
    /// # Errors
    /// None answers, or the system does not let them be asked.
    pub(crate) fn find(config: &Config, given_up: &Arc<AtomicBool>) -> Result<Compiler, Failure> {
        // Whether files can be written shows before anybody is asked, and who is to blame.
        let scratch = scratch::folder(&config.scratch).map_err(interpreted)?;
        for command in &config.compilers {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            let Some((program, first)) = words.split_first() else { continue };
            let mut asking = Command::new(program);
            asking.args(first).arg("--version");
            let answer = match run(asking, scratch.path(), ANSWER, given_up) {
                Ok(answer) => answer,
                Err(Failure::Passing(reason)) => return Err(interpreted(reason)),
                Err(Failure::Lasting(_)) => continue,
            };
            if let Some(version) = answer.lines().next() {
                let (version, folder) = (version.to_owned(), config.scratch.clone());
                let (patience, given_up) = (config.patience, Arc::clone(given_up));
                return Ok(Compiler { command: words, version, folder, patience, given_up });
            }
        }
        let tried = config.compilers.join(", ");
        let reason = format!("no C compiler answers ({tried})");
        Err(Failure::Lasting(format!("{reason}: code runs interpreted, block by block")))
    }

    /// What compiled code depends on beside its text: the compiler, its flags and the machine.
    pub(crate) fn identity(&self) -> String {
        let flags = [&FLAGS[..], MACHINE].concat().join(" ");
        format!("{} | {} | {flags} | {}", self.command.join(" "), self.version, machine())
    }

    /// Compiles a file, once more in other ways where the compiler breaks down.
    ///
    /// # Errors
    /// The compiler's first words, or what the system said.
    pub(crate) fn compile(&self, source: &str) -> Result<Object, Failure> {
        let folder = scratch::folder(&self.folder).map_err(Failure::Passing)?;
        let (input, output) = (folder.path().join("kernels.c"), folder.path().join("kernels.so"));
        fs::write(&input, source).map_err(|error| self.not_written(&error))?;
        self.run(&folder, |command| {
            command.args(FLAGS).args(MACHINE).arg("-o").arg(&output).arg(&input).arg("-lm");
        })?;
        let bytes = fs::read(&output).map_err(|error| Failure::Lasting(error.to_string()))?;
        Ok(Object { path: output, bytes, _folder: folder })
    }

    /// The assembler text of a file.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub(crate) fn assemble(&self, source: &str) -> Result<String, Failure> {
        let folder = scratch::folder(&self.folder).map_err(Failure::Passing)?;
        let (input, output) = (folder.path().join("kernels.c"), folder.path().join("kernels.s"));
        fs::write(&input, source).map_err(|error| self.not_written(&error))?;
        let flags: Vec<&str> = FLAGS.into_iter().filter(|flag| *flag != "-shared").collect();
        self.run(&folder, |command| {
            command.args(&flags).args(MACHINE).args(["-S", "-fno-asynchronous-unwind-tables"]);
            command.arg("-o").arg(&output).arg(&input);
        })?;
        let text = fs::read_to_string(&output);
        let text = text.map_err(|error| Failure::Lasting(error.to_string()))?;
        let lines: Vec<&str> = text.lines().filter(|line| is_instruction_or_data(line)).collect();
        Ok(lines.join("\n"))
    }

    /// Runs the compiler with these arguments, and once more in other ways where it breaks down.
    fn run(
        &self,
        folder: &tempfile::TempDir,
        arguments: impl Fn(&mut Command),
    ) -> Result<String, Failure> {
        let run_with = |more: &[&str]| {
            let mut command = self.command(folder);
            arguments(&mut command);
            command.args(more);
            run(command, folder.path(), self.patience, &self.given_up)
        };
        let mut outcome = run_with(&[]);
        for way_out in WAYS_OUT {
            match &outcome {
                Err(Failure::Lasting(reason)) if reason.contains(BREAKDOWN) => {
                    outcome = run_with(way_out);
                }
                _ => break,
            }
        }
        outcome
    }

    fn not_written(&self, error: &io::Error) -> Failure {
        Failure::Passing(scratch::not_written(&self.folder, error))
    }

    /// The compiler, whose own files go to the scratch folder too, and with it: one that is killed leaves them
    /// behind.
    fn command(&self, folder: &tempfile::TempDir) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).env("TMPDIR", folder.path());
        command
    }
}

/// Whether a line of assembler text is more than a remark to the assembler.
fn is_instruction_or_data(line: &str) -> bool {
    let data = [".long", ".quad", ".value", ".byte", ".zero", ".string"];
    match line.split_whitespace().next() {
        Some(word) => !word.starts_with('.') || word.ends_with(':') || data.contains(&word),
        None => false,
    }
}

/// No compiler could be asked, for this reason.
fn interpreted(reason: String) -> Failure {
    Failure::Passing(format!("{reason}: code runs interpreted, block by block, until that changes"))
}

/// Runs a program to its end; what it has said, for which there is a file in that folder meanwhile. One that
/// takes too long or that nobody waits for any more is killed.
///
/// # Errors
/// It cannot be run, is killed, or ends otherwise than well.
fn run(
    mut command: Command,
    folder: &Path,
    patience: Duration,
    given_up: &AtomicBool,
) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let fails = |error: io::Error| {
        let is_absent =
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
        let reason = format!("{program}: {error}");
        if is_absent { Failure::Lasting(reason) } else { Failure::Passing(reason) }
    };
    let not_written = |error: io::Error| Failure::Passing(scratch::not_written(folder, &error));
    let mut said = tempfile::tempfile_in(folder).map_err(not_written)?;
    let (out, errors) = (said.try_clone().map_err(fails)?, said.try_clone().map_err(fails)?);
    // Messages in English.
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(out).stderr(errors);
    own_group(&mut command);
    let mut child = command.spawn().map_err(fails)?;
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(fails)? {
            Some(status) => break status,
            None if begin.elapsed() > patience || given_up.load(Ordering::Relaxed) => {
                // It may end by itself at this very moment.
                kill_group(child.id());
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::Lasting(match given_up.load(Ordering::Relaxed) {
                    true => format!("{program} was ended"),
                    false => format!("{program} took longer than {} s", patience.as_secs()),
                }));
            }
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let mut text = String::new();
    said.rewind().map_err(fails)?;
    said.take(10_000).read_to_string(&mut text).map_err(fails)?;
    if status.success() {
        return Ok(text);
    }
    let saying = |words: &str| text.lines().find(|line| line.contains(words));
    let error = saying(BREAKDOWN).or(saying("error")).or(text.lines().next());
    let reason = format!("{program} failed: {}", error.unwrap_or("it says nothing"));
    // It may be the disk, which was full for the compiler's own files.
    match text.contains("No space left on device") || text.contains("Too many open files") {
        true => Err(Failure::Passing(reason)),
        false => Err(Failure::Lasting(reason)),
    }
}

/// Puts a program in a process group of its own: an interrupt from the terminal is not for it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

/// Kills what the leader of a process group has started: a compiler is several programs.
fn kill_group(leader: u32) {
    let group = format!("-{leader}");
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
}

/// The processor: its name, and what it can do.
fn machine() -> String {
    let described = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = described.split("\n\n").next().unwrap_or_default();
    let of_interest = |line: &&str| {
        ["model name", "flags", "Features", "CPU part", "CPU implementer"]
            .iter()
            .any(|key| line.starts_with(key))
    };
    let lines: Vec<&str> = first.lines().filter(of_interest).collect();
    format!("{} {}", std::env::consts::ARCH, lines.join(" "))
}
