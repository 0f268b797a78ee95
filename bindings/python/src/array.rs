//! Results for libraries in whose memory the package does not make room.

use crate::element;
use crate::errors::{Class, exception};
use dlpark::ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::{Managed, ManagedTensorBase};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ptr;
use std::sync::{Arc, OnceLock};
use tilewright::interop::{dlpack, raw};
use tilewright::{Buffer, Device};

/// Memory that arrays and the tensors made of them share.
#[derive(Debug)]
struct Memory(Buffer<u8>);

impl Drop for Memory {
    fn drop(&mut self) {
        let device = self.0.device();
        if !device.is_simulator() {
            // A deleter names no stream, and memory is freed in the order of the device's. Consumers that work in the
            // default stream may drop an array at once.
            // SAFETY: the null stream is one of every context.
            let _ = unsafe { raw::wait_for_stream(device, ptr::null_mut()) };
        }
    }
}

/// An array in row-major order, which other libraries take through DLPack.
///
/// ``numpy.from_dlpack``, ``torch.from_dlpack``, ``jax.dlpack.from_dlpack`` and ``cupy.from_dlpack`` accept it and
/// share its memory.
///
/// Attributes
/// ----------
/// shape : tuple of int
///     The size of each dimension.
/// dtype : str
///     The name of the elements' type, such as ``"float32"``.
///
/// Notes
/// -----
/// On a CUDA device, drop an array only when work on it in other streams than the default one is done.
#[pyclass(frozen, module = "tilewright")]
#[derive(Debug)]
pub struct Array {
    memory: Arc<Memory>,
    place: DLDevice,
    element: DLDataType,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

/// Sizes are those of arrays that exist, or were checked to fit.
fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis].max(1));
    }
    strides
}

/// Host memory is that of a simulator, which is never closed.
fn host() -> &'static Device {
    static HOST: OnceLock<Device> = OnceLock::new();
    HOST.get_or_init(Device::simulator)
}

impl Array {
    /// An array of zeros: on `device`, or in host memory.
    pub fn zeros(
        device: Option<&Device>,
        place: DLDevice,
        element: DLDataType,
        shape: Vec<usize>,
    ) -> PyResult<Self> {
        let bytes = shape
            .iter()
            .try_fold(element.element_size(), |bytes, size| {
                bytes.checked_mul(*size)
            })
            .ok_or_else(|| {
                Class::Value.error(format!("an array of shape {shape:?} is too large"))
            })?;
        let memory = device.unwrap_or(host()).zeros(bytes).map_err(exception)?;
        Ok(Self {
            memory: Arc::new(Memory(memory)),
            place,
            element,
            strides: row_major(&shape),
            shape,
        })
    }

    /// A tensor that shares the memory.
    pub fn share<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let buffer = &self.memory.0;
        let (shape, strides) = (self.shape.clone(), self.strides.clone());
        // SAFETY: the shape was the buffer's when it was made, without gaps, and the tensor shares its owner.
        unsafe {
            tensor_of(
                buffer,
                self.place,
                self.element,
                shape,
                strides,
                Arc::clone(&self.memory),
            )
        }
    }
}

/// A tensor in `buffer`, which `owner` keeps alive.
///
/// # Safety
/// 1. The elements of the shape and the strides lie in the buffer, which lives as long as `owner`.
pub unsafe fn tensor_of<M: ManagedTensorBase>(
    buffer: &Buffer<u8>,
    place: DLDevice,
    element: DLDataType,
    shape: Vec<usize>,
    strides: Vec<usize>,
    owner: impl Send + 'static,
) -> PyResult<Managed<M>> {
    let mut tensor = Dynamic::new(shape, strides)
        .initialize_as::<M>(Box::new(owner))
        .map_err(|error| Class::Value.error(error.to_string()))?;
    tensor
        .set_data(ptr::with_exposed_provenance_mut(
            buffer.device_address() as usize
        ))
        .set_dtype(element)
        .set_device(place);
    // SAFETY: the elements lie in the buffer, by the caller's contract, and the tensor keeps its owner.
    Ok(unsafe { tensor.finish() })
}

#[pymethods]
impl Array {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    #[getter]
    fn dtype(&self) -> String {
        element::name(self.element)
    }

    fn __repr__(&self) -> String {
        let place = match self.memory.0.device().is_simulator() {
            true => "host memory".to_owned(),
            false => format!("cuda:{}", self.place.device_id),
        };
        format!(
            "<tilewright.Array of shape {:?}, {}, {place}>",
            self.shape,
            self.dtype()
        )
    }

    fn __dlpack_device__(&self) -> (u32, i32) {
        self.place.into()
    }

    /// A capsule that shares the memory, which later work of ``stream`` may use.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(true) || dl_device.is_some_and(|other| other != self.place.into()) {
            return Err(PyBufferError::new_err(
                "an array of tilewright shares its memory, and is not copied",
            ));
        }
        // SAFETY: a stream that the consumer names is alive: the protocol.
        unsafe { dlpack::let_consumer_wait(self.memory.0.device(), stream) }.map_err(exception)?;
        match max_version {
            Some((1.., _)) => self.share::<DLManagedTensorVersioned>()?.into_pyobject(py),
            _ => self.share::<DLManagedTensor>()?.into_pyobject(py),
        }
    }
}
