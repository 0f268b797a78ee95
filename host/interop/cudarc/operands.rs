//! Slices of `cudarc` as operands of calls.

use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::holder::Holder;
use crate::interop::raw;
use crate::uses::Uses;
use ::cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, SyncOnDrop,
};
use std::sync::Arc;

/// Operands of [`Bridge::with`](super::Bridge::with): references to slices and views of `cudarc`, and tuples of them.
pub trait Operands: Sealed {
    /// The views of the operands, alive during the call.
    type Views<'v>;

    /// The operands, held for a stream.
    #[doc(hidden)]
    type Held<'h>
    where
        Self: 'h;

    /// Makes `stream`, that of `device`, wait for earlier uses. Dropping the result records the device's work as a use.
    #[doc(hidden)]
    fn hold<'h>(
        &'h mut self,
        device: &'h Device,
        stream: &'h CudaStream,
    ) -> Outcome<Self::Held<'h>>;

    /// # Safety
    /// 1. `held` is held for the stream of its device.
    /// 2. This is the only call for `held`.
    #[doc(hidden)]
    unsafe fn views<'v>(held: &'v Self::Held<'_>) -> Outcome<Self::Views<'v>>;
}

pub trait Sealed {}

/// A slice that the streams of a device use.
#[derive(Debug)]
pub struct Held<'h> {
    device: &'h Device,
    /// The device's streams that use the slice; initially the one for which it is held.
    uses: Uses,
    address: u64,
    len: usize,
    _recorded: SyncOnDrop<'h>,
}

impl<'h> Held<'h> {
    fn new<T>(device: &'h Device, (address, recorded): (u64, SyncOnDrop<'h>), len: usize) -> Self {
        Self {
            device,
            uses: Uses::new(device.backend().stream(), len * size_of::<T>()),
            address,
            len,
            _recorded: recorded,
        }
    }

    /// # Safety
    /// The requirements of [`Operands::views`].
    unsafe fn view<T: Element>(&self) -> Outcome<BufferView<'_, T>> {
        raw::check::<T>(self.address, self.len)?;
        let holder = Holder {
            device: self.device,
            uses: Some(&self.uses),
        };
        // SAFETY: live memory of the context, which the operand borrows. Work of other streams that writes it is ordered
        // before the device's stream by `read` or `write`, and after it when this is dropped.
        Ok(unsafe { BufferView::of_elements(holder, self.address, self.len) })
    }

    /// # Safety
    /// The requirements of [`Operands::views`].
    unsafe fn view_mut<T: Element>(&self) -> Outcome<BufferViewMut<'_, T>> {
        // SAFETY: the caller's contract.
        let view = unsafe { self.view() }?;
        // SAFETY: no other view has the elements: the operand borrows them mutably, and this is the only call.
        Ok(unsafe { BufferViewMut::of_view(view) })
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The event recorded next covers this stream's work only. If the stream cannot wait for the device's others,
        // the device is lost.
        let _ = self.uses.order_writes(self.device.backend(), true);
    }
}

/// Fails unless memory of `context` is ordered with `stream` by events.
///
/// Two `CudaContext`s of one driver context do not know of each other's streams.
pub(super) fn check_context(context: &Arc<CudaContext>, stream: &CudaStream) -> Outcome<()> {
    match Arc::ptr_eq(context, stream.context()) {
        true => Ok(()),
        false => Err(ErrorKind::Interop {
            reason: "the slice is of another CudaContext than the device's stream; make both with clones of one \
                     Arc<CudaContext>",
        }),
    }
}

fn read<'h, T>(
    operand: &'h impl DevicePtr<T>,
    device: &'h Device,
    stream: &'h CudaStream,
) -> Outcome<Held<'h>> {
    check_context(operand.stream().context(), stream)?;
    let len = operand.len();
    Ok(Held::new::<T>(device, operand.device_ptr(stream), len))
}

fn write<'h, T>(
    operand: &'h mut impl DevicePtrMut<T>,
    device: &'h Device,
    stream: &'h CudaStream,
) -> Outcome<Held<'h>> {
    check_context(operand.stream().context(), stream)?;
    let len = operand.len();
    Ok(Held::new::<T>(device, operand.device_ptr_mut(stream), len))
}

macro_rules! operand {
    ($($operand:ty, $hold:ident, $view:ident, $make:ident;)*) => {$(
        impl<T: Element> Sealed for $operand {}

        impl<T: Element> Operands for $operand {
            type Views<'v> = $view<'v, T>;
            type Held<'h>
                = Held<'h>
            where
                Self: 'h;

            fn hold<'h>(
                &'h mut self,
                device: &'h Device,
                stream: &'h CudaStream,
            ) -> Outcome<Held<'h>> {
                $hold::<T>(*self, device, stream)
            }

            unsafe fn views<'v>(held: &'v Held<'_>) -> Outcome<$view<'v, T>> {
                // SAFETY: the caller's contract.
                unsafe { held.$make() }
            }
        }
    )*};
}

operand! {
    &CudaSlice<T>, read, BufferView, view;
    &CudaView<'_, T>, read, BufferView, view;
    &mut CudaSlice<T>, write, BufferViewMut, view_mut;
    &mut CudaViewMut<'_, T>, write, BufferViewMut, view_mut;
}

macro_rules! tuple {
    ($($operand:ident $index:tt),*) => {
        impl<$($operand: Operands),*> Sealed for ($($operand,)*) {}

        impl<$($operand: Operands),*> Operands for ($($operand,)*) {
            type Views<'v> = ($($operand::Views<'v>,)*);
            type Held<'h>
                = ($($operand::Held<'h>,)*)
            where
                Self: 'h;

            fn hold<'h>(
                &'h mut self,
                device: &'h Device,
                stream: &'h CudaStream,
            ) -> Outcome<Self::Held<'h>> {
                Ok(($(self.$index.hold(device, stream)?,)*))
            }

            unsafe fn views<'v>(held: &'v Self::Held<'_>) -> Outcome<Self::Views<'v>> {
                // SAFETY: the caller's contract, for each operand.
                Ok(unsafe { ($($operand::views(&held.$index)?,)*) })
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
