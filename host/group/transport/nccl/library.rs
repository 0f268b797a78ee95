//! NCCL's library: opened at run time, with the functions that are called looked up at once.
//!
//! The table is this file's, as that of the driver is (`host/cuda/library.rs`): statuses are numbers, because a
//! newer library has codes that no enum of today has. The functions are those of NCCL 2.14, which was the first
//! to have communicators whose calls do not block.

use crate::error::{ErrorKind, GroupError, Outcome};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The library's name.
const NAME: &str = "libnccl.so.2";

/// The oldest version with all that is called: 2.14.0.
const OLDEST: c_int = 21_400;

/// Of a `ncclResult_t`.
pub const SUCCESS: u32 = 0;
/// Of a `ncclResult_t`: the call goes on.
pub const IN_PROGRESS: u32 = 7;

/// `ncclUniqueId`.
pub const ID_BYTES: usize = 128;

/// `ncclUniqueId`, which is passed by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UniqueId(pub [u8; ID_BYTES]);

/// `ncclComm_t`.
pub type Communicator = *mut c_void;

/// `ncclConfig_t` of NCCL 2.14: a newer library takes its own defaults for what that did not have.
#[repr(C)]
pub struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
    /// Padding here, and a field from 2.17 on: `NCCL_CONFIG_UNDEF_INT`.
    undefined: c_int,
}

impl Config {
    /// Calls return before they are done.
    pub const NON_BLOCKING: Self = Self {
        size: size_of::<Self>(),
        magic: 0xcafe_beef,
        version: OLDEST as u32,
        blocking: 0,
        undefined: c_int::MIN,
    };
}

/// `ncclUint8`.
pub const BYTES: c_int = 1;

macro_rules! functions {
    ($($name:ident($($parameter:ty),* $(,)?);)*) => {
        /// NCCL's functions that are called, each returning its status as a number.
        #[expect(non_snake_case, reason = "the names are NCCL's")]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($parameter),*) -> u32,)*
            /// The words for a status.
            describe: unsafe extern "C" fn(u32) -> *const c_char,
        }

        impl Functions {
            /// The function that is missing, if one is.
            fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: NCCL's function of this name has these parameters (nccl.h of 2.14), and
                        // returns an enum without negative values.
                        let found = unsafe { library.get(stringify!($name)) };
                        *found.map_err(|_| stringify!($name))?
                    },)*
                    describe: {
                        // SAFETY: `const char *ncclGetErrorString(ncclResult_t)`.
                        let found = unsafe { library.get("ncclGetErrorString") };
                        *found.map_err(|_| "ncclGetErrorString")?
                    },
                })
            }
        }
    };
}

functions! {
    ncclGetVersion(*mut c_int);
    ncclGetUniqueId(*mut UniqueId);
    ncclCommInitRankConfig(*mut Communicator, c_int, UniqueId, c_int, *mut Config);
    ncclCommGetAsyncError(Communicator, *mut u32);
    ncclCommFinalize(Communicator);
    ncclCommDestroy(Communicator);
    ncclCommAbort(Communicator);
    ncclGroupStart();
    ncclGroupEnd();
    ncclSend(*const c_void, usize, c_int, c_int, Communicator, *mut c_void);
    ncclRecv(*mut c_void, usize, c_int, c_int, Communicator, *mut c_void);
}

impl Functions {
    /// The error for a status that is none of success.
    pub fn error(&self, code: u32) -> GroupError {
        // SAFETY: the function takes any number, and returns a string that stays.
        let words = unsafe { CStr::from_ptr((self.describe)(code)) };
        let message = words.to_string_lossy().into_owned();
        GroupError::Nccl { code, message }
    }
}

/// The library, opened now or before: it is never closed, because functions of it may be called until the process
/// ends. A failure is not kept.
pub fn open() -> Outcome<&'static Functions> {
    static LIBRARY: OnceLock<(Library, Functions)> = OnceLock::new();
    if let Some((_, functions)) = LIBRARY.get() {
        return Ok(functions);
    }
    // SAFETY: what NCCL's library does when it is loaded is NVIDIA's, and made for this.
    let library = unsafe { Library::new(NAME) }.map_err(|error| absent(error.to_string()))?;
    let functions = Functions::find(&library)
        .map_err(|function| absent(format!("it has no function `{function}`")))?;
    let mut version = 0;
    // SAFETY: `version` is a place for one number.
    let status = unsafe { (functions.ncclGetVersion)(&raw mut version) };
    if status != SUCCESS || version < OLDEST {
        return Err(absent(format!(
            "its version is {version}, and {OLDEST} is needed"
        )));
    }
    let (_, functions) = LIBRARY.get_or_init(|| (library, functions));
    Ok(functions)
}

fn absent(reason: String) -> ErrorKind {
    let library = NAME;
    GroupError::NoNccl { library, reason }.into()
}
