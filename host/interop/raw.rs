//! Contexts, streams and memory as handles of the CUDA driver, for a program that already uses the GPU.
//!
//! [`device`] opens a device that submits its work to the caller's stream, and [`with_stream`] uses such a stream with
//! an open device. [`view`] and [`view_mut`] make views of the caller's memory, which any operation accepts, and
//! [`buffer`] makes a buffer that keeps its owner alive. A program can thus use a single call of this crate and keep
//! its own streams, allocator and order of work. To pass this crate's memory to other code, use
//! [`Buffer::device_address`](crate::Buffer::device_address).
//!
//! ```no_run
//! use std::ffi::c_void;
//! use std::ptr::NonNull;
//! use tilewright::interop::raw;
//!
//! /// The sum of `len` elements in the memory of another library, in its stream.
//! ///
//! /// # Safety
//! /// The context and the stream are alive, and the elements are initialised by work in that stream.
//! unsafe fn sum(context: NonNull<c_void>, stream: *mut c_void, address: u64, len: usize) -> tilewright::Result<f32> {
//!     // SAFETY: the caller's contract; the device is dropped before the call returns.
//!     let device = unsafe { raw::device(context, stream) }?;
//!     // SAFETY: the caller's contract.
//!     let x = unsafe { raw::view::<f32>(&device, address, len) }?;
//!     device.reduce_sum(x)
//! }
//! ```
//!
//! [`wait_for_stream`] and [`let_stream_wait`] order the device's work with other streams.
//!
//! If the caller captures the stream into a CUDA graph, calls that write to an existing result are captured too,
//! provided that they ran once before the capture. A product's temporary memory becomes nodes of the graph.
//!
//! `cudarc` and DLPack have their own modules, which check more than raw handles allow.

use crate::backend::ForeignStreams;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::cuda;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use std::any::Any;
use std::ffi::c_void;
use std::ptr::NonNull;

/// Opens a device in a `CUcontext` that submits its work to a `CUstream`.
///
/// A null `stream` is the null stream of the context. A per-thread stream, `CU_STREAM_PER_THREAD`, is refused: it is a
/// different stream in each thread, and large copies use several threads. Pass null instead: CUDA orders the null
/// stream with per-thread streams. A call's work runs after the work that the caller submitted to the stream earlier,
/// and before what it submits later. Calls that return a value wait for the stream.
///
/// Each call opens a new device, which loads the kernels that it launches: open one for each stream and keep it.
/// Dropping the device waits for the stream.
///
/// # Errors
/// [`ErrorKind::Interop`] for a per-thread stream; [`ErrorKind::NoDriver`], [`ErrorKind::DriverTooOld`] or
/// [`ErrorKind::Cuda`], as for [`Device::cuda`].
///
/// # Safety
/// 1. `context` is a live `CUcontext`, and `stream` is null or a live stream of it.
/// 2. Both outlive the device, its clones, and everything that is made with them, such as streams, buffers, modules,
///    events, textures and graphs.
pub unsafe fn device(context: NonNull<c_void>, stream: *mut c_void) -> Result<Device> {
    // SAFETY: both are alive, belong together and outlive the device: the caller's contract.
    let open = |()| unsafe { cuda::open_in(context, stream, None) };
    check_stream(stream)
        .and_then(open)
        .map(Device::of_backend)
        .during("interop::raw::device")
}

/// `CU_STREAM_PER_THREAD`, which is a different stream in each thread.
pub(super) const PER_THREAD: usize = 2;

fn check_stream(stream: *mut c_void) -> Outcome<()> {
    match stream.addr() {
        PER_THREAD => Err(ErrorKind::Interop {
            reason: "a per-thread stream is another one in each thread; pass null, the stream that CUDA orders with it",
        }),
        _ => Ok(()),
    }
}

/// Returns the same device, with its calls submitted to a `CUstream` of the caller.
///
/// The result shares memory and loaded kernels with `device`, and waits for its earlier work, as a stream of
/// [`Device::new_stream`] does. Use it with a library that has device numbers and stream handles: open the device by
/// [`Device::cuda`], so that you need no context handle.
///
/// ```no_run
/// use tilewright::Device;
/// use tilewright::interop::raw;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::cuda(0)?;
/// // SAFETY: the null stream is one of every context.
/// let null = unsafe { raw::with_stream(&device, std::ptr::null_mut()) }?;
/// assert!(null.is_same(&device) && !null.is_same_stream(&device));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::Interop`] on the simulator, and for a per-thread stream; [`ErrorKind::TooLarge`] for more than 64
/// streams of a device; those of [`Device::synchronize`].
///
/// # Safety
/// 1. `stream` is a live stream of the device's context, or null for its null stream. It outlives the result, its
///    clones, and everything that is made with them, such as buffers, events and textures.
pub unsafe fn with_stream(device: &Device, stream: *mut c_void) -> Result<Device> {
    check_stream(stream)
        .and_then(|()| foreign_streams(device))
        // SAFETY: a live stream or null that outlives the result: the caller's contract.
        .and_then(|device| unsafe { device.with_stream(stream) })
        .map(Device::of_backend)
        .during("interop::raw::with_stream")
}

/// Returns a view of `len` elements of the caller's memory, to read.
///
/// No graph records calls with it, because it may run after the memory is freed: [`Device::capture`] takes a
/// [`buffer`].
///
/// # Errors
/// [`ErrorKind::Interop`] if `address` is null or not aligned for the elements, or if the elements exceed the address
/// space.
///
/// # Safety
/// 1. The `len` elements at `address` are initialised memory of one allocation that kernels of `device` can read. It
///    stays allocated until `'a` ends and the work that was submitted to the device until then is done.
/// 2. Within that time nothing writes the elements, except work in the device's stream that is submitted between two
///    calls, by the thread that makes them.
pub unsafe fn view<T: Element>(
    device: &Device,
    address: u64,
    len: usize,
) -> Result<BufferView<'_, T>> {
    check::<T>(address, len).during("interop::raw::view")?;
    // SAFETY: live memory for the lifetime that nothing else writes: the caller's contract.
    Ok(unsafe { BufferView::of_elements(device.into(), address, len) })
}

/// Returns a view of `len` elements of the caller's memory, to read and write.
///
/// No graph records calls with it, as with a [`view`].
///
/// # Errors
/// The errors of [`view`].
///
/// # Safety
/// 1. The `len` elements at `address` are initialised memory of one allocation that kernels of `device` can read and
///    write. It stays allocated until `'a` ends and the work that was submitted to the device until then is done.
/// 2. Within that time nothing else accesses the elements, except work in the device's stream that is submitted
///    between two calls, by the thread that makes them.
pub unsafe fn view_mut<T: Element>(
    device: &Device,
    address: u64,
    len: usize,
) -> Result<BufferViewMut<'_, T>> {
    check::<T>(address, len).during("interop::raw::view_mut")?;
    // SAFETY: live memory for the lifetime that nothing else accesses: the caller's contract.
    Ok(unsafe { BufferViewMut::of_view(BufferView::of_elements(device.into(), address, len)) })
}

/// Returns a buffer of `len` elements of the caller's memory, which `owner` keeps alive.
///
/// Use it like any other buffer, in any stream of the device. Dropping it waits for the work that uses it, and then
/// drops `owner`. If `address` is not a multiple of 16, slower kernels run.
///
/// # Errors
/// The errors of [`view`]. A call that fails drops `owner`.
///
/// # Safety
/// 1. The `len` elements at `address` are initialised memory of one allocation that kernels of `device` can read and
///    write. It stays allocated while `owner` lives.
/// 2. All work on it that was submitted elsewhere is done, or comes before the call in the device's stream. While the
///    buffer lives, nothing else uses the memory.
pub unsafe fn buffer<T: Element>(
    device: &Device,
    address: u64,
    len: usize,
    owner: impl Any + Send + Sync,
) -> Result<Buffer<T>> {
    check::<T>(address, len).during("interop::raw::buffer")?;
    let address = if len * size_of::<T>() == 0 {
        0
    } else {
        address
    };
    // SAFETY: live memory that nothing else uses while the owner lives: the caller's contract.
    Ok(unsafe { Buffer::of_owner(device, address, len, Box::new(owner)) })
}

/// Makes later work of `device` wait for the earlier work of `stream`. The calling thread does not wait.
///
/// # Errors
/// [`ErrorKind::Interop`] on the simulator; those of [`Device::synchronize`].
///
/// # Safety
/// 1. `stream` is a live `CUstream` of the device's context, or null for its null stream.
pub unsafe fn wait_for_stream(device: &Device, stream: *mut c_void) -> Result<()> {
    foreign_streams(device)
        // SAFETY: a live stream or null: the caller's contract.
        .and_then(|device| unsafe { device.wait_for_stream(stream) })
        .during("interop::raw::wait_for_stream")
}

/// Makes later work of `stream` wait for the earlier work of `device`. The calling thread does not wait.
///
/// # Errors
/// [`ErrorKind::Interop`] on the simulator; those of [`Device::synchronize`].
///
/// # Safety
/// 1. `stream` is a live `CUstream`, or null for the null stream of the device's context.
pub unsafe fn let_stream_wait(stream: *mut c_void, device: &Device) -> Result<()> {
    foreign_streams(device)
        // SAFETY: a live stream or null: the caller's contract.
        .and_then(|device| unsafe { device.let_stream_wait(stream) })
        .during("interop::raw::let_stream_wait")
}

fn foreign_streams(device: &Device) -> Outcome<&dyn ForeignStreams> {
    device
        .backend()
        .foreign_streams()
        .ok_or(ErrorKind::Interop {
            reason: "other code has no streams on the simulator, whose work is done when a call returns",
        })
}

/// Checks what can be checked without the driver.
pub(super) fn check<T: Element>(address: u64, len: usize) -> Outcome<()> {
    let refused = |reason| Err(ErrorKind::Interop { reason });
    let bytes = len.checked_mul(size_of::<T>()).map(|bytes| bytes as u64);
    match bytes.and_then(|bytes| address.checked_add(bytes).map(|_| bytes)) {
        None => refused("the elements do not fit in the address space"),
        Some(0) => Ok(()),
        Some(_) if address == 0 => refused("the address is null"),
        Some(_) if !address.is_multiple_of(align_of::<T>() as u64) => {
            refused("the address is not aligned for the elements")
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn per_thread_streams_are_refused() {
        let stream = std::ptr::without_provenance_mut(PER_THREAD);
        // SAFETY: neither is used: the stream is refused.
        let error = unsafe { device(NonNull::dangling(), stream) }.unwrap_err();
        assert!(
            error.to_string().contains("another one in each thread"),
            "{error}"
        );
    }

    #[test]
    fn addresses_are_checked() {
        let reason = |address, len| match check::<f64>(address, len) {
            Err(ErrorKind::Interop { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(0, 1), "the address is null");
        assert_eq!(reason(12, 1), "the address is not aligned for the elements");
        let too_many = "the elements do not fit in the address space";
        assert_eq!(reason(8, usize::MAX / 4), too_many);
        assert_eq!(reason(u64::MAX - 7, 2), too_many);
        assert!(check::<f64>(0, 0).is_ok() && check::<f64>(12, 0).is_ok());
        assert!(check::<f64>(16, 3).is_ok());
    }

    #[test]
    fn a_buffer_keeps_its_owner_until_it_is_dropped() {
        let device = Device::simulator();
        let theirs = device.upload(&[1.0_f32, 2.0, 3.5]).unwrap();
        let (address, owner) = (theirs.device_address(), Arc::new(theirs));
        let kept = Arc::clone(&owner);
        // SAFETY: the memory has three elements, which nothing else uses while the buffer keeps its owner.
        let mut x = unsafe { buffer::<f32>(&device, address, 3, kept) }.unwrap();
        let stream = device.new_stream().unwrap();
        stream
            .reduce_sum_into(
                &x.slice(1..).unwrap().to_buffer().unwrap(),
                x.slice_mut(..1).unwrap(),
            )
            .unwrap();
        assert_eq!(Arc::strong_count(&owner), 2);
        assert_eq!(x.to_vec().unwrap(), [5.5, 2.0, 3.5]);
        drop(x);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn other_code_has_no_streams_on_the_simulator() {
        let device = Device::simulator();
        // SAFETY: null is a stream.
        let error = unsafe { wait_for_stream(&device, std::ptr::null_mut()) }.unwrap_err();
        assert!(
            error.to_string().contains("no streams on the simulator"),
            "{error}"
        );
        // SAFETY: as before.
        let error = unsafe { with_stream(&device, std::ptr::null_mut()) }.unwrap_err();
        assert_eq!(error.operation(), "interop::raw::with_stream");
        assert!(matches!(error.kind(), ErrorKind::Interop { .. }));
    }

    #[test]
    fn no_graph_records_views_of_the_callers_memory() -> Result<()> {
        let device = Device::simulator();
        let result = || device.zeros::<f32>(1);
        let theirs = device.upload(&[1.0_f32, 2.0, 3.5])?;
        let address = theirs.device_address();
        fn read(device: &Device, address: u64) -> Result<BufferView<'_, f32>> {
            // SAFETY: the memory is the buffer's, which outlives the view, and nothing writes it.
            unsafe { view(device, address, 3) }
        }
        fn write(device: &Device, address: u64) -> Result<BufferViewMut<'_, f32>> {
            // SAFETY: the memory is the buffer's, which outlives the view and is not used beside it.
            unsafe { view_mut(device, address, 1) }
        }
        let mut graphs = Vec::new();
        for is_stream in [false, true] {
            graphs.push(device.capture(result()?, |stream, sum| {
                let own = if is_stream { stream } else { &device };
                stream.reduce_sum_into(read(own, address)?, sum)
            }));
            graphs.push(device.capture(result()?, |stream, x| {
                let own = if is_stream { stream } else { &device };
                stream.reduce_sum_into(x.view(), write(own, address)?)
            }));
        }
        for graph in graphs {
            let error = graph.unwrap_err();
            assert!(
                error.to_string().contains("that the graph does not own"),
                "{error}"
            );
        }
        // A view without elements has no memory, and a buffer keeps its own.
        // SAFETY: no memory, and then that of the buffer, which is its owner.
        let (none, kept) = unsafe {
            let none = view::<f32>(&device, 0, 0)?;
            (none, buffer::<f32>(&device, address, 3, theirs)?)
        };
        let mut graph = device.capture((kept, result()?), |stream, (x, sum)| {
            stream.reduce_sum_into(none, &mut stream.zeros::<f32>(1)?)?;
            stream.reduce_sum_into(x.view(), sum)
        })?;
        graph.launch()?;
        assert_eq!(graph.operands().1.to_vec()?, [6.5]);
        Ok(())
    }

    #[test]
    fn views_are_of_the_callers_memory() {
        let device = Device::simulator();
        let mut x = device.upload(&[1.0_f32, 2.0, 3.5]).unwrap();
        let address = x.device_address();
        // SAFETY: the memory is the buffer's, which outlives the view and is not used meanwhile.
        let part = unsafe { view::<f32>(&device, address + 4, 2) }.unwrap();
        assert_eq!(device.reduce_sum(part).unwrap(), 5.5);
        // SAFETY: as before.
        let mut all = unsafe { view_mut::<f32>(&device, address, 3) }.unwrap();
        all.copy_from_slice(&[4.0; 3]).unwrap();
        assert_eq!(x.view_mut().view().to_vec().unwrap(), [4.0; 3]);
    }
}
