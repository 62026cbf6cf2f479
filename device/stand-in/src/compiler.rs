//! The functions of libnvrtc.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::faults;
use crate::kernels::encode;
use crate::objects::Objects;

const SUCCESS: c_int = 0;
const INVALID_PROGRAM: c_int = 4;
const COMPILATION: c_int = 6;
const INTERNAL: c_int = 11;

/// The architecture of the device.
const ARCHITECTURE: c_int = 90;

static PROGRAMS: Objects<Arc<Vec<u8>>> = Objects::new(7000);

/// Counts the call, and does it.
fn call(action: impl FnOnce() -> Option<()>) -> c_int {
    match faults::fails() {
        true => INTERNAL,
        false => action().map_or(INVALID_PROGRAM, |()| SUCCESS),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    call(|| {
        // Not a release that there ever was: its code must not be taken for that of a compiler.
        // SAFETY: the contract of the function.
        unsafe {
            (*major, *minor) = faults::compiler();
        }
        Some(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> c_int {
    call(|| {
        // SAFETY: the contract of the function.
        unsafe { *count = 1 };
        Some(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcGetSupportedArchs(architectures: *mut c_int) -> c_int {
    call(|| {
        // SAFETY: the contract of the function.
        unsafe { *architectures = ARCHITECTURE };
        Some(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcCreateProgram(
    program: *mut *mut c_void,
    source: *const c_char,
    _name: *const c_char,
    _headers: c_int,
    _texts: *const *const c_char,
    _names: *const *const c_char,
) -> c_int {
    call(|| {
        // SAFETY: the contract of the function.
        unsafe { *program = PROGRAMS.add(Arc::new(CStr::from_ptr(source).to_bytes().to_vec())) };
        Some(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcCompileProgram(
    program: *mut c_void,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    let mut wanted = false;
    let answer = call(|| {
        for at in 0..count as usize {
            // SAFETY: the contract of the function.
            let option = unsafe { CStr::from_ptr(*options.add(at)) };
            wanted |= option == c"--gpu-architecture=sm_90";
        }
        thread::sleep(Duration::from_millis(faults::compiling()));
        PROGRAMS.get(program).map(drop)
    });
    // Whether the text is right is found out when a kernel is asked for; who else is compiled for?
    if answer == SUCCESS && !wanted { COMPILATION } else { answer }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcGetProgramLogSize(program: *mut c_void, size: *mut usize) -> c_int {
    call(|| {
        // SAFETY: the contract of the function.
        unsafe { *size = 1 };
        PROGRAMS.get(program).map(drop)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcGetProgramLog(program: *mut c_void, log: *mut c_char) -> c_int {
    call(|| {
        // SAFETY: the contract of the function.
        unsafe { *log = 0 };
        PROGRAMS.get(program).map(drop)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcGetCUBINSize(program: *mut c_void, size: *mut usize) -> c_int {
    call(|| {
        let text = PROGRAMS.get(program)?;
        // SAFETY: the contract of the function.
        unsafe { *size = encode(&text).len() };
        Some(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcGetCUBIN(program: *mut c_void, code: *mut c_char) -> c_int {
    call(|| {
        let image = encode(&PROGRAMS.get(program)?);
        // SAFETY: the contract of the function: there is room for all.
        unsafe { ptr::copy_nonoverlapping(image.as_ptr(), code.cast(), image.len()) };
        Some(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvrtcDestroyProgram(program: *mut *mut c_void) -> c_int {
    // SAFETY: the contract of the function.
    call(|| PROGRAMS.remove(unsafe { *program }).map(drop))
}
