//! Reductions by operations that other crates define: of whole buffers here, of rows and segments in `custom/lines.rs`.

mod lines;

use crate::buffer::{BufferView, BufferViewMut, IntoBufferView};
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::kernel_output::Lines;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::workspace::Workspace;
use cuda_std::global::GlobalMut;
use tilewright_kernels::reduce::{Plan, Reduction, ReductionKernel};

/// The accumulator of a kernel's operation.
type AccumulatorOf<K> =
    <<K as ReductionKernel>::Operation as Reduction<<K as ReductionKernel>::Element>>::Accumulator;

/// The type of a kernel's result.
type OutputOf<K> =
    <<K as ReductionKernel>::Operation as Reduction<<K as ReductionKernel>::Element>>::Output;

impl Module {
    /// Reduces all elements of `x` by a custom operation.
    ///
    /// [`reductions!`](tilewright_kernels::reductions) generates `kernel` from the operation. `x` is a buffer or a
    /// slice of one.
    ///
    /// The elements are combined in the tree of [`Device::reduce`](crate::Device::reduce) for elements of the same
    /// size, so the same elements give the same bits in every run and on every device. The call waits for all submitted
    /// work, the reduction included. [`reduce_into`](Self::reduce_into) does not wait.
    ///
    /// ```
    /// use tilewright::{Device, ModuleSource};
    /// use tilewright_kernels::reduce::Reduction;
    ///
    /// /// The number of negative elements.
    /// pub struct Negative;
    ///
    /// impl Reduction<f32> for Negative {
    ///     type Accumulator = u64;
    ///     type Output = u64;
    ///     const IDENTITY: u64 = 0;
    ///
    ///     fn lift(element: f32, _index: usize) -> u64 {
    ///         u64::from(element < 0.0)
    ///     }
    ///
    ///     fn combine(left: u64, right: u64) -> u64 {
    ///         left + right
    ///     }
    ///
    ///     fn finish(total: u64, _elements: usize) -> u64 {
    ///         total
    ///     }
    /// }
    ///
    /// tilewright_kernels::reductions! {
    ///     /// Counts the negative elements.
    ///     count_negative: Negative of f32;
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("negative", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let x = device.upload(&[1.5_f32, -2.0, -0.0, -3.0])?;
    /// assert_eq!(module.reduce(count_negative, &x)?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`](crate::ErrorKind::NoElements) if `x` is empty and the operation needs an element;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` is on another device;
    /// [`ErrorKind::OutOfHostMemory`](crate::ErrorKind::OutOfHostMemory), and those of [`launch`](Self::launch).
    pub fn reduce<'x, K>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Element>,
    ) -> Result<OutputOf<K>>
    where
        K: ReductionKernel<Element: Element>,
        AccumulatorOf<K>: Element,
        OutputOf<K>: Element,
    {
        let x = x.into();
        let reduced = self.check_elements::<K>(x).and_then(|()| {
            let device = self.device();
            device.to_host(&mut |result| self.launch_reduction(kernel, x, result))
        });
        reduced.during("reduce")
    }

    /// Writes the value of [`reduce`](Self::reduce) to the one element of `result`, without waiting.
    ///
    /// Work that is submitted later sees the value.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `result` does not have one element,
    /// and those of [`reduce`](Self::reduce).
    pub fn reduce_into<'x, 'r, K>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Element>,
        result: impl Into<BufferViewMut<'r, OutputOf<K>>>,
    ) -> Result<()>
    where
        K: ReductionKernel<Element: Element>,
        AccumulatorOf<K>: Element,
        OutputOf<K>: Element,
    {
        let (x, result) = (x.into(), result.into());
        let reduce = || {
            self.check_elements::<K>(x)?;
            self.device().check_result(&result)?;
            self.launch_reduction(kernel, x, global_mut(result))
        };
        reduce().during("reduce_into")
    }

    fn check_elements<K>(&self, x: BufferView<'_, K::Element>) -> Outcome<()>
    where
        K: ReductionKernel<Element: Element>,
    {
        let needs_an_element = <K::Operation as Reduction<K::Element>>::NEEDS_AN_ELEMENT;
        self.device().check_arrays([x], needs_an_element)
    }

    fn launch_reduction<K>(
        &self,
        _kernel: K,
        x: BufferView<'_, K::Element>,
        result: GlobalMut<'_, OutputOf<K>>,
    ) -> Outcome<()>
    where
        K: ReductionKernel<Element: Element>,
        AccumulatorOf<K>: Element,
        OutputOf<K>: Element,
    {
        let plan = Plan::new(x.len(), size_of::<K::Element>());
        // Dropped last: the operation may print, and the workspace is a lock of the device.
        let lines = Lines::default();
        let mut workspace = Workspace::lock(self.device())?;
        let (config, shared) = workspace.shared(plan)?;
        let params = (global(x), shared.partials, shared.ticket, result);
        // SAFETY: the kernel's requirements are those of `reductions!`: `ReductionKernel` guarantees it. Its blocks
        // and partial results are those of the plan. `result` and the ticket have an element each. The ticket is 0,
        // and the workspace is locked. Views of live memory without conflicting work: `x` is borrowed until this
        // returns, and nothing else uses `result` meanwhile.
        let launched = unsafe { self.by_ref().launch_printing::<K>(config, params, &lines) };
        workspace.after(launched)
    }
}
