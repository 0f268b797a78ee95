//! CUB's f32 and f64 sums with the same bits on every GPU, from CUB 3.1. The CUDA 13.0 toolkit has 3.0.

use super::nvcc::{self, ErrorText, HEADERS, Source, error_of, pointer, version_of, version_text};
use crate::common::Result;
use crate::common::samples::Sample;
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tilewright::{Buffer, Device};

const SOURCE: &str = include_str!("cub_reproducible.cu");

/// The first version with these sums, as `CUB_VERSION` has it.
const FIRST_VERSION: c_int = 300_100;

/// Elements, result, number of elements; stream.
type Sum = unsafe extern "C" fn(*const c_void, *mut c_void, i64, *mut c_void) -> c_int;

/// CUB's reproducible sums in the stream of one device.
pub struct CubReproducible {
    device: Device,
    library: &'static Library,
    error_text: ErrorText,
}

impl CubReproducible {
    /// The one library.
    pub fn sources() -> Vec<Source> {
        vec![Source {
            name: "cub-reproducible".to_owned(),
            text: SOURCE,
            options: Vec::new(),
        }]
    }

    /// Loads CUB for `device`, or compiles it.
    ///
    /// # Errors
    /// The missing tool or library, or that CUB is too old, in one line.
    pub fn compile(device: &Device) -> Result<Self> {
        let library = nvcc::libraries(device, &Self::sources())?[0];
        let error_text = supported(library)?;
        // SAFETY: the type is that of the source.
        let keep_memory: unsafe extern "C" fn() -> c_int = unsafe { *library.get(c"keep_memory")? };
        // SAFETY: the function has no requirements but a current context.
        let error = device.with_current(|| unsafe { keep_memory() })?;
        error_of(error, error_text)?;
        Ok(Self {
            device: device.clone(),
            library,
            error_text,
        })
    }

    /// A function that enqueues the sum of `x`, of f32 or f64, a number of times.
    pub fn sum<T: Sample>(
        &self,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<T::Sum>) -> Result + use<T>> {
        let name = format!("sum_{}", T::NAME);
        // SAFETY: every sum of the source has this type, and sums have the type of the elements, for these
        // are f32 or f64.
        let function: Sum = unsafe { *self.library.get(name.as_str())? };
        let (device, error_text) = (self.device.clone(), self.error_text);
        let count = i64::try_from(x.len())?;
        Ok(move |calls, result: &mut Buffer<T::Sum>| {
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let from = pointer(x.device_address()).cast_const();
            let to = pointer(result.device_address());
            device.with_current(|| {
                for _ in 0..calls {
                    // SAFETY: `x` has `count` elements and `result` one. Both are on the device whose
                    // context is current, and freed only after the work in its stream.
                    let error = unsafe { function(from, to, count, stream.as_ptr()) };
                    error_of(error, error_text)?;
                }
                Ok(())
            })?
        })
    }
}

/// The texts of the library's errors, if CUB is new enough.
fn supported(library: &Library) -> Result<ErrorText> {
    let version = version_of(library)?;
    if version < FIRST_VERSION {
        return Err(format!(
            "CUB {} has no sum whose bits do not depend on the GPU: {HEADERS} names a folder with the \
             headers of 3.1 or later, as pip install nvidia-cuda-cccl has it",
            version_text(version)
        )
        .into());
    }
    // SAFETY: the type is that of the source.
    Ok(unsafe { *library.get(c"error_text")? })
}
