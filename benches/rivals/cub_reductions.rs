//! CUB's reductions other than sums, of f32, and scans.

use super::nvcc::{self, ErrorText, HEADERS, Source, error_of, pointer, version_of};
use crate::common::Result;
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tilewright::{Buffer, Device, Element, Matrix};

const SOURCE: &str = include_str!("cub_reductions.cu");

/// The first version with sums of segments of one size, as `CUB_VERSION` has it.
const FIRST_WITH_FIXED_SIZES: c_int = 300_100;

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

/// The description of an array's segments for CUB.
#[derive(Clone, Copy)]
pub enum Segments {
    OfOneSize,
    BetweenOffsets,
}

/// CUB's reductions of f32 in the stream of one device.
pub struct CubReductions {
    device: Device,
    library: &'static Library,
    error_text: ErrorText,
}

impl CubReductions {
    /// The one library.
    pub fn sources() -> Vec<Source> {
        vec![Source {
            name: "cub-reductions".to_owned(),
            text: SOURCE,
            options: Vec::new(),
        }]
    }

    /// Loads CUB for `device`, or compiles it.
    ///
    /// # Errors
    /// The missing tool or library, in one line.
    pub fn compile(device: &Device) -> Result<Self> {
        let library = nvcc::libraries(device, &Self::sources())?[0];
        Ok(Self {
            device: device.clone(),
            library,
            // SAFETY: the type is that of the source.
            error_text: unsafe { *library.get(c"error_text")? },
        })
    }

    /// A function that enqueues the named reduction of `x`, and of `y` if it takes two arrays, a given number of
    /// times.
    pub fn reduction(
        &self,
        name: &str,
        x: Rc<Buffer<f32>>,
        y: Rc<Buffer<f32>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<u8>) -> Result + use<>> {
        // SAFETY: every reduction of the source has this type.
        let function: Reduction = unsafe { *self.library.get(name)? };
        let count = c_int::try_from(x.len())?;
        self.enqueue(move |at: Place| {
            let (x, y) = (address(&x), address(&y));
            // SAFETY: `x` and `y` have `count` elements, and the output room for a result; the rest is guaranteed by
            // `Place`.
            unsafe { function(at.temporary, at.bytes, x, y, at.output, count, at.stream) }
        })
    }

    /// A function that enqueues the sums of a row-major matrix's rows a given number of times, as segments of one
    /// size or between offsets.
    ///
    /// # Errors
    /// CUB is too old for segments of one size.
    pub fn sum_of_rows(
        &self,
        matrix: Rc<Matrix<f32>>,
        segments: Segments,
    ) -> Result<impl FnMut(u64, &mut Buffer<f32>) -> Result + use<>> {
        let name = match segments {
            Segments::OfOneSize if version_of(self.library)? < FIRST_WITH_FIXED_SIZES => {
                return Err(format!(
                    "it has no segments of one size before 3.1: {HEADERS} can name newer headers"
                )
                .into());
            }
            Segments::OfOneSize => c"sum_of_rows_of_one_size",
            Segments::BetweenOffsets => c"sum_of_rows",
        };
        // SAFETY: the functions of these names have this type.
        let function: OfRows = unsafe { *self.library.get(name)? };
        let rows = c_int::try_from(matrix.rows())?;
        let columns = c_int::try_from(matrix.cols())?;
        self.enqueue(move |at: Place| {
            let x = pointer(matrix.view().device_address()).cast_const();
            // SAFETY: the matrix has `rows` times `columns` elements and the output `rows`; the rest is guaranteed by
            // `Place`.
            unsafe {
                function(
                    at.temporary,
                    at.bytes,
                    x,
                    at.output,
                    rows,
                    columns,
                    at.stream,
                )
            }
        })
    }

    /// A function that enqueues the sums of `x`'s segments a given number of times. `offsets` are the starts of the
    /// segments, and the end of the last.
    pub fn sum_of_segments(
        &self,
        x: Rc<Buffer<f32>>,
        offsets: Buffer<u64>,
    ) -> Result<impl FnMut(u64, &mut Buffer<f32>) -> Result + use<>> {
        // SAFETY: the function of this name has this type.
        let function: OfSegments = unsafe { *self.library.get("sum_of_segments")? };
        let segments = c_int::try_from(offsets.len() - 1)?;
        self.enqueue(move |at: Place| {
            let (x, offsets) = (address(&x), address(&offsets));
            // SAFETY: the offsets are one more than segments and lie within `x`, and there is a sum for each; the
            // rest is guaranteed by `Place`.
            unsafe {
                function(
                    at.temporary,
                    at.bytes,
                    x,
                    offsets,
                    at.output,
                    segments,
                    at.stream,
                )
            }
        })
    }

    /// A function that enqueues the named scan of `x` a given number of times.
    pub fn scan<T: Element>(
        &self,
        name: &str,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<T>) -> Result + use<T>> {
        // SAFETY: every scan of the source has this type.
        let function: Scan = unsafe { *self.library.get(name)? };
        let count = c_int::try_from(x.len())?;
        self.enqueue(move |at: Place| {
            let x = address(&x);
            // SAFETY: `x` and the sums have `count` elements; the rest is guaranteed by `Place`.
            unsafe { function(at.temporary, at.bytes, x, at.output, count, at.stream) }
        })
    }

    /// A function that enqueues calls of CUB, with the temporary memory that CUB requests in an earlier call.
    fn enqueue<O: Element, F: FnMut(Place) -> c_int>(
        &self,
        mut function: F,
    ) -> Result<impl FnMut(u64, &mut Buffer<O>) -> Result + use<O, F>> {
        let (device, error_text) = (self.device.clone(), self.error_text);
        let mut bytes = 0;
        let mut call = move |temporary: u64, calls: u64, output: u64| -> Result<usize> {
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            device.with_current(|| {
                for _ in 0..calls {
                    let error = function(Place {
                        temporary: pointer(temporary),
                        bytes: &raw mut bytes,
                        output: pointer(output),
                        stream: stream.as_ptr(),
                    });
                    error_of(error, error_text)?;
                }
                Ok(bytes)
            })?
        };
        let bytes = call(0, 1, 0)?;
        let temporary = self.device.uninit::<u8>(bytes.max(1))?;
        Ok(move |calls, output: &mut Buffer<O>| {
            call(temporary.device_address(), calls, output.device_address()).map(drop)
        })
    }
}

/// The memory and the stream of a call of CUB, on the device whose context is current. Memory is freed only after the
/// work in the stream.
struct Place {
    /// As large as an earlier call reported, or null: then the call only writes this size.
    temporary: *mut c_void,
    bytes: *mut usize,
    /// Null without temporary memory.
    output: *mut c_void,
    stream: *mut c_void,
}

fn address<T: Element>(buffer: &Buffer<T>) -> *const c_void {
    pointer(buffer.device_address()).cast_const()
}
