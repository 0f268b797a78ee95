//! Arrays of Python as tensors of the device that computes with them.

use crate::array::{Array, tensor_of};
use crate::devices::{device_of, open_device};
use crate::errors::{Class, exception};
use crate::held::Held;
use crate::staged::Staged;
use dlpark::ffi::{DLDataType, DLDevice, DLDeviceType, DLManagedTensorVersioned};
use dlpark::python::{DlpackStream, ImportRequest, ImportedDlpack, StreamArg, from_dlpack};
use dlpark::{AllocationDeleter, Managed};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::{ptr, slice};
use tilewright::Device;
use tilewright::interop::dlpack::{Tensor, export, stream_for_producer};

/// The protocol's number for "do not wait".
const NO_WAIT: i64 = -1;

/// Where a call works: a device, and the stream of another library if it works in one.
#[derive(Clone, Debug)]
pub struct Work {
    pub device: Device,
    place: DLDevice,
    stream: Option<usize>,
}

impl Work {
    /// Where the arrays of a call are, by the first of them, and that one.
    ///
    /// # Safety
    /// 1. `stream` is a live stream of the array's device, or 0 for its default stream.
    pub unsafe fn on(first: &Bound<'_, PyAny>, stream: Option<usize>) -> PyResult<(Self, Operand)> {
        let request = request(first)?;
        let place = request.device()?;
        let device = match open_device(place, stream) {
            Some(device) => device,
            // The first call for a device opens it, for which other threads need not wait.
            // SAFETY: the caller's contract.
            None => first.py().detach(|| unsafe { device_of(place, stream) })?,
        };
        let work = Self {
            device,
            place,
            stream,
        };
        let operand = work.take_requested(first, request)?;
        Ok((work, operand))
    }

    fn is_host(&self) -> bool {
        self.place.device_type == DLDeviceType::CPU
    }

    /// A new array where the operands are.
    pub fn zeros(&self, element: DLDataType, shape: Vec<usize>) -> PyResult<Array> {
        let device = (!self.is_host()).then_some(&self.device);
        Array::zeros(device, self.place, element, shape)
    }

    /// The number that a producer is told, whose work the call's has to follow.
    fn consumer(&self) -> Option<i64> {
        match (self.is_host(), self.stream) {
            (true, _) => None,
            // The call works in the producer's own stream.
            (false, Some(_)) => Some(NO_WAIT),
            (false, None) => stream_for_producer(&self.device),
        }
    }

    /// An array of Python as an operand. Arrays in host memory are copied to a GPU.
    pub fn take(&self, object: &Bound<'_, PyAny>) -> PyResult<Operand> {
        let request = request(object)?;
        let found = request.device()?;
        if found != self.place {
            let [expected, found] = [self.place, found].map(words);
            return Err(Class::Value.error(format!(
                "the arrays of a call are on different devices: {expected} and {found}; move them to one"
            )));
        }
        self.take_requested(object, request)
    }

    fn take_requested<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        request: ImportRequest<'py>,
    ) -> PyResult<Operand> {
        let imported = imported(request, object, self.consumer())?;
        let held = Held::of(&imported)?;
        if self.is_host() && !self.device.is_simulator() && held.place == self.place {
            let owner = imported.into_deleter();
            return object.py().detach(|| self.staged(held, owner));
        }
        // SAFETY: 1. The producer's elements are memory of its device until the deleter is called. 2. Their contents
        // were waited for: the producer was told the stream, or the call works in it. 3. and 4. Python callers do not
        // write arrays that a call uses, as with every call that releases the interpreter; `check_result` sees to it
        // that the call itself does not.
        let tensor = unsafe {
            match imported {
                ImportedDlpack::Legacy(tensor) => Tensor::import(&self.device, tensor),
                ImportedDlpack::Versioned(tensor) => Tensor::import(&self.device, tensor),
            }
        };
        Ok(Operand {
            tensor: tensor.map_err(exception)?,
            bytes: held.bytes,
            staged: None,
        })
    }

    /// A copy of an array in host memory, which `owner` keeps alive.
    fn staged(&self, held: Held, owner: AllocationDeleter) -> PyResult<Operand> {
        let bytes = held.bytes.clone();
        let span = bytes.len();
        let buffer = match span {
            0 => self.device.zeros(0),
            // SAFETY: the producer's elements, and those in between, are memory that can be read until the deleter is
            // called.
            _ => self.device.upload(unsafe {
                slice::from_raw_parts(ptr::with_exposed_provenance(bytes.start), span)
            }),
        };
        let buffer = Arc::new(buffer.map_err(exception)?);
        let place = place_of(&self.device)?;
        let staged = Staged::new(Arc::clone(&buffer), &held, owner);
        let (shape, strides) = (held.shape, held.strides);
        // SAFETY: the buffer has the array's elements, gaps included, at the same distances, and the tensor shares it.
        let tensor = unsafe {
            tensor_of::<DLManagedTensorVersioned>(
                &buffer,
                place,
                held.element,
                shape,
                strides,
                Arc::clone(&buffer),
            )
        }?;
        // SAFETY: the tensor is the buffer's, whose work is in the device's stream, and nothing else uses it.
        let tensor = unsafe { Tensor::import(&self.device, tensor) }.map_err(exception)?;
        Ok(Operand {
            tensor,
            bytes,
            staged: Some(staged),
        })
    }

    /// Ends a call: results are where the caller has them, or will be for later work in the caller's stream.
    pub fn finish(&self, operands: Vec<Operand>, result: Operand) -> tilewright::Result<()> {
        if self.stream.is_none() {
            // Reports what failed, before drops that cannot.
            self.device.synchronize()?;
        }
        self.give_back(result.tensor)?;
        if let Some(staged) = result.staged {
            staged.copy_back()?;
        }
        let mut operands = operands.into_iter();
        operands.try_for_each(|operand| self.give_back(operand.tensor))
    }

    fn give_back(&self, tensor: Tensor) -> tilewright::Result<()> {
        match self.stream {
            // SAFETY: -1 is no handle. The producer frees memory in the order of the stream, in which the device works.
            Some(_) => unsafe { tensor.release(Some(NO_WAIT)) },
            None => {
                drop(tensor);
                Ok(())
            }
        }
    }
}

/// An array of Python while a call uses it.
pub struct Operand {
    pub tensor: Tensor,
    /// The addresses of its elements, gaps included.
    bytes: Range<usize>,
    staged: Option<Staged>,
}

impl Operand {
    /// Fails unless the call may write the array: it is writable, and shares no memory with `others`.
    pub fn check_result<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> PyResult<()> {
        if self
            .staged
            .as_ref()
            .is_some_and(|staged| staged.is_read_only)
            || self.tensor.is_read_only()
        {
            return Err(Class::Value.error("out is read-only"));
        }
        let overlap =
            |other: &Self| self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        match others.into_iter().any(overlap) {
            true => {
                Err(Class::Value.error("out shares memory with an operand; pass a copy of that"))
            }
            false => Ok(()),
        }
    }

    /// The size of each dimension.
    pub fn shape(&self) -> Vec<usize> {
        self.tensor
            .shape()
            .iter()
            .map(|size| *size as usize)
            .collect()
    }
}

/// The protocol's name of a device.
fn place_of(device: &Device) -> PyResult<DLDevice> {
    let nothing = device.zeros::<u8>(0).map_err(exception)?;
    let tensor: Managed<DLManagedTensorVersioned> = export(nothing).map_err(exception)?;
    let described = tensor
        .validate()
        .map_err(|error| Class::Value.error(error.to_string()))?;
    Ok(described.device())
}

/// The stream of a call, in the protocol's numbers.
struct Consumer(i64);

// SAFETY: the number is that of the stream in which the call works, or -1 if that is the producer's current stream.
unsafe impl DlpackStream for Consumer {
    fn as_python_arg(&self, py: Python<'_>, _device: DLDevice) -> PyResult<StreamArg> {
        Ok(StreamArg::from_python_object(
            self.0.into_pyobject(py)?.into_any().unbind(),
        ))
    }

    unsafe fn wait_for_producer(
        &self,
        _device: DLDevice,
        _producer: *mut c_void,
    ) -> PyResult<bool> {
        // The package reads the library's current stream just before the call.
        Ok(self.0 == NO_WAIT)
    }
}

fn request<'py>(object: &Bound<'py, PyAny>) -> PyResult<ImportRequest<'py>> {
    let is_array = object.hasattr("__dlpack__")? && object.hasattr("__dlpack_device__")?;
    match is_array {
        true => ImportRequest::new(object.as_borrowed()),
        false => {
            let name = object.get_type().qualname()?;
            Err(Class::Type.error(format!(
                "an array has __dlpack__ and __dlpack_device__, and this is a {name}"
            )))
        }
    }
}

/// A device in words, such as `cuda:0`.
fn words(device: DLDevice) -> String {
    match device.device_type {
        DLDeviceType::CPU => "the CPU".to_owned(),
        DLDeviceType::CUDA => format!("cuda:{}", device.device_id),
        DLDeviceType(other) => format!("a device of DLPack type {other}"),
    }
}

fn imported(
    request: ImportRequest<'_>,
    object: &Bound<'_, PyAny>,
    consumer: Option<i64>,
) -> PyResult<ImportedDlpack> {
    let stream = consumer.map(Consumer);
    let stream = stream.as_ref().map(|stream| stream as &dyn DlpackStream);
    let error = match request.import(stream, None) {
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => error,
        other => return other,
    };
    // Libraries from before version 1 of the protocol have no argument `max_version`.
    let arguments = PyDict::new(object.py());
    arguments.set_item("stream", consumer)?;
    match object.call_method("__dlpack__", (), Some(&arguments)) {
        Ok(capsule) => from_dlpack(capsule.as_borrowed(), None, None),
        Err(_) => Err(error),
    }
}
