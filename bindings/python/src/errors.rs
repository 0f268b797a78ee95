//! Errors of the crate as Python exceptions.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use tilewright::{Error, ErrorKind, TensorError};

/// The exceptions of `tilewright._errors`, by their part in Python's hierarchy.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    /// A wrong value or shape: a `ValueError`.
    Value,
    /// Elements that no kernel of the call has: a `TypeError`.
    Type,
    /// A layout that the package may copy: a `ValueError`.
    Layout,
    /// The device, the driver or the simulator: a `RuntimeError`.
    Device,
}

impl Class {
    fn python(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 4] = [const { PyOnceLock::new() }; 4];
        let name = match self {
            Self::Value => "InvalidValueError",
            Self::Type => "ElementTypeError",
            Self::Layout => "LayoutError",
            Self::Device => "DeviceError",
        };
        CLASSES[self as usize].import(py, "tilewright._errors", name)
    }

    /// An exception of this class. Needs the interpreter, which the calling thread attaches if it is not.
    pub fn error(self, message: impl Into<String>) -> PyErr {
        let message = message.into();
        Python::attach(|py| match self.python(py) {
            Ok(class) => PyErr::from_type(class.clone(), message),
            Err(error) => error,
        })
    }
}

/// The exception for an error of the crate, with the crate's message.
pub fn exception(error: Error) -> PyErr {
    class_of(error.kind()).error(error.to_string())
}

fn class_of(kind: &ErrorKind) -> Class {
    match kind {
        ErrorKind::Tensor(TensorError::Strides { .. }) => Class::Layout,
        ErrorKind::Tensor(TensorError::Element { .. }) => Class::Type,
        ErrorKind::Tensor(_)
        | ErrorKind::ShapeMismatch { .. }
        | ErrorKind::BatchMismatch { .. }
        | ErrorKind::WrongLength { .. }
        | ErrorKind::NoElements { .. }
        | ErrorKind::NoAxis { .. }
        | ErrorKind::OutOfRange { .. }
        | ErrorKind::TooLarge { .. }
        | ErrorKind::WrongDevice { .. }
        | ErrorKind::UnknownDevice { .. }
        | ErrorKind::InvalidEnvironment { .. }
        | ErrorKind::Interop { .. } => Class::Value,
        _ => Class::Device,
    }
}
