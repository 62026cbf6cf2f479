//! Control of the stand-in for the driver (`stand-in/`), where it is what the system's loader finds: for
//! tests of what happens when the device fails.
#![allow(unsafe_code, reason = "calls of a C library; each block says why it is sound")]

use std::ffi::{CStr, c_char};
use std::time::Duration;

use libloading::{Library, Symbol};

/// The stand-in, loaded.
#[derive(Debug)]
pub struct StandIn {
    library: Library,
}

impl StandIn {
    /// The stand-in, if it is what is found as the driver.
    pub fn find() -> Option<StandIn> {
        // SAFETY: the driver, or what stands in for it, is loaded anyhow.
        let library = unsafe { Library::new("libcuda.so") }.ok()?;
        // SAFETY: only whether it is there is of interest.
        let known = unsafe { library.get::<unsafe extern "C" fn() -> u64>(b"weft_stand_in_calls") };
        known.is_ok().then_some(())?;
        Some(StandIn { library })
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.count(b"weft_stand_in_calls")
    }

    /// The functions of the driver that were called since this was asked for last, how often, and how long they took.
    pub fn profile(&self) -> Vec<(String, u64, Duration)> {
        // SAFETY: the stand-in has this function, with this type; the text is as it says.
        let text = unsafe {
            let profile: Result<Symbol<'_, unsafe extern "C" fn() -> *mut c_char>, _> =
                self.library.get(b"weft_stand_in_profile");
            profile.map(|profile| CStr::from_ptr(profile()).to_string_lossy().into_owned())
        };
        let text = text.unwrap_or_default();
        let lines = text.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (name, count) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
            Some((name, count, Duration::from_nanos(words.next()?.parse().ok()?)))
        });
        lines.collect()
    }

    /// How many kernels were launched, whether they have begun or not.
    pub fn launches(&self) -> u64 {
        self.count(b"weft_stand_in_launches")
    }

    /// How many kernels have begun.
    pub fn begun(&self) -> u64 {
        self.count(b"weft_stand_in_begun")
    }

    /// How often kernels accessed memory since somebody last interrupted them, as far as they have ended.
    pub fn late_accesses(&self) -> u64 {
        self.count(b"weft_stand_in_late_accesses")
    }

    /// What a function says that counts something.
    fn count(&self, name: &[u8]) -> u64 {
        // SAFETY: the stand-in's functions that count have this type.
        unsafe {
            let count: Result<Symbol<'_, unsafe extern "C" fn() -> u64>, _> =
                self.library.get(name);
            count.map_or(0, |count| count())
        }
    }

    /// Has the `number`-th call from now fail (1 is the next); with `sticky`, all later ones too until a
    /// context is destroyed. 0: none.
    pub fn fail(&self, number: u64, sticky: bool) {
        // SAFETY: the stand-in has this function, with this type.
        unsafe {
            let fail: Result<Symbol<'_, unsafe extern "C" fn(u64, i32)>, _> =
                self.library.get(b"weft_stand_in_fail");
            if let Ok(fail) = fail {
                fail(number, i32::from(sticky));
            }
        }
    }

    /// How many kernels of graphs have begun.
    pub fn begun_in_graphs(&self) -> u64 {
        self.count(b"weft_stand_in_begun_in_graphs")
    }

    /// Calls a function that takes a number.
    fn tell<T>(&self, name: &[u8], number: T) {
        // SAFETY: what is named here are functions of the stand-in, with these types.
        unsafe {
            let tell: Result<Symbol<'_, unsafe extern "C" fn(T)>, _> = self.library.get(name);
            if let Ok(tell) = tell {
                tell(number);
            }
        }
    }

    /// Whether the driver knows graphs.
    pub fn set_graphs(&self, known: bool) {
        self.tell(b"weft_stand_in_graphs", i32::from(known));
    }

    /// Whether the last stream comes first, as far as events allow; else the first one does.
    pub fn set_last_first(&self, is_so: bool) {
        self.tell(b"weft_stand_in_order", i32::from(is_so));
    }

    /// How many milliseconds kernels of graphs take more than they would.
    pub fn set_delay(&self, milliseconds: u64) {
        self.tell(b"weft_stand_in_delay", milliseconds);
    }

    /// How many milliseconds the compiler takes more than it would.
    pub fn set_compiling(&self, milliseconds: u64) {
        self.tell(b"weft_stand_in_compiling", milliseconds);
    }

    /// Which release of CUDA the driver is for: 1000 times the first number and 10 times the second.
    pub fn set_release(&self, release: i32) {
        self.tell(b"weft_stand_in_release", release);
    }

    /// Of which release the compiler is: 1000 times the first number and 10 times the second.
    pub fn set_compiler(&self, release: i32) {
        self.tell(b"weft_stand_in_compiler", release);
    }

    /// Whether no context can be made.
    pub fn set_refusing(&self, is_so: bool) {
        self.tell(b"weft_stand_in_refuse", i32::from(is_so));
    }

    /// How many bytes contexts had that were thrown away without giving them back.
    pub fn lost_bytes(&self) -> u64 {
        self.count(b"weft_stand_in_lost")
    }

    /// How many bytes contexts have, with what their pools keep.
    pub fn used_bytes(&self) -> u64 {
        self.count(b"weft_stand_in_used")
    }

    /// How many devices there are: one or none.
    pub fn set_devices(&self, count: i32) {
        self.tell(b"weft_stand_in_devices", count);
    }

    /// The first number of the architecture of the device.
    pub fn set_architecture(&self, major: i32) {
        self.tell(b"weft_stand_in_architecture", major);
    }

    /// How many bytes the device has.
    pub fn set_memory(&self, bytes: u64) {
        self.tell(b"weft_stand_in_memory", bytes);
    }
}
