//! Reductions of matrix rows and columns.

use super::launch::{CHECK_FIRST, operand};
use super::operations::{Reducible, ReducibleLines};
use super::sealed::{LineShared, ReduceLines};
use crate::buffer::{Buffer, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_length};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::global_mut;
use crate::matrix::{IntoMatrixView, MatrixView, Order};
use crate::module::Module;
use crate::workspace::Counters;
use tilewright_kernels::reduce::lines::{
    ACCUMULATORS, LANE_ACCUMULATORS, LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT, LinePlan,
};

impl Device {
    /// Reduces each row of `matrix` by `operation`, one of [`ops`](crate::ops).
    ///
    /// The result has one element for each row. `matrix` is `&matrix` or a view, row- or column-major.
    ///
    /// A row is combined in a tree that depends on its length alone. Its value has the same bits in either order of
    /// the matrix, whatever the other rows hold, in every run and on every device ([docs/reductions.md]). The bits
    /// may differ from those of [`Device::reduce`].
    ///
    /// [docs/reductions.md]: https://github.com/tilewright/tilewright/blob/main/docs/reductions.md
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let matrix = device.matrix((2, 3), &[1.0_f32, 5.0, 2.0, 4.0, 3.0, 6.0])?;
    /// assert_eq!(device.reduce_rows(&matrix, ops::Sum)?.to_vec()?, [8.0, 13.0]);
    /// assert_eq!(device.reduce_rows(&matrix, ops::ArgMax)?.to_vec()?, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`] if `matrix` is on another device; [`ErrorKind::NoElements`] for `Min`, `Max`,
    /// `MinMax`, `ArgMin` and `ArgMax` if the matrix has rows but no columns; [`ErrorKind::TooLarge`] if the launch
    /// needs more than 2^31 - 1 blocks; [`ErrorKind::NoModule`], and those of [`Device::zeros`].
    pub fn reduce_rows<'m, R, T: ReducibleLines<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
    ) -> Result<Buffer<<T as Reducible<R>>::Output>> {
        let _: R = operation;
        self.rows_reduced::<R, T, 1>([matrix.into()])
            .during("reduce_rows")
    }

    /// Reduces each column of `matrix`: [`Device::reduce_rows`] for columns.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let matrix = device.matrix((2, 3), &[1, 5, 2, 4, 3, 6])?;
    /// assert_eq!(device.reduce_columns(&matrix, ops::Max)?.to_vec()?, [4, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::reduce_rows`].
    pub fn reduce_columns<'m, R, T: ReducibleLines<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
    ) -> Result<Buffer<<T as Reducible<R>>::Output>> {
        let _: R = operation;
        self.rows_reduced::<R, T, 1>([matrix.into().t()])
            .during("reduce_columns")
    }

    /// Writes the value of each row of `matrix` to `values`, without waiting.
    ///
    /// Work that is submitted later sees the values.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if `values` does not have an element for each row, and those of
    /// [`Device::reduce_rows`].
    pub fn reduce_rows_into<'m, 'r, R, T: ReducibleLines<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        values: impl Into<BufferViewMut<'r, <T as Reducible<R>>::Output>>,
    ) -> Result<()> {
        let _: R = operation;
        self.rows_reduced_into::<R, T, 1>([matrix.into()], values.into())
            .during("reduce_rows_into")
    }

    /// Writes the value of each column of `matrix` to `values`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if `values` does not have an element for each column, and those of
    /// [`Device::reduce_rows`].
    pub fn reduce_columns_into<'m, 'r, R, T: ReducibleLines<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        values: impl Into<BufferViewMut<'r, <T as Reducible<R>>::Output>>,
    ) -> Result<()> {
        let _: R = operation;
        self.rows_reduced_into::<R, T, 1>([matrix.into().t()], values.into())
            .during("reduce_columns_into")
    }

    /// Fails unless `x` are on this device.
    pub(super) fn check_matrices<T: Element, const ARRAYS: usize>(
        &self,
        x: [MatrixView<'_, T>; ARRAYS],
    ) -> Outcome<()> {
        for (index, matrix) in x.iter().enumerate() {
            self.check_reads(|| operand("matrix", index, ARRAYS), matrix.holder())?;
        }
        Ok(())
    }

    /// The values of the rows of `x`: one matrix, or two of the same shape and order.
    pub(crate) fn rows_reduced<R, T: ReduceLines<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [MatrixView<'_, T>; ARRAYS],
    ) -> Outcome<Buffer<T::Value>> {
        let mut values = Buffer::uninit(self, x[0].rows())?;
        self.rows_reduced_into::<R, T, ARRAYS>(x, values.view_mut())?;
        Ok(values)
    }

    /// Writes the values of the rows of `x` to `values`. `x` is one matrix, or two of the same shape and order.
    pub(super) fn rows_reduced_into<R, T: ReduceLines<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [MatrixView<'_, T>; ARRAYS],
        values: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        self.check_matrices(x)?;
        match self.has_lines(x[0].shape(), &values, T::NEEDS_AN_ELEMENT)? {
            true => self.launch_rows::<R, T, ARRAYS>(x, values),
            false => Ok(()),
        }
    }

    /// Whether there are rows to reduce, of a matrix of `shape`. Fails unless `values` are on this device, one for
    /// each row, and if rows have no elements but need one.
    pub(super) fn has_lines<O: Element>(
        &self,
        shape: (usize, usize),
        values: &BufferViewMut<'_, O>,
        needs_an_element: bool,
    ) -> Outcome<bool> {
        self.check_writes(|| "the buffer of the values".to_owned(), values.written())?;
        let rule = "one for each row or column to reduce";
        check_length("the buffer of the values", values.len(), shape.0, rule)?;
        match shape {
            (0, _) => Ok(false),
            (_, 0) if needs_an_element => Err(ErrorKind::NoElements {
                what: "each row or column to reduce".to_owned(),
                remedy: CHECK_FIRST,
            }),
            _ => Ok(true),
        }
    }

    /// Reduces the rows of `x`, at least one, to `values`, one for each row.
    fn launch_rows<R, T: ReduceLines<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [MatrixView<'_, T>; ARRAYS],
        values: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        let launch = LineLaunch::new(x[0].shape(), x[0].order())?;
        launch.with_memory(self, |shared| {
            let params = T::line_params(x, shared, global_mut(values));
            // SAFETY: the kernel's requirements. Its blocks: `launch.config` has them. Its elements: `params`
            // has those of the views, which have one shape and one order; lines, or the elements of a line, are a
            // leading dimension apart. Its workspace: `with_memory` has partial results and tickets for the launch;
            // there is a value for each row, as was compared. Its grid: `launch` is for the kernel of this order.
            // Views of live memory without conflicting work: matrices and values are borrowed until this returns, and
            // the partial results are freed after the launch, in the device's order.
            unsafe {
                if launch.is_along {
                    let module = Module::on_demand(self, T::ALONG_MODULE);
                    module.launch_params::<T::Along>(launch.config, params)
                } else {
                    let module = Module::on_demand(self, T::ACROSS_MODULE);
                    module.launch_params::<T::Across>(launch.config, params)
                }
            }
        })
    }
}

/// A launch for the rows of a matrix, besides the rows and their values.
pub(super) struct LineLaunch {
    /// Whether the kernel is the one for contiguous lines, otherwise the one for lines whose neighbours are
    /// contiguous.
    pub is_along: bool,
    pub config: LaunchConfig,
    /// The kernel's parameter for the grid: see [`Grid::shape`].
    shape: u32,
    /// Numbers of partial results and of tickets that the kernel needs.
    partials: usize,
    tickets: usize,
}

impl LineLaunch {
    /// For `count` rows, at least one, of `len` elements, of a matrix in `order`.
    pub(super) fn new((count, len): (usize, usize), order: Order) -> Outcome<Self> {
        let plan = LinePlan::new(len);
        let is_along = order == Order::RowMajor;
        let grid = if is_along {
            Grid::along(count, plan)
        } else {
            Grid::across(count, plan)
        };
        let (partials, tickets) = match grid.units {
            1 => (0, 0),
            units => (count * units, grid.tickets),
        };
        Ok(Self {
            is_along,
            config: LaunchConfig::new(grid.blocks(plan)?, LINE_THREADS),
            shape: grid.shape,
            partials,
            tickets,
        })
    }

    /// Runs `submit`, which submits the launch, with the memory that its blocks share: partial results, and tickets,
    /// which are 0 and locked.
    pub(super) fn with_memory<A: Element>(
        &self,
        device: &Device,
        submit: impl FnOnce(LineShared<'_, A>) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut partials = Buffer::uninit(device, self.partials)?;
        let mut tickets = Counters::lock(device, self.tickets)?;
        let submitted = submit(LineShared {
            shape: self.shape,
            partials: global_mut(partials.view_mut()),
            tickets: tickets.words(),
        });
        tickets.after(submitted)
    }
}

/// The blocks of a launch.
struct Grid {
    blocks: usize,
    /// The kernel's parameter for the grid: lanes for a line, or groups of lines.
    shape: u32,
    /// Units of work of a line, at most one block each. If there are several, each leaves a partial result.
    units: usize,
    /// Counters for lines that have several units.
    tickets: usize,
}

impl Grid {
    /// For contiguous lines.
    fn along(count: usize, plan: LinePlan) -> Self {
        let (lanes, lines) = if plan.elements <= ACCUMULATORS {
            let lanes = plan.elements.div_ceil(LANE_ACCUMULATORS).max(1);
            (lanes.next_power_of_two() as u32, LINES_IN_FLIGHT)
        } else {
            (LANES_OF_PART, 1)
        };
        let of_block = (LINE_THREADS / lanes) as usize * lines;
        let parts = plan.sections * plan.parts;
        Self {
            blocks: count.saturating_mul(parts).div_ceil(of_block),
            shape: lanes,
            units: plan.sections,
            tickets: count,
        }
    }

    /// For lines whose neighbours are contiguous.
    fn across(count: usize, plan: LinePlan) -> Self {
        let groups = count.div_ceil(plan.lines_of_block_across());
        let units = plan.sections * plan.units_across();
        Self {
            blocks: groups.saturating_mul(units),
            // If this overflows, the grid would have too many blocks anyway.
            shape: groups as u32,
            units,
            tickets: groups,
        }
    }

    /// The number of blocks, if a grid can have that many.
    fn blocks(&self, plan: LinePlan) -> Outcome<u32> {
        grid_x(self.blocks, || {
            format!(
                "a grid of {} blocks for lines of {} elements",
                self.blocks, plan.elements
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = (1 << 32) + 3;

    #[test]
    fn lines_beyond_2_to_the_32_elements_are_a_launch() {
        // 513 sections of 2^23 elements.
        let plan = LinePlan::new(MANY);
        let along = Grid::along(3, plan);
        assert_eq!(along.blocks(plan).unwrap(), 3 * 513);
        assert_eq!((along.shape, along.units, along.tickets), (32, 513, 3));
        let across = Grid::across(33, plan);
        assert_eq!(across.blocks(plan).unwrap(), 2 * 513 * 4);
        assert_eq!(
            (across.shape, across.units, across.tickets),
            (2, 513 * 4, 2)
        );
    }

    #[test]
    fn rows_of_a_section_leave_no_partial_results_and_share_blocks_if_they_are_short() {
        for (len, blocks) in [(1000, 2), (1025, 4), (2049, 8), (4097, 15), (16_384, 15)] {
            let plan = LinePlan::new(len);
            let along = Grid::along(15, plan);
            assert_eq!(
                (along.blocks(plan).unwrap(), along.units),
                (blocks, 1),
                "{len}"
            );
        }
    }

    #[test]
    fn more_lines_than_32_bits_count_are_a_launch() {
        let plan = LinePlan::new(5);
        let along = Grid::along(MANY, plan);
        // Two lanes for a line, four lines for each lane.
        assert_eq!((along.shape, along.tickets), (2, MANY));
        assert_eq!(along.blocks(plan).unwrap(), (1 << 23) + 1);
        let across = Grid::across(MANY, plan);
        // One thread for a line: 256 lines for a block.
        assert_eq!(across.blocks(plan).unwrap(), (1 << 24) + 1);
        assert_eq!(across.shape, (1 << 24) + 1);
    }

    #[test]
    fn more_blocks_than_a_grid_has_are_refused() {
        let (short, long) = (LinePlan::new(5), LinePlan::new(MANY));
        for (grid, plan) in [
            (Grid::along(1 << 40, short), short),
            (Grid::across(1 << 40, short), short),
            (Grid::along(1 << 26, long), long),
            (Grid::across(usize::MAX, long), long),
        ] {
            let error = grid.blocks(plan).unwrap_err();
            assert!(matches!(error, ErrorKind::TooLarge { .. }), "{error}");
        }
    }
}
