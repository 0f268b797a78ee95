//! The functions of cuBLAS, loaded when the benchmark starts.

use super::super::library::open_library;
use crate::common::Result;
use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};

/// Names under which the loader may find it, newest first, then CUDA's usual folder.
const LIBRARIES: [&str; 5] = [
    "libcublas.so.13",
    "libcublas.so.12",
    "libcublas.so",
    "/usr/local/cuda/lib64/libcublas.so.13",
    "/usr/local/cuda/lib64/libcublas.so",
];

pub type Handle = *mut c_void;
pub type Status = c_int;

/// `cublasSgemm_v2` or `cublasDgemm_v2`: op(A), op(B); m, n, k; alpha; A, its leading dimension;
/// B, likewise; beta; C, likewise. Matrices are column-major.
pub type GemmFunction<T> = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const T,
    *const T,
    c_int,
    *const T,
    c_int,
    *const T,
    *mut T,
    c_int,
) -> Status;

/// `cublasSgemv_v2` or `cublasDgemv_v2`: op(A); m, n; alpha; A, its leading dimension; x and y, each with
/// the elements from one to the next; beta before y. A is column-major.
pub type GemvFunction<T> = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    *const T,
    *const T,
    c_int,
    *const T,
    c_int,
    *const T,
    *mut T,
    c_int,
) -> Status;

/// `cublasGemmEx`: like `cublasSgemm_v2`, with each matrix's type after its address, and the computation type and the
/// algorithm at the end. The scalars have the computation type, f32 or i32.
pub type GemmExFunction = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    c_int,
    c_int,
    *const f32,
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

/// `cublasGemmStridedBatchedEx`: like `cublasGemmEx`, with the distance between matrices after each leading
/// dimension, and their number before the computation type.
pub type GemmBatchFunction = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    *const c_void,
    c_int,
    c_int,
    c_longlong,
    *const c_void,
    c_int,
    c_int,
    c_longlong,
    *const f32,
    *mut c_void,
    c_int,
    c_int,
    c_longlong,
    c_int,
    c_int,
    c_int,
) -> Status;

/// The functions of the library.
pub struct Functions {
    pub create: unsafe extern "C" fn(*mut Handle) -> Status,
    pub destroy: unsafe extern "C" fn(Handle) -> Status,
    pub set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    pub set_math_mode: unsafe extern "C" fn(Handle, c_int) -> Status,
    pub get_version: unsafe extern "C" fn(Handle, *mut c_int) -> Status,
    status_text: unsafe extern "C" fn(Status) -> *const c_char,
    pub sgemm: GemmFunction<f32>,
    pub dgemm: GemmFunction<f64>,
    pub sgemv: GemvFunction<f32>,
    pub dgemv: GemvFunction<f64>,
    pub gemm_ex: GemmExFunction,
    pub gemm_batch: GemmBatchFunction,
}

impl Functions {
    pub fn load() -> Result<Self> {
        let library = open_library(&LIBRARIES)?;
        // SAFETY: the types are those of cublas_v2.h.
        let functions = unsafe {
            Self {
                create: *library.get(c"cublasCreate_v2")?,
                destroy: *library.get(c"cublasDestroy_v2")?,
                set_stream: *library.get(c"cublasSetStream_v2")?,
                set_math_mode: *library.get(c"cublasSetMathMode")?,
                get_version: *library.get(c"cublasGetVersion_v2")?,
                status_text: *library.get(c"cublasGetStatusString")?,
                sgemm: *library.get(c"cublasSgemm_v2")?,
                dgemm: *library.get(c"cublasDgemm_v2")?,
                sgemv: *library.get(c"cublasSgemv_v2")?,
                dgemv: *library.get(c"cublasDgemv_v2")?,
                gemm_ex: *library.get(c"cublasGemmEx")?,
                gemm_batch: *library.get(c"cublasGemmStridedBatchedEx")?,
            }
        };
        // CUDA's libraries cannot be unloaded safely, and the functions must stay valid.
        std::mem::forget(library);
        Ok(functions)
    }

    /// Converts a status to an error.
    pub fn check(&self, status: Status) -> Result {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any number and returns a static string.
        let text = unsafe { CStr::from_ptr((self.status_text)(status)) };
        Err(format!("cuBLAS says {} ({status})", text.to_string_lossy()).into())
    }
}
