//! cuBLASLt's functions.

use crate::common::Result;
use crate::rivals::library::open_library;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Names under which the loader may find it, newest first, then CUDA's usual folder.
const LIBRARIES: [&str; 5] = [
    "libcublasLt.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so",
    "/usr/local/cuda/lib64/libcublasLt.so.13",
    "/usr/local/cuda/lib64/libcublasLt.so",
];

pub type Handle = *mut c_void;
pub type Status = c_int;

/// `cublasLtMatmulHeuristicResult_t`: an algorithm is 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Heuristic {
    pub algorithm: [u64; 8],
    pub workspace_bytes: usize,
    pub state: Status,
    waves: f32,
    reserved: [c_int; 4],
}

/// `cublasLtMatmul`: alpha; A, B; beta; C, D, each address with its layout; the algorithm; the workspace.
type MatmulFunction = unsafe extern "C" fn(
    Handle,
    Handle,
    *const c_void,
    *const c_void,
    Handle,
    *const c_void,
    Handle,
    *const c_void,
    *const c_void,
    Handle,
    *mut c_void,
    Handle,
    *const [u64; 8],
    *mut c_void,
    usize,
    *mut c_void,
) -> Status;

type SetAttribute = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> Status;

/// The operation, the layouts of A, B, C and D, the preference, the maximum number of algorithms, and the outputs for
/// them and for their number.
type GetHeuristic = unsafe extern "C" fn(
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    c_int,
    *mut Heuristic,
    *mut c_int,
) -> Status;

pub struct Functions {
    pub create: unsafe extern "C" fn(*mut Handle) -> Status,
    pub create_operation: unsafe extern "C" fn(*mut Handle, c_int, c_int) -> Status,
    pub set_operation: SetAttribute,
    pub create_layout: unsafe extern "C" fn(*mut Handle, c_int, u64, u64, i64) -> Status,
    pub set_layout: SetAttribute,
    pub create_preference: unsafe extern "C" fn(*mut Handle) -> Status,
    pub set_preference: SetAttribute,
    pub get_heuristic: GetHeuristic,
    pub matmul: MatmulFunction,
    pub get_version: unsafe extern "C" fn() -> usize,
}

impl Functions {
    /// Loads the library.
    ///
    /// # Errors
    /// The missing library or function, in one line.
    pub fn load() -> Result<Self> {
        let library = open_library(&LIBRARIES)?;
        // SAFETY: the types are those of cublasLt.h.
        let functions = unsafe {
            Self {
                create: *library.get(c"cublasLtCreate")?,
                create_operation: *library.get(c"cublasLtMatmulDescCreate")?,
                set_operation: *library.get(c"cublasLtMatmulDescSetAttribute")?,
                create_layout: *library.get(c"cublasLtMatrixLayoutCreate")?,
                set_layout: *library.get(c"cublasLtMatrixLayoutSetAttribute")?,
                create_preference: *library.get(c"cublasLtMatmulPreferenceCreate")?,
                set_preference: *library.get(c"cublasLtMatmulPreferenceSetAttribute")?,
                get_heuristic: *library.get(c"cublasLtMatmulAlgoGetHeuristic")?,
                matmul: *library.get(c"cublasLtMatmul")?,
                get_version: *library.get(c"cublasLtGetVersion")?,
            }
        };
        // CUDA's libraries cannot be unloaded safely, and the functions must stay valid.
        std::mem::forget(library);
        Ok(functions)
    }
}

/// Converts a status to an error.
pub fn check(status: Status) -> Result {
    match status {
        0 => Ok(()),
        _ => Err(format!("cuBLASLt's status is {status}").into()),
    }
}

/// Sets an attribute.
///
/// # Safety
/// The handle is alive and one of the function's; the library's headers give the attribute this type.
pub unsafe fn set<A>(
    function: SetAttribute,
    handle: Handle,
    attribute: c_int,
    value: &A,
) -> Result {
    // SAFETY: handle and type: the caller's contract. The value is read during the call.
    check(unsafe {
        function(
            handle,
            attribute,
            ptr::from_ref(value).cast(),
            size_of_val(value),
        )
    })
}
