//! Calls of the CUDA driver, and their failures.

use super::library;
use std::ffi::CStr;
use std::fmt;

/// A status of the driver other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The number of the `CUresult`.
    pub code: u32,
}

impl Failure {
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub const OUT_OF_MEMORY: Self = Self { code: 2 };
    /// `CUDA_ERROR_STUB_LIBRARY`: the program was started with a libcuda that is only for linking.
    pub const STUB_LIBRARY: Self = Self { code: 34 };
    /// `CUDA_ERROR_NO_DEVICE`.
    pub const NO_DEVICE: Self = Self { code: 100 };
    /// `CUDA_ERROR_NOT_FOUND`: a module has nothing with this name.
    pub const NOT_FOUND: Self = Self { code: 500 };
    /// `CUDA_ERROR_NOT_READY`: the queried work is not complete yet.
    pub const NOT_READY: Self = Self { code: 600 };
    /// `CUDA_ERROR_LAUNCH_FAILED`: for example, a kernel executed `trap`, as a panic does.
    pub const LAUNCH_FAILED: Self = Self { code: 719 };

    /// Whether every later call for the context fails, too.
    ///
    /// These are the failures that the driver API documents for `CUresult` with "the process must be terminated and
    /// relaunched", and the loss of the context or of the hardware.
    pub fn loses_device(self) -> bool {
        const DEINITIALIZED: u32 = 4;
        const DEVICE_UNAVAILABLE: u32 = 46;
        const ECC_UNCORRECTABLE: u32 = 214;
        const NVLINK_UNCORRECTABLE: u32 = 220;
        const CONTAINED: u32 = 226;
        const ILLEGAL_ADDRESS: u32 = 700;
        const LAUNCH_TIMEOUT: u32 = 702;
        const CONTEXT_IS_DESTROYED: u32 = 709;
        const ASSERT: u32 = 710;
        const HARDWARE_STACK_ERROR: u32 = 714;
        const LAUNCH_FAILED: u32 = Failure::LAUNCH_FAILED.code;
        const TENSOR_MEMORY_LEAK: u32 = 721;
        const EXTERNAL_DEVICE: u32 = 911;
        matches!(
            self.code,
            DEINITIALIZED
                | DEVICE_UNAVAILABLE
                | ECC_UNCORRECTABLE
                | NVLINK_UNCORRECTABLE
                | CONTAINED
                | ILLEGAL_ADDRESS
                | LAUNCH_TIMEOUT
                | CONTEXT_IS_DESTROYED
                | ASSERT
                // These include illegal instruction, misaligned address, and invalid address space.
                | HARDWARE_STACK_ERROR
                ..=LAUNCH_FAILED | TENSOR_MEMORY_LEAK | EXTERNAL_DEVICE
        )
    }

    /// The remedy for a failure that may be a kernel's panic, if no panic is recorded.
    pub fn hint(self) -> Option<&'static str> {
        (self == Self::LAUNCH_FAILED).then_some(
            "if a kernel panicked, a build with `CudaBuilder::panic_locations(true)` tells where, \
             and so does the simulator",
        )
    }
}

/// The driver's name and description of the code.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (
            describe("cuGetErrorName", self.code),
            describe("cuGetErrorString", self.code),
        ) {
            (Some(name), Some(words)) => write!(formatter, "{name}, {words}"),
            _ => formatter.write_str("a code that this driver does not describe"),
        }
    }
}

/// The answer of one of the driver's two describing functions for `code`.
fn describe(function: &'static str, code: u32) -> Option<String> {
    let function = library::describe(function)?;
    let mut text = std::ptr::null();
    // SAFETY: the function accepts any code; `text` is valid for one pointer.
    let status = unsafe { function(code, &raw mut text) };
    if status != 0 || text.is_null() {
        return None;
    }
    // SAFETY: on success the driver returns a string that ends with 0 and lives as long as the driver.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// Calls a driver function: `call!(cuInit(0))?`.
///
/// It is an unsafe operation with the requirements of that function. The driver's library must be open, as
/// `library::functions` requires.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::cuda::driver::check(
            ($crate::cuda::library::functions().$function)($($argument),*)
        )
    };
}
pub(crate) use call;

/// Turns a status into success or a failure.
pub fn check(status: u32) -> Result<(), Failure> {
    match status {
        0 => Ok(()),
        code => Err(Failure { code }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_codes_are_described_without_undefined_behaviour() {
        let failure = check(987_654).unwrap_err();
        assert_eq!(failure.code, 987_654);
        assert!(!failure.to_string().is_empty());
        assert!(!failure.loses_device());
    }

    #[test]
    fn faults_of_a_kernel_lose_the_device_and_wrong_calls_do_not() {
        for code in [214, 226, 700, 702, 710, 715, 716, 717, 718, 719] {
            assert!(Failure { code }.loses_device(), "{code}");
        }
        for code in [1, 2, 34, 100, 200, 218, 222, 500, 701, 720, 801, 999] {
            assert!(!Failure { code }.loses_device(), "{code}");
        }
    }

    #[test]
    fn only_the_code_of_a_trapped_kernel_has_the_hint_about_panics() {
        let hint = Failure { code: 719 }.hint().unwrap();
        for remedy in ["CudaBuilder::panic_locations(true)", "simulator"] {
            assert!(hint.contains(remedy), "{hint}");
        }
        for code in [2, 700, 702, 710, 715, 718, 721] {
            assert_eq!(Failure { code }.hint(), None, "{code}");
        }
    }
}
