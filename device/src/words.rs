//! Why a call of the driver failed, in words.

use std::fmt;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;

/// A call of the driver that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What was to be done.
    pub(crate) action: &'static str,
    pub(crate) error: DriverError,
}

impl Failure {
    /// Whether the device has not enough memory, which harms nothing.
    pub(crate) fn is_memory(&self) -> bool {
        self.error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    /// Whether the driver or the device cannot do it at all, which harms nothing.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.error.0 == CUresult::CUDA_ERROR_NOT_SUPPORTED
    }

    /// Whether there is a driver, but nothing to drive.
    pub(crate) fn is_no_device(&self) -> bool {
        self.error.0 == CUresult::CUDA_ERROR_NO_DEVICE
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |text: Result<&std::ffi::CStr, DriverError>| {
            text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let (name, words) = (said(self.error.error_name()), said(self.error.error_string()));
        match name.is_empty() {
            true => write!(f, "{} failed with error {}", self.action, self.error.0 as u32),
            false => write!(f, "{} failed: {words} ({name})", self.action),
        }
    }
}
