//! CUB's sums.

use super::nvcc::{self, ErrorText, Source, error_of, pointer, version_of, version_text};
use crate::common::Result;
use crate::common::samples::Sample;
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tilewright::{Buffer, Device};

const SOURCE: &str = include_str!("cub.cu");

/// The C names of each element type and of the type of its sum.
const TYPES: [(&str, &str, &str); 8] = [
    ("f32", "float", "float"),
    ("f64", "double", "double"),
    ("f16", "__half", "float"),
    ("bf16", "__nv_bfloat16", "float"),
    ("i32", "int32_t", "int64_t"),
    ("u32", "uint32_t", "uint64_t"),
    ("i64", "int64_t", "int64_t"),
    ("u64", "uint64_t", "uint64_t"),
];

/// Temporary memory and its size; elements, result, number of elements; stream.
type SumFunction = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    *mut c_void,
    c_int,
    *mut c_void,
) -> c_int;

/// Result on the host, result on the device; stream.
type CopyFunction = unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void) -> c_int;

/// The functions of one library.
#[derive(Clone, Copy)]
struct Functions {
    sum: SumFunction,
    copy_to_host: CopyFunction,
    error_text: ErrorText,
}

/// CUB for all element types, in the stream of one device.
pub struct Cub {
    device: Device,
    /// In the order of `TYPES`.
    functions: Vec<Functions>,
    version: String,
}

impl Cub {
    /// A library for each element type.
    pub fn sources() -> Vec<Source> {
        let source = |(name, element, sum): (&str, &str, &str)| Source {
            name: format!("cub-{name}"),
            text: SOURCE,
            options: vec![format!("-DELEMENT={element}"), format!("-DSUM={sum}")],
        };
        TYPES.map(source).into()
    }

    /// Loads CUB for `device`, or compiles it.
    ///
    /// # Errors
    /// The missing tool or library, in one line.
    pub fn compile(device: &Device) -> Result<Self> {
        let libraries = nvcc::libraries(device, &Self::sources())?;
        let functions = libraries.iter().map(|it| Functions::load(it));
        let functions = functions.collect::<Result<Vec<_>>>()?;
        let version = version_of(libraries[0])?;
        Ok(Self {
            device: device.clone(),
            functions,
            version: version_text(version),
        })
    }

    /// CUB's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A function that enqueues the sum of `x` a given number of times.
    pub fn sum<T: Sample>(
        &self,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<T::Sum>) -> Result + use<T>> {
        let mut call = Call {
            device: self.device.clone(),
            functions: self.functions_of::<T>()?,
            count: c_int::try_from(x.len())?,
            x,
            temporary: None,
            temporary_bytes: 0,
        };
        call.allocate()?;
        Ok(move |calls, result: &mut Buffer<T::Sum>| call.enqueue(calls, result))
    }

    /// A function that sums `x` and waits until the sum is on the host. Page-locked host memory
    /// makes the copy faster.
    pub fn sum_to_host<T: Sample>(
        &self,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(&mut [T::Sum; 1]) -> Result + use<T>> {
        let (device, functions) = (self.device.clone(), self.functions_of::<T>()?);
        let mut result = device.zeros::<T::Sum>(1)?;
        let mut sum = self.sum(x)?;
        Ok(move |host: &mut [T::Sum; 1]| {
            sum(1, &mut result)?;
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let from = pointer(result.device_address());
            // SAFETY: both hold a sum, and the copy is complete when the call returns. The device's
            // context is current.
            let error = device.with_current(|| unsafe {
                (functions.copy_to_host)(host.as_mut_ptr().cast(), from, stream.as_ptr())
            })?;
            functions.check(error)
        })
    }

    fn functions_of<T: Sample>(&self) -> Result<Functions> {
        let number = TYPES.iter().position(|(name, ..)| *name == T::NAME);
        let number = number.ok_or_else(|| format!("there is none for {}", T::NAME))?;
        Ok(self.functions[number])
    }
}

/// The arguments of sums of one buffer.
struct Call<T: Sample> {
    device: Device,
    functions: Functions,
    x: Rc<Buffer<T>>,
    count: c_int,
    temporary: Option<Buffer<u8>>,
    temporary_bytes: usize,
}

impl<T: Sample> Call<T> {
    /// Queries the size of temporary memory, and allocates it.
    fn allocate(&mut self) -> Result {
        let mut result = self.device.zeros::<T::Sum>(1)?;
        self.enqueue(1, &mut result)?;
        let bytes = self.temporary_bytes.max(1);
        self.temporary = Some(self.device.uninit(bytes)?);
        Ok(())
    }

    fn enqueue(&mut self, calls: u64, result: &mut Buffer<T::Sum>) -> Result {
        let stream = self.device.raw_stream().ok_or("the device has no stream")?;
        let temporary = self.temporary.as_ref().map_or(0, Buffer::device_address);
        let (temporary, x, result) = (
            pointer(temporary),
            pointer(self.x.device_address()),
            pointer(result.device_address()),
        );
        let bytes = &raw mut self.temporary_bytes;
        self.device.with_current(|| {
            for _ in 0..calls {
                // SAFETY: the library was compiled for these types. `x` has `count` elements and
                // `result` one; temporary memory is null, or as large as an earlier call reported.
                // All are on the device whose context is current, and freed only after the work in
                // its stream.
                let error = unsafe {
                    (self.functions.sum)(temporary, bytes, x, result, self.count, stream.as_ptr())
                };
                self.functions.check(error)?;
            }
            Ok(())
        })?
    }
}

impl Functions {
    fn load(library: &'static Library) -> Result<Self> {
        // SAFETY: the types are those of cub.cu.
        unsafe {
            Ok(Self {
                sum: *library.get(c"sum")?,
                copy_to_host: *library.get(c"copy_to_host")?,
                error_text: *library.get(c"error_text")?,
            })
        }
    }

    fn check(&self, error: c_int) -> Result {
        error_of(error, self.error_text)
    }
}
