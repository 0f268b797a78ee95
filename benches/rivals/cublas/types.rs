//! The types that cuBLAS multiplies, and cuBLAS's constants for them.

use super::functions::{Functions, GemmFunction, GemvFunction};
use half::{bf16, f16};
use std::ffi::c_int;
use tilewright::Element;

/// `CUDA_R_8I`.
pub const DATA_TYPE_I8: c_int = 3;

/// `CUDA_R_32I`.
pub const DATA_TYPE_I32: c_int = 10;

/// `CUBLAS_COMPUTE_32F`.
pub const COMPUTE_F32: c_int = 68;

/// `CUBLAS_COMPUTE_32I`.
pub const COMPUTE_I32: c_int = 72;

/// A type that cuBLAS multiplies with f32 accumulators.
pub trait InF32: Element {
    /// Its `cudaDataType_t`.
    const DATA_TYPE: c_int;
}

impl InF32 for f16 {
    /// `CUDA_R_16F`.
    const DATA_TYPE: c_int = 2;
}

impl InF32 for bf16 {
    /// `CUDA_R_16BF`.
    const DATA_TYPE: c_int = 14;
}

impl InF32 for f32 {
    /// `CUDA_R_32F`.
    const DATA_TYPE: c_int = 0;
}

/// A type that cuBLAS multiplies, with its computation type.
pub trait InSums: Element {
    /// Its `cudaDataType_t`.
    const DATA_TYPE: c_int;
    /// The `cublasComputeType_t`.
    const COMPUTE_TYPE: c_int;
    /// 1 and 0 in the type of the sums.
    const ONE_AND_ZERO: [&'static [u8]; 2];
}

macro_rules! in_sums {
    ($($element:ty: $data_type:expr, $compute_type:expr, $one:expr;)*) => {$(
        impl InSums for $element {
            const DATA_TYPE: c_int = $data_type;
            const COMPUTE_TYPE: c_int = $compute_type;
            const ONE_AND_ZERO: [&'static [u8]; 2] = [&$one.to_ne_bytes(), &[0; size_of_val(&$one)]];
        }
    )*};
}
in_sums! {
    f32: <f32 as InF32>::DATA_TYPE, COMPUTE_F32, 1.0_f32;
    f16: <f16 as InF32>::DATA_TYPE, COMPUTE_F32, 1.0_f32;
    bf16: <bf16 as InF32>::DATA_TYPE, COMPUTE_F32, 1.0_f32;
    // `CUDA_R_64F`, `CUBLAS_COMPUTE_64F`.
    f64: 1, 70, 1.0_f64;
}

/// A type that cuBLAS multiplies.
pub trait Gemm: Element {
    const ZERO: Self;
    const ONE: Self;

    fn function(functions: &Functions) -> GemmFunction<Self>;

    fn vector_function(functions: &Functions) -> GemvFunction<Self>;
}

impl Gemm for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn function(functions: &Functions) -> GemmFunction<Self> {
        functions.sgemm
    }

    fn vector_function(functions: &Functions) -> GemvFunction<Self> {
        functions.sgemv
    }
}

impl Gemm for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn function(functions: &Functions) -> GemmFunction<Self> {
        functions.dgemm
    }

    fn vector_function(functions: &Functions) -> GemvFunction<Self> {
        functions.dgemv
    }
}
