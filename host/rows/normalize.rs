//! Launches of normalisation.

use super::element::RowElement;
use super::launch::{RowKernel, RowLaunch};
use super::operands::{OPERATION, Rows};
use crate::buffer::BufferView;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Outcome, check_length, check_shapes};
use crate::launch_args::{global, no_elements, no_operand};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::rows::{NormShape, VECTOR_BYTES};

/// The residual of a normalisation.
pub(super) enum Residual<'a, T: Element> {
    None,
    /// A matrix that is added first, and the destination of the sums.
    Added(Rows<'a, T>),
}

/// The parameters common to all rows: a factor and a summand for each column, and the kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'a, T: Element> {
    pub weight: Option<BufferView<'a, T>>,
    pub bias: Option<BufferView<'a, T>>,
    is_centred: bool,
    epsilon: f32,
}

impl<T: Element> Residual<'_, T> {
    /// Fails unless the matrices are on `device`, of `shape`, and their rows contiguous.
    fn check(&self, device: &Device, shape: (usize, usize)) -> Outcome<()> {
        let Self::Added(rows) = self else {
            return Ok(());
        };
        rows.check(device, ["the residual", "the matrix of the sums"])?;
        check_shapes(
            ["the matrix", "the residual"],
            shape,
            rows.operand().shape(),
        )
    }

    fn is_staged(&self) -> bool {
        matches!(self, Self::Added(rows) if rows.is_staged())
    }
}

impl<'a, T: RowElement> Columns<'a, T> {
    pub(super) fn new(is_centred: bool, epsilon: f32) -> Self {
        Self {
            weight: None,
            bias: None,
            is_centred,
            epsilon,
        }
    }

    /// Fails unless there is an element for each of `columns` columns, on `device`.
    fn check(&self, device: &Device, columns: usize) -> Outcome<()> {
        for (what, values) in [("the weight", self.weight), ("the bias", self.bias)] {
            if let Some(values) = values {
                device.check_reads(|| what.to_owned(), values.holder())?;
                check_length(
                    what,
                    values.len(),
                    columns,
                    "one for each column of the matrix",
                )?;
            }
        }
        Ok(())
    }

    /// Whether weight or bias does not start at a multiple of 16 bytes.
    fn is_staged(&self) -> bool {
        let starts_between = |values: BufferView<'_, T>| {
            !values.device_address().is_multiple_of(VECTOR_BYTES as u64)
        };
        [self.weight, self.bias]
            .into_iter()
            .flatten()
            .any(starts_between)
    }

    /// Normalises `rows`, with the residual added first.
    pub(super) fn normalize(
        &self,
        device: &Device,
        rows: Rows<'_, T>,
        residual: Residual<'_, T>,
    ) -> Outcome<()> {
        rows.check(device, OPERATION)?;
        let shape = rows.operand().shape();
        residual.check(device, shape)?;
        self.check(device, shape.1)?;
        if shape.0 == 0 || shape.1 == 0 {
            return Ok(());
        }
        self.launch(device, rows, residual)
    }

    /// Launches the kernel for `rows`, which have elements.
    fn launch(&self, device: &Device, rows: Rows<'_, T>, residual: Residual<'_, T>) -> Outcome<()> {
        let (count, len) = rows.operand().shape();
        let is_staged = rows.is_staged() || residual.is_staged() || self.is_staged();
        let launch =
            RowLaunch::new::<T, T::NormAhead, T::NormCluster>(device, (count, len), is_staged)?;
        // SAFETY: the launch accesses the elements of the rows alone, as the kernels document.
        let ([x_apart, y_apart], x, y) = unsafe { rows.into_params() };
        let ([residual_apart, sums_apart], residual, sums) = match residual {
            Residual::None => ([0, 0], no_operand(), no_elements()),
            // SAFETY: as above.
            Residual::Added(rows) => unsafe { rows.into_params() },
        };
        let shape = NormShape {
            rows: count,
            len,
            x_apart,
            residual_apart,
            sums_apart,
            y_apart,
            lanes: launch.lanes,
            is_staged: u32::from(launch.is_staged),
            is_centred: u32::from(self.is_centred),
            kept: launch.kept,
            epsilon: self.epsilon,
            has_room: u32::from(launch.has_room),
        };
        let weight = self.weight.map_or(no_operand(), global);
        let bias = self.bias.map_or(no_operand(), global);
        let constant = GridConstant::new(&shape);
        let params = (x, residual, sums, y, weight, bias, constant);
        let config = launch.config;
        // SAFETY: the kernels' requirements. The launch is the plan's, and has the shared memory that the rows need.
        // All matrices have the elements of the rows, or are replaced by results; a mutable borrow's rows share none.
        // Weight and bias have an element for each column. Views of live memory without conflicting work: all operands
        // are borrowed until this returns.
        unsafe {
            match launch.kernel {
                RowKernel::Short => Module::launch_own::<T::NormShort>(device, config, params),
                RowKernel::Block => Module::launch_own::<T::NormBlock>(device, config, params),
                RowKernel::Ahead => Module::launch_own::<T::NormAhead>(device, config, params),
                RowKernel::Long => Module::launch_own::<T::NormLong>(device, config, params),
                RowKernel::Parts => Module::launch_own::<T::NormParts>(device, config, params),
                RowKernel::Cluster => Module::launch_own::<T::NormCluster>(device, config, params),
            }
        }
    }
}
