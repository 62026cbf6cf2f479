//! Memory of the host that is pinned: copies from it never wait for what is queued.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::{INVALID_VALUE, SUCCESS, call};

/// Blocks by their addresses.
static BLOCKS: Mutex<BTreeMap<usize, Box<[u64]>>> = Mutex::new(BTreeMap::new());

fn blocks() -> MutexGuard<'static, BTreeMap<usize, Box<[u64]>>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether these bytes begin such a block.
pub(crate) fn is_pinned(address: *const c_void) -> bool {
    blocks().contains_key(&address.addr())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, _: c_uint) -> c_int {
    call(|_| {
        let mut block = vec![0; bytes.div_ceil(8).max(1)].into_boxed_slice();
        let begin: *mut c_void = block.as_mut_ptr().cast();
        blocks().insert(begin.addr(), block);
        // SAFETY: the contract of the function.
        unsafe { *address = begin };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(address: *mut c_void) -> c_int {
    call(|_| match blocks().remove(&address.addr()) {
        Some(_) => SUCCESS,
        None => INVALID_VALUE,
    })
}
