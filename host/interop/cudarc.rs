//! Interoperation with the crate `cudarc` 0.19: a device on its stream, and its slices without a copy.
//!
//! A [`Bridge`] opens a [`Device`] that submits its work to a `CudaStream`. [`Bridge::with`] lends slices of `cudarc`
//! to calls of this crate, and [`Bridge::lend`] buffers of this crate to calls of `cudarc`. Both use the events by
//! which `cudarc` orders its streams, so a slice may be used in any stream before and afterwards.
//!
//! ```no_run
//! use cudarc::driver::CudaContext;
//! use tilewright::interop::cudarc::Bridge;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = CudaContext::new(0)?.new_stream()?;
//! let a = stream.clone_htod(&[1.0_f32, 2.0, 3.0, 4.0])?;
//! let mut c = stream.alloc_zeros::<f32>(4)?;
//!
//! let bridge = Bridge::new(&stream)?; // once for each stream
//! bridge.with((&a, &mut c), |(a, c)| {
//!     let a = a.as_matrix((2, 2))?;
//!     bridge.device().matmul_into(a, a.t(), &mut c.into_matrix((2, 2))?)
//! })?;
//! assert_eq!(stream.clone_dtoh(&c)?, [5.0, 11.0, 11.0, 25.0]);
//! # Ok(())
//! # }
//! ```
//!
//! This crate does not choose a CUDA version for `cudarc` 0.19. The program chooses one, for example with the feature
//! `cuda-12080` or `cuda-version-from-build-system`, and may link the driver or load it at run time.

mod operands;

pub use operands::Operands;

use crate::buffer::{ALIGNMENT, Buffer, BufferView, BufferViewMut};
use crate::cuda;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::interop::raw;
use ::cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtrMut as _, DriverError,
};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

/// A device on a stream of `cudarc`.
///
/// The device keeps the stream and its context alive. A call's work runs after work that was submitted to
/// the stream earlier, and before work that is submitted later.
#[derive(Clone, Debug)]
pub struct Bridge {
    device: Device,
    stream: Arc<CudaStream>,
}

impl Bridge {
    /// Opens a device whose work goes to `stream`.
    ///
    /// A per-thread stream differs from thread to thread, so the device's work goes to the context's default stream
    /// instead. CUDA orders the default stream with the per-thread streams of all threads. candle's devices use a
    /// per-thread stream, unless `Device::new_cuda_with_stream` made them.
    ///
    /// Each call opens a new device, which loads the kernels that it launches: open one for each stream and keep it.
    /// Dropping the device waits for the stream.
    ///
    /// # Errors
    /// [`ErrorKind::NoDriver`], [`ErrorKind::DriverTooOld`] or [`ErrorKind::Cuda`], as for [`Device::cuda`].
    pub fn new(stream: &Arc<CudaStream>) -> Result<Self> {
        open(stream).during("Bridge::new")
    }

    /// The device, for calls on the views that [`with`](Self::with) lends.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The stream of the device's work: that of [`new`](Self::new), or the context's default stream.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Runs `body` with views of `operands`, without a copy.
    ///
    /// `operands` are references, or a tuple of up to six:
    ///
    /// | operand | view |
    /// |---|---|
    /// | `&CudaSlice<T>`, `&CudaView<T>` | [`BufferView<T>`](BufferView) |
    /// | `&mut CudaSlice<T>`, `&mut CudaViewMut<T>` | [`BufferViewMut<T>`](BufferViewMut) |
    ///
    /// The device's work waits for earlier work on the operands in other streams, as `cudarc` has recorded it. After
    /// `body` returns, its work in any stream of the device is recorded, so that later uses in other streams wait for
    /// it. In a context without event tracking, order the streams yourself.
    ///
    /// # Errors
    /// [`ErrorKind::Interop`] if an operand does not belong to the stream's `CudaContext`; those of `body`. If `cudarc`
    /// fails to record or to wait, `CudaContext::check_err` reports it.
    pub fn with<O: Operands, R>(
        &self,
        mut operands: O,
        body: impl for<'v> FnOnce(O::Views<'v>) -> Result<R>,
    ) -> Result<R> {
        let held = operands
            .hold(&self.device, &self.stream)
            .during("Bridge::with")?;
        // SAFETY: the operands are held for this device's stream, and there is no other call.
        let views = unsafe { O::views(&held) }.during("Bridge::with")?;
        body(views)
    }

    /// Runs `body` with a `CudaView` of the elements, without a copy, for calls of `cudarc` that read them.
    ///
    /// Work of `body` in any stream runs after the earlier work of the device. The device's later work waits for what
    /// `cudarc` has recorded in `body`.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`] if `view` is not on this device; [`ErrorKind::Cuda`] if the context cannot be made
    /// current.
    ///
    /// # Panics
    /// Panics if the driver cannot create an event.
    pub fn lend<T: Element, R>(
        &self,
        view: BufferView<'_, T>,
        body: impl for<'v> FnOnce(CudaView<'v, T>) -> R,
    ) -> Result<R> {
        let lent = self
            .device
            .check_reads(|| "the view".to_owned(), view.holder())
            .and_then(|()| Lent::new(self, view))
            .during("Bridge::lend")?;
        Ok(body(lent.0.as_view()))
    }

    /// Runs `body` with a `CudaViewMut` of the elements, without a copy, for calls of `cudarc` that read and write
    /// them.
    ///
    /// # Errors
    /// The errors of [`lend`](Self::lend).
    ///
    /// # Panics
    /// Panics if the driver cannot create an event.
    pub fn lend_mut<T: Element, R>(
        &self,
        view: BufferViewMut<'_, T>,
        body: impl for<'v> FnOnce(CudaViewMut<'v, T>) -> R,
    ) -> Result<R> {
        let mut lent = self
            .device
            .check_writes(|| "the view".to_owned(), view.written())
            .and_then(|()| Lent::new(self, view.view()))
            .during("Bridge::lend_mut")?;
        Ok(body(lent.0.as_view_mut()))
    }

    /// Turns `slice` into a buffer of the device, without a copy. Dropping the buffer frees the memory.
    ///
    /// # Errors
    /// [`ErrorKind::Interop`] if `slice` does not belong to the stream's `CudaContext` or is not aligned to 256 bytes
    /// (`cudarc`'s allocations are); [`ErrorKind::Cuda`] if the streams cannot be ordered. A call that fails drops
    /// `slice`.
    pub fn into_buffer<T: Element>(&self, slice: CudaSlice<T>) -> Result<Buffer<T>> {
        adopt(self, slice).during("Bridge::into_buffer")
    }

    /// Turns `buffer` into a slice of `cudarc` on the device's stream, without a copy. Dropping the slice frees the
    /// memory.
    ///
    /// A buffer without bytes becomes a slice without elements.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`] if `buffer` is not on this device; [`ErrorKind::Interop`] if its memory belongs to an
    /// owner, as that of [`raw::buffer`] does; [`ErrorKind::Cuda`] if the context cannot be made
    /// current. A call that fails drops `buffer`.
    ///
    /// # Panics
    /// Panics if the driver cannot create an event.
    pub fn into_slice<T: Element>(&self, buffer: Buffer<T>) -> Result<CudaSlice<T>> {
        release(self, buffer).during("Bridge::into_slice")
    }
}

fn open(stream: &Arc<CudaStream>) -> Outcome<Bridge> {
    let stream = match stream.cu_stream().addr() {
        raw::PER_THREAD => stream.context().default_stream(),
        _ => stream.clone(),
    };
    let context = NonNull::new(stream.context().cu_ctx().cast()).ok_or(ErrorKind::Interop {
        reason: "the stream's context has no handle",
    })?;
    // SAFETY: the context and its stream are alive, and as long as the device, which keeps the stream.
    let backend =
        unsafe { cuda::open_in(context, stream.cu_stream().cast(), Some(stream.clone())) }?;
    Ok(Bridge {
        device: Device::of_backend(backend),
        stream,
    })
}

/// A slice of `cudarc` for memory that it does not own.
///
/// When it is dropped, the device's stream waits for the events of its uses.
struct Lent<T: Element>(ManuallyDrop<CudaSlice<T>>);

impl<T: Element> Lent<T> {
    /// The elements of `view`, which is on the bridge's device.
    fn new(bridge: &Bridge, view: BufferView<'_, T>) -> Outcome<Self> {
        let (address, len) = (view.device_address(), view.len());
        // SAFETY: live memory of `len` elements, which the slice does not free: `drop` forgets it.
        let slice = unsafe { slice_of(bridge, address, len) }?;
        Ok(Self(ManuallyDrop::new(slice)))
    }
}

impl<T: Element> Drop for Lent<T> {
    fn drop(&mut self) {
        // SAFETY: the slice is not used again.
        let slice = unsafe { ManuallyDrop::take(&mut self.0) };
        let _address = slice.leak();
    }
}

/// A slice whose uses in other streams wait for the earlier work of the device.
///
/// # Safety
/// 1. `address` is live memory of `len` elements of the device. It is an allocation that nothing else frees, unless the
///    slice is leaked.
unsafe fn slice_of<T: Element>(bridge: &Bridge, address: u64, len: usize) -> Outcome<CudaSlice<T>> {
    let stream = &bridge.stream;
    stream.context().bind_to_thread().map_err(driver_error)?;
    // SAFETY: live memory of `len` elements: the caller's contract. Every bit pattern is an element.
    let mut slice = unsafe { stream.upgrade_device_ptr::<T>(address, len) };
    // The device's work up to now is the slice's first write.
    let (_, write) = slice.device_ptr_mut(stream);
    drop(write);
    Ok(slice)
}

fn adopt<T: Element>(bridge: &Bridge, slice: CudaSlice<T>) -> Outcome<Buffer<T>> {
    let (stream, mut slice) = (&bridge.stream, slice);
    operands::check_context(slice.context(), stream)?;
    let len = slice.len();
    if slice.num_bytes() == 0 {
        // SAFETY: there are no bytes, and the address is 0.
        return Ok(unsafe { Buffer::of_allocation(&bridge.device, 0, len) });
    }
    // The stream waits for the uses that `cudarc` recorded, and for the allocation.
    let (address, write) = slice.device_ptr_mut(stream);
    drop(write);
    if !address.is_multiple_of(ALIGNMENT as u64) {
        return Err(ErrorKind::Interop {
            reason: "the memory is not aligned to 256 bytes, as kernels need it; a CudaSlice has to begin where an \
                     allocation does",
        });
    }
    stream.join(slice.stream()).map_err(driver_error)?;
    let address = slice.leak();
    // SAFETY: an allocation of `len` elements that nothing else uses: it was the slice's, and the alignment was checked.
    // The device can free it: like `cudarc`, it uses `cuMemFreeAsync` on devices with pools, and `cuMemFree` on others.
    Ok(unsafe { Buffer::of_allocation(&bridge.device, address, len) })
}

fn release<T: Element>(bridge: &Bridge, buffer: Buffer<T>) -> Outcome<CudaSlice<T>> {
    bridge
        .device
        .check_owns(|| "the buffer".to_owned(), buffer.device())?;
    if buffer.device_address() == 0 {
        return bridge.stream.null().map_err(driver_error);
    }
    buffer.order_all(&bridge.device)?;
    let lent = Lent::new(bridge, buffer.view())?;
    buffer.into_allocation()?;
    let mut lent = ManuallyDrop::new(lent);
    // SAFETY: `lent` is not used or dropped again. The slice owns the allocation: the buffer has given it up, and like
    // the device, `cudarc` frees with `cuMemFreeAsync` on devices with pools, and with `cuMemFree` on others.
    Ok(unsafe { ManuallyDrop::take(&mut lent.0) })
}

fn driver_error(error: DriverError) -> ErrorKind {
    ErrorKind::Cuda {
        code: error.0 as u32,
        message: error.to_string(),
    }
}
