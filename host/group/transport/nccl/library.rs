//! NCCL's library: opened at run time, with all functions that are called looked up at once.
//!
//! The table is ours, like that of the driver (`host/cuda/library.rs`). Statuses are numbers, because a newer
//! library has codes that today's enum does not have. The functions are those of NCCL 2.14, the first version with
//! communicators whose calls do not block.

use crate::error::{ErrorKind, GroupError, Outcome};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The library's name.
const NAME: &str = "libnccl.so.2";

/// The oldest version with all functions that are called: 2.14.0.
const OLDEST: c_int = 21_400;

/// A success, as `ncclResult_t`.
pub const SUCCESS: u32 = 0;
/// A call in progress, as `ncclResult_t`.
pub const IN_PROGRESS: u32 = 7;

/// Bytes of an `ncclUniqueId`.
pub const ID_BYTES: usize = 128;

/// `ncclUniqueId`, which is passed by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UniqueId(pub [u8; ID_BYTES]);

/// `ncclComm_t`.
pub type Communicator = *mut c_void;

/// `ncclConfig_t` of NCCL 2.14: a newer library uses its own defaults for fields that 2.14 did not have.
#[repr(C)]
pub struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
    /// Padding in 2.14, and a field from 2.17 on: `NCCL_CONFIG_UNDEF_INT`.
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
        /// The functions of NCCL that are called; each returns its status as a number.
        #[expect(non_snake_case, reason = "the names are NCCL's")]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($parameter),*) -> u32,)*
            /// Returns the message for a status.
            describe: unsafe extern "C" fn(u32) -> *const c_char,
        }

        impl Functions {
            /// Looks the functions up; returns the name of one that is missing.
            fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: NCCL's function of this name has these parameters (nccl.h of 2.14), and returns
                        // an enum without negative values.
                        let found = unsafe { library.get(stringify!($name).as_bytes()) };
                        *found.map_err(|_| stringify!($name))?
                    },)*
                    describe: {
                        // SAFETY: `const char *ncclGetErrorString(ncclResult_t)`.
                        let found = unsafe { library.get(b"ncclGetErrorString") };
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
    /// Fails unless `status` is a success.
    pub fn check(&self, status: u32) -> Outcome<()> {
        match status {
            SUCCESS => Ok(()),
            code => Err(self.error(code).into()),
        }
    }

    /// The error for a status that is not a success.
    pub fn error(&self, code: u32) -> GroupError {
        // SAFETY: the function accepts any number, and returns a string that stays valid.
        let words = unsafe { CStr::from_ptr((self.describe)(code)) };
        let message = words.to_string_lossy().into_owned();
        GroupError::Nccl { code, message }
    }
}

/// The library, opened at the first call. It is never closed, because its functions may be called until the process
/// ends. A failure is not kept.
pub fn open() -> Outcome<&'static Functions> {
    static LIBRARY: OnceLock<(Library, Functions)> = OnceLock::new();
    if let Some((_, functions)) = LIBRARY.get() {
        return Ok(functions);
    }
    // SAFETY: the initialisers that run when the library is loaded are NVIDIA's, and meant to run this way.
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
