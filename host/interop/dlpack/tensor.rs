//! Tensors of other libraries as buffers, matrices and batches of matrices.

use super::element::{self, TensorElement};
use super::handshake::{dl_device, order};
use super::host_memory::HostMemory;
use super::layout::{BatchLayout, Layout, MatrixLayout};
use crate::buffer::{BufferView, BufferViewMut, checked_bytes};
use crate::device::Device;
use crate::error::{During, Error, ErrorKind, Outcome, Result, TensorError};
use crate::holder::Holder;
use crate::matrix::{MatrixBatch, MatrixBatchMut, MatrixView, MatrixViewMut};
use crate::uses::Uses;
use ::dlpark::ffi::DLDataType;
use ::dlpark::{AllocationDeleter, DlpackFlags, Managed, ManagedTensorBase};
use std::fmt;

/// A tensor of another library in the memory of a device.
///
/// Dropping it waits for the device's work and then calls the tensor's deleter, once. [`release`](Self::release) does
/// not wait.
pub struct Tensor {
    device: Device,
    uses: Uses,
    address: u64,
    element: DLDataType,
    layout: Layout,
    is_read_only: bool,
    /// Whether the producer's stream waits for the device's work.
    is_ordered: bool,
    /// Lets the simulator's kernels access the elements. It ends before they are freed.
    _host_memory: Option<HostMemory>,
    /// Calls the producer's deleter when it is dropped.
    _owner: AllocationDeleter,
}

impl Tensor {
    /// Takes a tensor in the memory of `device`, legacy or versioned.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`] if the tensor is on another device; [`ErrorKind::Tensor`] if its description is
    /// malformed. A call that fails calls the deleter.
    ///
    /// # Safety
    /// 1. The tensor's elements are initialised memory that kernels of `device` can access, until the deleter is
    ///    called.
    /// 2. Earlier work on them is done, or the device's stream waits for it, as it does if the producer was passed
    ///    [`stream_for_producer`](super::stream_for_producer).
    /// 3. While the result lives, nothing else writes the elements, and nothing else reads those that are written
    ///    through it, except work in the device's stream that is submitted between two calls, by the thread that makes
    ///    them.
    /// 4. On the simulator, nothing else writes to the gaps between the tensor's elements while a launch runs.
    pub unsafe fn import<M: ManagedTensorBase>(
        device: &Device,
        tensor: Managed<M>,
    ) -> Result<Self> {
        imported(device, tensor).during("Tensor::import")
    }

    /// The device that holds the elements.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The size of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[i64] {
        &self.layout.shape
    }

    /// The distance between neighbours in each dimension, in elements.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.layout.strides
    }

    /// The type of the elements, as DLPack describes it.
    #[must_use]
    pub fn data_type(&self) -> DLDataType {
        self.element
    }

    /// Whether the producer forbids writing the elements.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The elements in row-major order, to read. Any number of dimensions is accepted.
    ///
    /// # Errors
    /// [`ErrorKind::Tensor`] if the elements are of another type, or are not contiguous in row-major order.
    pub fn buffer<T: TensorElement>(&self) -> Result<BufferView<'_, T>> {
        self.elements().during("Tensor::buffer")
    }

    /// The elements in row-major order, to read and write.
    ///
    /// # Errors
    /// The errors of [`buffer`](Self::buffer), and [`ErrorKind::Tensor`] if the tensor is read-only.
    pub fn buffer_mut<T: TensorElement>(&mut self) -> Result<BufferViewMut<'_, T>> {
        let writable = self.check_writable();
        let elements = writable.and_then(|()| self.elements());
        // SAFETY: no other view has the elements: the tensor is borrowed mutably, and nothing else uses them by the
        // contract of `import`.
        elements
            .map(|elements| unsafe { BufferViewMut::of_view(elements) })
            .during("Tensor::buffer_mut")
    }

    /// A tensor of two dimensions as a matrix, to read: row-major or column-major, with or without gaps.
    ///
    /// # Errors
    /// [`ErrorKind::Tensor`] if the elements are of another type, if there are not two dimensions, or if neither
    /// rows nor columns are contiguous.
    pub fn matrix<T: TensorElement>(&self) -> Result<MatrixView<'_, T>> {
        let (span, layout) = self.span().during("Tensor::matrix")?;
        span.as_matrix_strided(layout.shape, layout.leading_dimension)
    }

    /// A tensor of two dimensions as a matrix, to read and write.
    ///
    /// Gaps between its rows or columns are not written.
    ///
    /// # Errors
    /// The errors of [`matrix`](Self::matrix), and [`ErrorKind::Tensor`] if the tensor is read-only.
    pub fn matrix_mut<T: TensorElement>(&mut self) -> Result<MatrixViewMut<'_, T>> {
        let writable = self.check_writable();
        let (span, layout) = writable
            .and_then(|()| self.span())
            .during("Tensor::matrix_mut")?;
        // SAFETY: no other view has the matrix's elements: the tensor is borrowed mutably, and nothing else uses them
        // by the contract of `import`. The gaps are not part of the matrix.
        let span = unsafe { BufferViewMut::of_view(span) };
        span.into_matrix_strided(layout.shape, layout.leading_dimension)
    }

    /// A tensor of three dimensions as a batch of matrices, to read: one for each index of the first dimension.
    ///
    /// Each matrix is row-major or column-major, with or without gaps. The matrices lie one after another or side by
    /// side, and share no elements.
    ///
    /// ```
    /// use tilewright::interop::dlpack::{self, Batch, Tensor, dlpark::versioned::Dlpack};
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// // Two matrices of 1 x 2, one below the other.
    /// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let tensor: Dlpack = dlpack::export(Batch::of_rows(a, 2)?)?;
    /// // SAFETY: the tensor is that of `export`, whose work is done, and nothing else uses it.
    /// let tensor = unsafe { Tensor::import(&device, tensor) }?;
    /// assert_eq!(tensor.shape(), [2, 1, 2]);
    /// let a = tensor.batch::<f32>()?;
    /// assert_eq!(Matmul::new(a, a.t()).run()?.to_vec()?, [5.0, 25.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Tensor`] if the elements are of another type, if there are not three dimensions, or if the matrices
    /// have another layout; [`ErrorKind::UnevenBatch`] if there are no matrices.
    pub fn batch<T: TensorElement>(&self) -> Result<MatrixBatch<'_, T>> {
        self.matrices().during("Tensor::batch")
    }

    /// A tensor of three dimensions as a batch of matrices, to read and write.
    ///
    /// Gaps are not written.
    ///
    /// # Errors
    /// The errors of [`batch`](Self::batch), and [`ErrorKind::Tensor`] if the tensor is read-only.
    pub fn batch_mut<T: TensorElement>(&mut self) -> Result<MatrixBatchMut<'_, T>> {
        let writable = self.check_writable();
        let matrices = writable.and_then(|()| self.matrices());
        // SAFETY: no other view has the elements: the tensor is borrowed mutably, and nothing else uses them by the
        // contract of `import`. The matrices share no elements: `as_batch` checks it.
        matrices
            .map(|matrices| unsafe { MatrixBatchMut::of_batch(matrices) })
            .during("Tensor::batch_mut")
    }

    /// Returns the tensor without waiting: the producer's stream waits for the device's work instead.
    ///
    /// `stream` is the producer's, as for [`let_consumer_wait`](super::let_consumer_wait).
    ///
    /// # Errors
    /// The errors of [`let_consumer_wait`](super::let_consumer_wait). A call that fails drops the tensor, which waits.
    ///
    /// # Safety
    /// 1. If `stream` is a handle, it is a live `CUstream`.
    /// 2. The producer frees or reuses the memory in the order of that stream or, if `stream` is -1, of the device's
    ///    stream.
    pub unsafe fn release(mut self, stream: Option<i64>) -> Result<()> {
        // The producer's stream waits for the device's stream, which must itself wait for the device's other streams.
        self.uses
            .order_writes(self.device.backend(), true)
            // SAFETY: a live stream: the caller's contract.
            .and_then(|()| unsafe { order(&self.device, stream) })
            .during("Tensor::release")?;
        self.is_ordered = true;
        Ok(())
    }

    fn elements<T: TensorElement>(&self) -> Outcome<BufferView<'_, T>> {
        self.check_element::<T>()?;
        self.layout.check_contiguous().map_err(ErrorKind::Tensor)?;
        self.view(self.layout.len())
    }

    /// The elements of a matrix, with those between its rows, and its layout.
    fn span<T: TensorElement>(&self) -> Outcome<(BufferView<'_, T>, MatrixLayout)> {
        self.check_element::<T>()?;
        let layout = self.layout.as_matrix().map_err(ErrorKind::Tensor)?;
        let span = layout
            .span()
            .ok_or_else(|| malformed("the last element lies past the address space"))?;
        Ok((self.view(span)?, layout))
    }

    fn matrices<T: TensorElement>(&self) -> Outcome<MatrixBatch<'_, T>> {
        self.check_element::<T>()?;
        let BatchLayout {
            matrix,
            count,
            stride,
        } = self.layout.as_batch().map_err(ErrorKind::Tensor)?;
        if count == 0 {
            let what = "matrices";
            return Err(ErrorKind::UnevenBatch {
                what,
                len: 0,
                count,
            });
        }
        let far = || malformed("the last element lies past the address space");
        let all = self.view(self.layout.span().ok_or_else(far)?)?;
        let first = all.part(..matrix.span().ok_or_else(far)?.min(all.len()))?;
        let first = first.as_matrix_strided(matrix.shape, matrix.leading_dimension);
        let first = first.map_err(Error::into_kind)?;
        Ok(MatrixBatch::at_distance(first, count, stride))
    }

    fn view<T: TensorElement>(&self, len: usize) -> Outcome<BufferView<'_, T>> {
        let bytes = checked_bytes::<T>(len);
        let end = bytes.and_then(|bytes| self.address.checked_add(bytes as u64));
        if end.is_none() {
            return Err(malformed("the last element lies past the address space"));
        }
        if len > 0 && !self.address.is_multiple_of(align_of::<T>() as u64) {
            return Err(malformed("the address is not aligned for the elements"));
        }
        let holder = Holder {
            device: &self.device,
            uses: Some(&self.uses),
        };
        // SAFETY: live memory of the device while the tensor is borrowed, and nothing else writes it: the contract of
        // `import`. The elements in between are of the same allocation, and are not accessed.
        Ok(unsafe { BufferView::of_elements(holder, self.address, len) })
    }

    fn check_element<T: TensorElement>(&self) -> Outcome<()> {
        match self.element == T::TYPE {
            true => Ok(()),
            false => Err(ErrorKind::Tensor(TensorError::Element {
                expected: T::NAME,
                found: element::words(self.element),
            })),
        }
    }

    fn check_writable(&self) -> Outcome<()> {
        match self.is_read_only {
            true => Err(ErrorKind::Tensor(TensorError::ReadOnly)),
            false => Ok(()),
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        if !self.is_ordered {
            let stream = self.device.backend();
            let ordered = self.uses.order_writes(stream, true);
            // A lost device has no work left. Other failures are those of earlier work, which the next call reports.
            let _ = ordered.and_then(|()| stream.synchronize());
        }
    }
}

/// Shows the description, but not the elements, which are on the device.
impl fmt::Debug for Tensor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tensor")
            .field("element", &element::words(self.element))
            .field("shape", &self.layout.shape)
            .field("strides", &self.layout.strides)
            .field("is_read_only", &self.is_read_only)
            .field("device", &self.device)
            .finish()
    }
}

fn imported<M: ManagedTensorBase>(device: &Device, tensor: Managed<M>) -> Outcome<Tensor> {
    let described = tensor
        .validate()
        .map_err(|error| malformed(error.to_string()))?;
    let (found, expected) = (described.device(), dl_device(device)?);
    if found != expected {
        return Err(ErrorKind::WrongDevice {
            what: "the tensor".to_owned(),
            expected: device.label(),
            found: format!(
                "DLPack device type {}, number {}",
                found.device_type.0, found.device_id
            ),
        });
    }
    let strides = described
        .strides_or_compact()
        .map_err(|error| malformed(error.to_string()))?;
    let layout = Layout {
        shape: described.shape().to_vec(),
        strides: strides.into_owned(),
    };
    // A device address is not a host pointer. On the simulator it is an address that kernels read.
    let first = described.data_ptr().expose_provenance() as u64;
    let address = first
        .checked_add(described.byte_offset())
        .ok_or_else(|| malformed("the byte offset leads past the address space"))?;
    if layout.len() > 0 && first == 0 {
        return Err(malformed("the address is null"));
    }
    let element = described.dtype();
    let span = layout.span().unwrap_or(0);
    let bytes = span.checked_mul(element.element_size());
    let host_memory = match bytes {
        // SAFETY: the elements and those in between are valid until the deleter is called, and nothing else writes them
        // while a launch runs: the contract of `import`.
        Some(bytes) if device.is_simulator() => unsafe {
            HostMemory::lend(address as usize, bytes)
        },
        _ => None,
    };
    Ok(Tensor {
        device: device.clone(),
        uses: Uses::new(device.backend().stream(), bytes.unwrap_or(usize::MAX)),
        address,
        element,
        layout,
        is_read_only: tensor.flags().contains(DlpackFlags::READ_ONLY),
        is_ordered: false,
        _host_memory: host_memory,
        _owner: tensor.into_deleter(),
    })
}

fn malformed(reason: impl Into<String>) -> ErrorKind {
    ErrorKind::Tensor(TensorError::Malformed {
        reason: reason.into(),
    })
}
