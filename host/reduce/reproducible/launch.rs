//! Reproducible sums of buffers.

use super::element::ReproducibleElement;
use super::state::ReproducibleSum;
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::{Device, default_device};
use crate::error::{During, Outcome, Result};
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::workspace::{TOTALS, Workspace};
use cuda_std::global::GlobalMut;
use tilewright_kernels::reduce::BLOCK_THREADS;
use tilewright_kernels::reduce::reproducible::{blocks, total_len};

impl Device {
    /// The exact sum of all elements of `x`, rounded once, to nearest and ties to even.
    ///
    /// `x` is a buffer or a slice of one ([`Buffer::slice`]). The error is at most half a unit in the last place.
    ///
    /// The bits depend on the elements alone: not on their order, unlike those of [`Device::reduce_sum`], and not on
    /// the device. If the elements lie in several buffers or on several devices or machines,
    /// [`Device::reproducible_sum`] gives the same sum.
    ///
    /// A NaN, or infinities of both signs, give the canonical NaN; infinities of one sign give that infinity.
    /// Otherwise the sum is infinite only if the exact sum, rounded, exceeds the type: partial sums may exceed it.
    /// Subnormals are exact. A sum that is zero is +0.
    ///
    /// The call waits for all submitted work, and so for the result. [`Device::reduce_sum_reproducible_into`] does
    /// not wait.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[1e30_f32, 1.0, -1e30, 0.5])?;
    /// assert_eq!(device.reduce_sum_reproducible(&x)?, 1.5);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::reduce_sum`].
    pub fn reduce_sum_reproducible<'x, T: ReproducibleElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
    ) -> Result<T::Sum> {
        let x = x.into();
        self.check_arrays([x], false)
            .and_then(|()| {
                let mut no_state = Buffer::uninit(self, 0)?;
                self.to_host(&mut |result| {
                    self.launch_reproducible(x, global_mut(no_state.view_mut()), result)
                })
            })
            .during("reduce_sum_reproducible")
    }

    /// Writes the value of [`Device::reduce_sum_reproducible`] to the one element of `result`, without waiting.
    ///
    /// Work that is submitted later sees the value.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `result` does not have one element,
    /// and those of [`Device::reduce_sum`].
    pub fn reduce_sum_reproducible_into<'x, 'r, T: ReproducibleElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
        result: impl Into<BufferViewMut<'r, T::Sum>>,
    ) -> Result<()> {
        let (x, result) = (x.into(), result.into());
        self.check_arrays([x], false)
            .and_then(|()| {
                self.check_result(&result)?;
                let mut no_state = Buffer::uninit(self, 0)?;
                let result = global_mut(result);
                self.launch_reproducible(x, global_mut(no_state.view_mut()), result)
            })
            .during("reduce_sum_reproducible_into")
    }

    /// The exact sum of all elements of `x`, as a state on the host that can be merged with others.
    ///
    /// The other states may be those of other parts of the data, on other devices or machines. The call waits for all
    /// submitted work.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[1e300_f64, 3.0, -1e300, 4.0])?;
    /// let mut sum = device.reproducible_sum(x.slice(..2)?)?;
    /// sum.merge(&device.reproducible_sum(x.slice(2..)?)?);
    /// assert_eq!(sum, device.reproducible_sum(&x)?);
    /// assert_eq!(sum.value(), 7.0);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::reduce_sum`].
    pub fn reproducible_sum<'x, T: ReproducibleElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
    ) -> Result<ReproducibleSum<T>> {
        self.state_of(x.into()).during("reproducible_sum")
    }

    fn state_of<T: ReproducibleElement>(
        &self,
        x: BufferView<'_, T>,
    ) -> Outcome<ReproducibleSum<T>> {
        self.check_arrays([x], false)?;
        let state = self.state_words_of(x)?;
        let mut sum = ReproducibleSum::new();
        state.view().write_host(sum.words_mut())?;
        Ok(sum)
    }

    /// The words of the sum of `x`, which is on this device, without waiting.
    pub(crate) fn state_words_of<T: ReproducibleElement>(
        &self,
        x: BufferView<'_, T>,
    ) -> Outcome<Buffer<u64>> {
        x.holder().order_reads(self)?;
        let words = ReproducibleSum::<T>::new().words().len();
        let mut state = Buffer::uninit(self, words)?;
        let mut no_result = Buffer::uninit(self, 0)?;
        self.launch_reproducible(
            x,
            global_mut(state.view_mut()),
            global_mut(no_result.view_mut()),
        )?;
        Ok(state)
    }

    /// Writes the sum of `x` as words to `state`, and rounded to `result`.
    ///
    /// `state` has the number of words or is empty; `result` has one element or none.
    fn launch_reproducible<T: ReproducibleElement>(
        &self,
        x: BufferView<'_, T>,
        state: GlobalMut<'_, u64>,
        result: GlobalMut<'_, T::Sum>,
    ) -> Outcome<()> {
        const { assert!(total_len::<T::Total>() <= TOTALS) };
        let module = Module::on_demand(self, T::MODULE);
        let config = LaunchConfig::new(blocks(x.len(), size_of::<T>()), BLOCK_THREADS);
        let mut workspace = Workspace::lock(self)?;
        let (ticket, totals) = workspace.counters()?;
        // SAFETY: the elements are there: the workspace holds a ticket and TOTALS totals, both aligned, and sums take
        // no more, by the assertion. Nothing else accesses them: no other thread submits work that uses the workspace
        // while it is locked, and work that was submitted earlier runs earlier.
        let (totals, ticket) = unsafe {
            (
                GlobalMut::from_raw_parts(totals, total_len::<T::Total>()),
                GlobalMut::from_raw_parts(ticket, 1),
            )
        };
        let params = (global(x), totals, ticket, state, result);
        // SAFETY: the kernel's requirements. Its blocks are `blocks`. Totals and ticket are the workspace's; state
        // and result have the lengths that the caller states. Totals and ticket are 0, and the workspace is locked.
        // Views of live memory without conflicting work: `x` is borrowed until this returns, and nothing else uses
        // `state` and `result` meanwhile.
        let launched = unsafe { module.launch_params::<T::Kernel>(config, params) };
        workspace.after(launched)
    }
}

/// The reproducible sum of `data` on the default device: [`Device::reduce_sum_reproducible`].
///
/// ```
/// assert_eq!(tilewright::reduce_sum_reproducible(&[1e16_f64, 1.0, -1e16])?, 1.0);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`], [`Device::upload`] and [`Device::reduce_sum_reproducible`].
pub fn reduce_sum_reproducible<T: ReproducibleElement>(data: &[T]) -> Result<T::Sum> {
    let device = default_device()?;
    device.reduce_sum_reproducible(&device.upload(data)?)
}
