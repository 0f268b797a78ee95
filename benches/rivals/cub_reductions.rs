//! CUB's reductions other than sums, of f32, and scans, compiled by nvcc when the benchmark starts.

use super::cub::{compile_library, error_of, pointer};
use crate::common::Result;
use libloading::Library;
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;
use tilewright::{Buffer, Device, Element, Matrix};

const SOURCE: &str = include_str!("cub_reductions.cu");

/// Bytes of the largest result, the place of a maximum.
pub const RESULT_BYTES: usize = 16;

/// Temporary memory and its size; both arrays, result, number of elements; stream.
type Reduction = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    *const c_void,
    *mut c_void,
    c_int,
    *mut c_void,
) -> c_int;

/// Temporary memory and its size; matrix, result, rows, columns; stream.
type OfRows = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    *mut c_void,
) -> c_int;

/// Temporary memory and its size; array, offsets, sums, number of segments; stream.
type OfSegments = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    *const c_void,
    *mut c_void,
    c_int,
    *mut c_void,
) -> c_int;

/// Temporary memory and its size; array, sums, number of elements; stream.
type Scan = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    *mut c_void,
    c_int,
    *mut c_void,
) -> c_int;

/// CUB's reductions of f32 in the stream of one device.
pub struct CubReductions {
    device: Device,
    library: &'static Library,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl CubReductions {
    /// Compiles CUB for `device`.
    ///
    /// # Errors
    /// The missing tool or library, in one line.
    pub fn compile(device: &Device) -> Result<Self> {
        let library = compile_library(device, SOURCE, &[])?;
        Ok(Self {
            device: device.clone(),
            library,
            // SAFETY: the type is that of the source.
            error_text: unsafe { *library.get(c"error_text")? },
        })
    }

    /// A function that enqueues the reduction of this name in the source, of `x` and, where it has two
    /// arrays, `y`, a number of times.
    pub fn reduction(
        &self,
        name: &str,
        x: Rc<Buffer<f32>>,
        y: Rc<Buffer<f32>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<u8>) -> Result + use<>> {
        // SAFETY: every reduction of the source has this type.
        let function: Reduction = unsafe { *self.library.get(name)? };
        let (device, error_text) = (self.device.clone(), self.error_text);
        let count = c_int::try_from(x.len())?;
        let mut bytes = 0;
        let mut call = move |temporary: u64, calls: u64, result: &Buffer<u8>| -> Result<usize> {
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let address = |buffer: &Buffer<f32>| pointer(buffer.device_address()).cast_const();
            device.with_current(|| {
                for _ in 0..calls {
                    // SAFETY: `x` and `y` have `count` elements and `result` room for a result;
                    // temporary memory is none, or as large as an earlier call said. All are on
                    // the device whose context is current, and freed only after the work in its
                    // stream.
                    let error = unsafe {
                        function(
                            pointer(temporary),
                            &raw mut bytes,
                            address(&x),
                            address(&y),
                            pointer(result.device_address()),
                            count,
                            stream.as_ptr(),
                        )
                    };
                    error_of(error, error_text)?;
                }
                Ok(bytes)
            })?
        };
        let result = self.device.zeros(RESULT_BYTES)?;
        let bytes = call(0, 1, &result)?;
        let temporary = self.device.uninit::<u8>(bytes.max(1))?;
        Ok(move |calls, result: &mut Buffer<u8>| {
            call(temporary.device_address(), calls, result).map(drop)
        })
    }

    /// A function that enqueues the sums of the rows of a row-major matrix a number of times.
    pub fn sum_of_rows(
        &self,
        matrix: Rc<Matrix<f32>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<f32>) -> Result + use<>> {
        // SAFETY: the function of this name has this type.
        let function: OfRows = unsafe { *self.library.get("sum_of_rows")? };
        let (device, error_text) = (self.device.clone(), self.error_text);
        let rows = c_int::try_from(matrix.rows())?;
        let columns = c_int::try_from(matrix.cols())?;
        let mut bytes = 0;
        let mut call = move |temporary: u64, calls: u64, sums: u64| -> Result<usize> {
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let x = pointer(matrix.view().device_address()).cast_const();
            let (temporary, sums) = (pointer(temporary), pointer(sums));
            device.with_current(|| {
                for _ in 0..calls {
                    // SAFETY: the matrix has `rows` times `columns` elements and the result `rows`, or
                    // nothing is written, where there is no temporary memory; otherwise it is as large
                    // as an earlier call said. All are on the device whose context is current, and
                    // freed only after the work in its stream.
                    let error = unsafe {
                        let stream = stream.as_ptr();
                        function(temporary, &raw mut bytes, x, sums, rows, columns, stream)
                    };
                    error_of(error, error_text)?;
                }
                Ok(bytes)
            })?
        };
        let bytes = call(0, 1, 0)?;
        let temporary = self.device.uninit::<u8>(bytes.max(1))?;
        Ok(move |calls, sums: &mut Buffer<f32>| {
            call(temporary.device_address(), calls, sums.device_address()).map(drop)
        })
    }

    /// A function that enqueues the sums of the segments of `x` a number of times: where each segment
    /// starts and the last one ends are the offsets.
    pub fn sum_of_segments(
        &self,
        x: Rc<Buffer<f32>>,
        offsets: Buffer<u64>,
    ) -> Result<impl FnMut(u64, &mut Buffer<f32>) -> Result + use<>> {
        // SAFETY: the function of this name has this type.
        let function: OfSegments = unsafe { *self.library.get("sum_of_segments")? };
        let (device, error_text) = (self.device.clone(), self.error_text);
        let segments = c_int::try_from(offsets.len() - 1)?;
        let mut bytes = 0;
        let mut call = move |temporary: u64, calls: u64, sums: u64| -> Result<usize> {
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let address = |address: u64| pointer(address).cast_const();
            let (x, offsets) = (
                address(x.device_address()),
                address(offsets.device_address()),
            );
            let (temporary, sums) = (pointer(temporary), pointer(sums));
            device.with_current(|| {
                for _ in 0..calls {
                    // SAFETY: the offsets are one more than segments and lie within `x`, and there is a
                    // sum for each, or nothing is written, where there is no temporary memory; otherwise
                    // it is as large as an earlier call said. All are on the device whose context is
                    // current, and freed only after the work in its stream.
                    let error = unsafe {
                        let stream = stream.as_ptr();
                        function(
                            temporary,
                            &raw mut bytes,
                            x,
                            offsets,
                            sums,
                            segments,
                            stream,
                        )
                    };
                    error_of(error, error_text)?;
                }
                Ok(bytes)
            })?
        };
        let bytes = call(0, 1, 0)?;
        let temporary = self.device.uninit::<u8>(bytes.max(1))?;
        Ok(move |calls, sums: &mut Buffer<f32>| {
            call(temporary.device_address(), calls, sums.device_address()).map(drop)
        })
    }

    /// A function that enqueues the scan of this name in the source, of `x`, a number of times.
    pub fn scan<T: Element>(
        &self,
        name: &str,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<T>) -> Result + use<T>> {
        // SAFETY: every scan of the source has this type.
        let function: Scan = unsafe { *self.library.get(name)? };
        let (device, error_text) = (self.device.clone(), self.error_text);
        let count = c_int::try_from(x.len())?;
        let mut bytes = 0;
        let mut call = move |temporary: u64, calls: u64, sums: u64| -> Result<usize> {
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let x = pointer(x.device_address()).cast_const();
            let (temporary, sums) = (pointer(temporary), pointer(sums));
            device.with_current(|| {
                for _ in 0..calls {
                    // SAFETY: `x` and the sums have `count` elements, or nothing is written, where there
                    // is no temporary memory; otherwise it is as large as an earlier call said. All are
                    // on the device whose context is current, and freed only after the work in its
                    // stream.
                    let error = unsafe {
                        let stream = stream.as_ptr();
                        function(temporary, &raw mut bytes, x, sums, count, stream)
                    };
                    error_of(error, error_text)?;
                }
                Ok(bytes)
            })?
        };
        let bytes = call(0, 1, 0)?;
        let temporary = self.device.uninit::<u8>(bytes.max(1))?;
        Ok(move |calls, sums: &mut Buffer<T>| {
            call(temporary.device_address(), calls, sums.device_address()).map(drop)
        })
    }
}
