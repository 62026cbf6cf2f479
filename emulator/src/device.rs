//! The device as the host sees it: memory, modules and launches, by requests to its process.

use std::collections::BTreeMap;
use std::io::{BufWriter, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{Emulator, Error, Module, Schedule};

/// Where a buffer lies on the device; kernels take it as a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

/// The blocks of a launch, and the threads of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Along x, y and z.
    pub blocks: [u32; 3],
    /// Along x, y and z.
    pub threads: [u32; 3],
}

impl Grid {
    /// So many blocks of so many threads, along x.
    pub fn linear(blocks: u32, threads: u32) -> Grid {
        Grid { blocks: [blocks, 1, 1], threads: [threads, 1, 1] }
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads that ran.
    pub threads: u64,
    /// How often a thread made room for another.
    pub switches: u64,
    /// Accesses to global and shared memory.
    pub accesses: u64,
    /// Barriers that blocks passed.
    pub barriers: u64,
    /// Equal for equal orders of events.
    pub trace: u64,
    /// Bytes of shared memory that the module's kernels declare, all together.
    pub shared_bytes: u64,
    /// Accesses since the host first changed memory while it ran ([`Poker::poke`]), if it did.
    pub late_accesses: Option<u64>,
}

type Answer = Result<Vec<u8>, Error>;

type Requests = Arc<Mutex<BufWriter<ChildStdin>>>;

/// Changes memory of a device while a kernel runs there, as a copy in another stream does.
#[derive(Clone, Debug)]
pub struct Poker {
    requests: Requests,
}

impl Poker {
    /// Changes four bytes of a buffer. A device that has ended has nothing to change.
    pub fn poke(&self, address: Address, value: u32) {
        let mut bytes = request(b'p', &[address.0]);
        bytes.extend(value.to_le_bytes());
        // Whoever waits for an answer learns that it has ended.
        drop(send(&self.requests, &bytes));
    }
}

fn send(requests: &Requests, bytes: &[u8]) -> std::io::Result<()> {
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    requests.write_all(bytes).and_then(|()| requests.flush())
}

/// An emulated device: a process. What it holds is gone when this is dropped.
#[derive(Debug)]
pub struct Device {
    child: Child,
    requests: Requests,
    answers: Receiver<Answer>,
    modules: BTreeMap<Module, u64>,
}

impl Device {
    /// Starts one.
    ///
    /// # Errors
    /// [`Error::Broken`] if the process does not start.
    pub fn new(emulator: &Emulator) -> Result<Device, Error> {
        let child = Command::new(emulator.runner())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.map_err(|error| Error::Broken(error.to_string()))?;
        let (Some(stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Broken("the device has no streams".into()));
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            while let Some(answer) = receive(&mut stdout) {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        let requests = Arc::new(Mutex::new(BufWriter::new(stdin)));
        Ok(Device { child, requests, answers, modules: BTreeMap::new() })
    }

    /// What changes its memory while it runs a kernel.
    pub fn poker(&self) -> Poker {
        Poker { requests: Arc::clone(&self.requests) }
    }

    /// A buffer of that many bytes, which hold garbage. `element` is the number of bytes of an
    /// element, `name` what reports call it.
    ///
    /// # Errors
    /// If the device has ended.
    pub fn allocate(&mut self, bytes: u64, element: u32, name: &str) -> Result<Address, Error> {
        let mut request = vec![b'a'];
        request.extend(bytes.to_le_bytes());
        request.extend(element.to_le_bytes());
        put_text(&mut request, name);
        Ok(Address(number(&self.request(&request, None)?)))
    }

    /// Gives a buffer back.
    ///
    /// # Errors
    /// If the device has ended.
    pub fn free(&mut self, address: Address) -> Result<(), Error> {
        self.request(&request(b'f', &[address.0]), None).map(drop)
    }

    /// Copies bytes to the device.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), Error> {
        let mut request = request(b'w', &[address.0, bytes.len() as u64]);
        request.extend_from_slice(bytes);
        self.request(&request, None).map(drop)
    }

    /// Copies bytes from the device.
    ///
    /// # Errors
    /// If there are not so many, or if nobody wrote some of them.
    pub fn read(&mut self, address: Address, bytes: u64) -> Result<Vec<u8>, Error> {
        self.request(&request(b'r', &[address.0, bytes]), None)
    }

    /// Copies bytes on the device.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn copy(&mut self, to: Address, from: Address, bytes: u64) -> Result<(), Error> {
        self.request(&request(b'c', &[to.0, from.0, bytes]), None).map(drop)
    }

    /// Makes all bytes one value.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn fill(&mut self, address: Address, bytes: u64, value: u8) -> Result<(), Error> {
        let mut request = request(b's', &[address.0, bytes]);
        request.push(value);
        self.request(&request, None).map(drop)
    }

    /// Runs a kernel to its end. The arguments are the bytes of the kernel's parameters.
    ///
    /// # Errors
    /// [`Error::Report`] with what the kernel did wrong; [`Error::Interrupted`] if `cancel` is set,
    /// after which the device is of no use.
    pub fn launch(
        &mut self,
        module: &Module,
        kernel: &str,
        grid: Grid,
        arguments: &[Vec<u8>],
        schedule: &Schedule,
        cancel: &AtomicBool,
    ) -> Result<Statistics, Error> {
        let loaded = self.loaded(module)?;
        let mut request = request(b'l', &[loaded]);
        put_text(&mut request, kernel);
        for extent in grid.blocks.iter().chain(&grid.threads) {
            request.extend(extent.to_le_bytes());
        }
        let order = schedule.order as u32;
        for field in [order, schedule.resident, schedule.preempt] {
            request.extend(field.to_le_bytes());
        }
        request.extend(schedule.seed.to_le_bytes());
        request.extend(schedule.patience.to_le_bytes());
        request.extend((arguments.len() as u32).to_le_bytes());
        for argument in arguments {
            request.extend((argument.len() as u32).to_le_bytes());
            request.extend_from_slice(argument);
        }
        let answer = self.request(&request, Some(cancel))?;
        let mut fields = answer.chunks_exact(8).map(number);
        let mut field = || fields.next().unwrap_or_default();
        Ok(Statistics {
            blocks: field(),
            threads: field(),
            switches: field(),
            accesses: field(),
            barriers: field(),
            trace: field(),
            shared_bytes: field(),
            late_accesses: Some(field()).filter(|late| *late != u64::MAX),
        })
    }

    fn loaded(&mut self, module: &Module) -> Result<u64, Error> {
        if let Some(&number) = self.modules.get(module) {
            return Ok(number);
        }
        let mut request = vec![b'm'];
        put_text(&mut request, &module.path.to_string_lossy());
        let loaded = number(&self.request(&request, None)?);
        self.modules.insert(module.clone(), loaded);
        Ok(loaded)
    }

    fn request(&mut self, request: &[u8], cancel: Option<&AtomicBool>) -> Answer {
        if send(&self.requests, request).is_err() {
            return Err(self.died());
        }
        loop {
            match self.answers.recv_timeout(Duration::from_millis(20)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) => {
                    if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                        // It may have ended by itself.
                        drop(self.child.kill());
                        return Err(Error::Interrupted);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    fn died(&mut self) -> Error {
        Error::Died(match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn request(kind: u8, fields: &[u64]) -> Vec<u8> {
    let mut request = vec![kind];
    fields.iter().for_each(|field| request.extend(field.to_le_bytes()));
    request
}

fn put_text(request: &mut Vec<u8>, text: &str) {
    request.extend((text.len() as u32).to_le_bytes());
    request.extend_from_slice(text.as_bytes());
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The next answer; nothing when the device has ended.
fn receive(stream: &mut impl Read) -> Option<Answer> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let mut bytes = vec![0; usize::try_from(number(&head[1..])).ok()?];
    stream.read_exact(&mut bytes).ok()?;
    Some(match head[0] {
        0 => Ok(bytes),
        _ => Err(Error::Report(String::from_utf8_lossy(&bytes).into_owned())),
    })
}
