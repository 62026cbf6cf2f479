//! Kernels: "machine code" is their text, and they are compiled for the emulator when they are asked for.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use weft_cuda::Code;
use weft_emulator::{Device, Emulator, Error, Grid, Module, Schedule};

/// What machine code begins with; then the length of the text, in eight bytes.
const MAGIC: &[u8; 8] = b"WEFTCODE";

/// The most parameters of a kernel.
const MOST_PARAMETERS: usize = 63;

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) module: Module,
    /// The bytes of each parameter.
    pub(crate) parameters: Vec<usize>,
}

/// The emulator; nothing where there is no compiler for the host.
///
/// # Panics
/// If there is one and the emulator is not built with it, which ends the process: else its tests would be passed over.
pub(crate) fn emulator() -> Option<&'static Emulator> {
    static EMULATOR: OnceLock<Option<Emulator>> = OnceLock::new();
    let emulator = EMULATOR.get_or_init(|| {
        let emulator = match Emulator::new() {
            Ok(emulator) => emulator,
            Err(Error::Unavailable(_)) => return None,
            Err(error) => panic!("{error}"),
        };
        emulator.expect_beginning(&Code::beginning());
        Some(emulator)
    });
    emulator.as_ref()
}

/// The machine code of a text.
pub(crate) fn encode(text: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &(text.len() as u64).to_le_bytes(), text].concat()
}

/// The text of an image: machine code, or a text that ends with a zero, as PTX does.
///
/// # Safety
/// It is one of these.
pub(crate) unsafe fn decode(image: *const u8) -> String {
    // SAFETY: the caller's; both are longer than the magic word, which has no zero.
    unsafe {
        let begins = (0..8).all(|at| *image.add(at) == MAGIC[at]);
        let text = match begins {
            true => {
                let mut length = [0; 8];
                length.copy_from_slice(std::slice::from_raw_parts(image.add(8), 8));
                let length = u64::from_le_bytes(length) as usize;
                std::slice::from_raw_parts(image.add(16), length)
            }
            false => std::ffi::CStr::from_ptr(image.cast()).to_bytes(),
        };
        String::from_utf8_lossy(text).into_owned()
    }
}

/// Whether a text has a kernel of that name.
pub(crate) fn has(text: &str, name: &str) -> bool {
    text.contains(&format!("{name}("))
}

type Known = Mutex<HashMap<(String, String), Arc<Kernel>>>;

/// A kernel of a text. A device is needed to learn what its parameters are.
pub(crate) fn kernel(device: &mut Device, text: &str, name: &str) -> Result<Arc<Kernel>, Error> {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let key = (text.to_owned(), name.to_owned());
    if let Some(kernel) = known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(Arc::clone(kernel));
    }
    let emulator = emulator().ok_or_else(|| Error::Unavailable("no emulator".into()))?;
    // The launch of a driver does not say how long parameters are, but the compiler knows.
    let probe = format!("weft_probe_{name}");
    let text = format!(
        "{text}\nextern \"C\" __global__ void {probe}(unsigned* sizes) {{\n  \
         unsigned all[{length}] = {{}};\n  all[0] = weft_count({name});\n  weft_sizes({name}, all + 1);\n  \
         for (unsigned at = 0; at < {length}; at++) sizes[at] = all[at];\n}}\n",
        length = MOST_PARAMETERS + 1,
    );
    let module = emulator.compile(&text, &[name, &probe])?;
    let bytes = 4 * (MOST_PARAMETERS as u64 + 1);
    let sizes = device.allocate(bytes, 4, "sizes")?;
    let (parameters, never) = ([sizes.0.to_le_bytes().to_vec()], AtomicBool::new(false));
    let (grid, schedule) = (Grid::linear(1, 1), Schedule::numbered(0));
    device.launch(&module, &probe, grid, &parameters, &schedule, &never)?;
    let words: Vec<usize> = device
        .read(sizes, bytes)?
        .chunks_exact(4)
        .map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte)))
        .collect();
    device.free(sizes)?;
    let parameters = words[1..=words[0].min(MOST_PARAMETERS)].to_vec();
    let kernel = Arc::new(Kernel { name: name.to_owned(), module, parameters });
    known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&kernel));
    Ok(kernel)
}
