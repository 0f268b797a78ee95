//! Buffers, matrices and batches of matrices as tensors of other libraries.

use super::element::TensorElement;
use super::handshake::dl_device;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{During, ErrorKind, Outcome, Result, TensorError};
use crate::matrix::{Matrix, Order};
use ::dlpark::ffi::DLDataType;
use ::dlpark::metadata::Dynamic;
use ::dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use std::ptr;
use std::sync::Arc;

/// A value that [`export`] accepts: a [`Buffer`], a [`Matrix`], a [`Batch`], or an [`Arc`] of one of them.
pub trait Export: Sealed {}

impl<E: Sealed> Export for E {}

pub trait Sealed: Send + 'static {
    #[doc(hidden)]
    fn describe(&self) -> Description;

    /// Makes the stream of the value's device wait for other streams of the device that use it.
    #[doc(hidden)]
    fn order(&self) -> Outcome<()>;
}

/// A tensor's description of its elements.
#[derive(Debug)]
pub struct Description {
    device: Device,
    address: u64,
    element: DLDataType,
    shape: Vec<usize>,
    strides: Vec<usize>,
    is_shared: bool,
}

impl<T: TensorElement> Sealed for Buffer<T> {
    fn describe(&self) -> Description {
        Description {
            device: self.device().clone(),
            address: self.device_address(),
            element: T::TYPE,
            shape: vec![self.len()],
            strides: vec![1],
            is_shared: false,
        }
    }

    fn order(&self) -> Outcome<()> {
        self.order_all(self.device())
    }
}

impl<T: TensorElement> Sealed for Matrix<T> {
    fn describe(&self) -> Description {
        let (rows, columns) = self.shape();
        let strides = match self.order() {
            Order::RowMajor => vec![columns, 1],
            Order::ColumnMajor => vec![1, rows],
        };
        Description {
            shape: vec![rows, columns],
            strides,
            ..self.as_buffer().describe()
        }
    }

    fn order(&self) -> Outcome<()> {
        self.as_buffer().order()
    }
}

/// A matrix of several matrices with the same number of rows, one below the other, as a tensor of three dimensions.
///
/// Such matrices are the results of batches of products ([`Matmul::run`](crate::Matmul::run)).
#[derive(Debug)]
pub struct Batch<T: TensorElement> {
    matrix: Matrix<T>,
    count: usize,
}

impl<T: TensorElement> Batch<T> {
    /// `matrix` as `count` matrices.
    ///
    /// # Errors
    /// [`ErrorKind::UnevenBatch`] unless `count` is positive and divides the number of rows. A call that fails drops
    /// the matrix.
    pub fn of_rows(matrix: Matrix<T>, count: usize) -> Result<Self> {
        matrix
            .view()
            .parts(count, Order::RowMajor)
            .during("Batch::of_rows")?;
        Ok(Self { matrix, count })
    }
}

impl<T: TensorElement> Sealed for Batch<T> {
    fn describe(&self) -> Description {
        let of_matrix = self.matrix.describe();
        let rows = self.matrix.rows() / self.count;
        let to_next = rows * of_matrix.strides[0];
        Description {
            shape: vec![self.count, rows, self.matrix.cols()],
            strides: [vec![to_next], of_matrix.strides].concat(),
            ..of_matrix
        }
    }

    fn order(&self) -> Outcome<()> {
        Sealed::order(&self.matrix)
    }
}

impl<E: Sealed + Sync> Sealed for Arc<E> {
    fn describe(&self) -> Description {
        Description {
            is_shared: true,
            ..(**self).describe()
        }
    }

    fn order(&self) -> Outcome<()> {
        (**self).order()
    }
}

/// Turns `value` into a tensor for another library, without a copy.
///
/// A buffer becomes a one-dimensional tensor. A matrix becomes a two-dimensional tensor with the strides of its order,
/// and a [`Batch`] a three-dimensional one.
/// The tensor owns the memory until its deleter is called, on any thread. An [`Arc`] becomes a read-only tensor, which
/// shares the memory.
///
/// `M` is the protocol's structure: `DLManagedTensorVersioned` or, for old consumers, `DLManagedTensor`.
///
/// The contents may not be complete yet: [`let_consumer_wait`](super::let_consumer_wait) orders the consumer's stream
/// after them, and [`Device::synchronize`] waits for them.
///
/// # Errors
/// [`ErrorKind::Interop`] if `value` is shared and `M` has no flags, so it cannot mark the tensor as read-only; those
/// of [`Device::synchronize`]. A call that fails drops `value`.
pub fn export<M: ManagedTensorBase>(value: impl Export) -> Result<Managed<M>> {
    exported(value).during("interop::dlpack::export")
}

fn exported<M: ManagedTensorBase, E: Export>(value: E) -> Outcome<Managed<M>> {
    value.order()?;
    let description = value.describe();
    if let Some(capture) = description.device.backend().capture() {
        return Err(capture.refuse(
            "a tensor for another library",
            "its elements are computed when the graph is launched; make the tensor of an operand, after the launch",
        ));
    }
    let flags = match description.is_shared {
        true => DlpackFlags::READ_ONLY,
        false => DlpackFlags::empty(),
    };
    let malformed = |reason: String| ErrorKind::Tensor(TensorError::Malformed { reason });
    let mut tensor = Dynamic::new(description.shape, description.strides)
        .initialize_as::<M>(Box::new(value))
        .map_err(|error| malformed(error.to_string()))?;
    tensor
        .set_data(ptr::with_exposed_provenance_mut(
            description.address as usize,
        ))
        .set_dtype(description.element)
        .set_device(dl_device(&description.device)?)
        .set_flags(flags)
        .map_err(|error| malformed(error.to_string()))?;
    // SAFETY: the description is that of `value`, which the tensor owns: its memory is live until the deleter drops it,
    // and its elements have the shape and the strides. If others share it, the flags say that nobody writes.
    let tensor = unsafe { tensor.finish() };
    match tensor.flags() == flags {
        true => Ok(tensor),
        false => Err(ErrorKind::Interop {
            reason: "a DLManagedTensor cannot say that it is read-only, as shared memory is; export a \
                     DLManagedTensorVersioned, or a copy",
        }),
    }
}
