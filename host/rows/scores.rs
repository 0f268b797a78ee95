//! Launches of softmax and its relatives.

use super::element::RowElement;
use super::launch::{RowKernel, RowLaunch};
use super::operands::{OPERATION, Rows};
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::error::{Outcome, check_length};
use crate::launch_args::{global, global_mut, no_elements, no_operand};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::rows::SoftmaxShape;

/// The results of softmax and its relatives.
#[derive(Clone, Copy)]
pub(super) struct Results {
    pub is_logarithmic: bool,
    pub scale: f32,
}

impl Results {
    /// Results that are not logarithms.
    pub(super) const PLAIN: Self = Self {
        is_logarithmic: false,
        scale: 1.0,
    };
}

/// The classes of the rows, and their values.
pub(super) struct OfRows<'a> {
    pub classes: Option<BufferView<'a, u32>>,
    pub values: Option<BufferViewMut<'a, f32>>,
}

impl OfRows<'_> {
    pub(super) const NONE: Self = Self {
        classes: None,
        values: None,
    };
}

impl Device {
    /// Computes softmax, its logarithm, or cross entropy of `rows`.
    pub(super) fn softmax_rows<T: RowElement>(
        &self,
        rows: Rows<'_, T>,
        results: Results,
        of_rows: OfRows<'_>,
    ) -> Outcome<()> {
        rows.check(self, OPERATION)?;
        let (count, len) = rows.operand().shape();
        of_rows.check(self, count)?;
        if count == 0 || (len == 0 && of_rows.values.is_none()) {
            return Ok(());
        }
        self.launch_softmax(rows, results, of_rows)
    }

    /// Launches the kernel for `rows`, at least one.
    fn launch_softmax<T: RowElement>(
        &self,
        rows: Rows<'_, T>,
        results: Results,
        of_rows: OfRows<'_>,
    ) -> Outcome<()> {
        let (count, len) = rows.operand().shape();
        let launch = RowLaunch::new::<T, T::SoftmaxAhead, T::SoftmaxCluster>(
            self,
            (count, len),
            rows.is_staged(),
        )?;
        // SAFETY: the launch accesses the elements of the rows alone, as the kernels document.
        let ([x_apart, y_apart], x, y) = unsafe { rows.into_params() };
        let shape = SoftmaxShape {
            rows: count,
            len,
            x_apart,
            y_apart,
            lanes: launch.lanes,
            is_staged: u32::from(launch.is_staged),
            is_logarithmic: u32::from(results.is_logarithmic),
            kept: launch.kept,
            scale: results.scale,
            has_room: u32::from(launch.has_room),
        };
        let classes = of_rows.classes.map_or(no_operand(), global);
        let values = of_rows.values.map_or(no_elements(), global_mut);
        let params = (x, y, classes, values, GridConstant::new(&shape));
        let config = launch.config;
        // SAFETY: the kernels' requirements. The launch is the plan's, and has the shared memory that `kept` needs.
        // `x` and `y` have the elements of the rows, or `y` replaces its own; a mutable borrow's rows share none.
        // Lengths of classes and values were compared. Only softmax without classes has logarithms. Views of live
        // memory without conflicting work: all operands are borrowed until this returns.
        unsafe {
            match launch.kernel {
                RowKernel::Short => Module::launch_own::<T::SoftmaxShort>(self, config, params),
                RowKernel::Block => Module::launch_own::<T::SoftmaxBlock>(self, config, params),
                RowKernel::Ahead => Module::launch_own::<T::SoftmaxAhead>(self, config, params),
                RowKernel::Long => Module::launch_own::<T::SoftmaxLong>(self, config, params),
                RowKernel::Parts => Module::launch_own::<T::SoftmaxParts>(self, config, params),
                RowKernel::Cluster => Module::launch_own::<T::SoftmaxCluster>(self, config, params),
            }
        }
    }
}

impl OfRows<'_> {
    /// Fails unless classes and values are on `device`, one for each of `count` rows.
    fn check(&self, device: &Device, count: usize) -> Outcome<()> {
        const RULE: &str = "one for each row of the matrix";
        if let Some(classes) = &self.classes {
            device.check_reads(|| "the buffer of the classes".to_owned(), classes.holder())?;
            check_length("the buffer of the classes", classes.len(), count, RULE)?;
        }
        if let Some(values) = &self.values {
            device.check_writes(|| "the buffer of the values".to_owned(), values.written())?;
            check_length("the buffer of the values", values.len(), count, RULE)?;
        }
        Ok(())
    }
}
