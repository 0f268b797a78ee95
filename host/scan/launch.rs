//! Launches of kernels that scan lines: of a matrix, of a buffer as one line, or its segments.

use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome, check_length, check_shapes};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, no_operand, read_elements, written_by_product};
use crate::matrix::{MatrixShape, MatrixView, MatrixViewMut, Order, in_one_order};
use crate::reduce::{ScanTiles, Segments};
use bytemuck::Zeroable as _;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use std::sync::Arc;
use tilewright_kernels::scan::{SCAN_THREADS, ScanPlan, ScanShape, TICKET_WORDS};

/// Segments of a block that are not divided into tiles.
const SEGMENTS_OF_BLOCK: usize = 64;

/// The elements that a result includes.
#[derive(Clone, Copy)]
pub(super) enum Kind<T> {
    /// Those before it, and its own.
    Inclusive,
    /// Those before it, after an initial value if there is one.
    Exclusive(Option<T>),
}

/// The axis of a matrix that is scanned: its rows or its columns.
#[derive(Clone, Copy)]
pub(super) enum Axis {
    Rows,
    Columns,
}

/// Elements to scan, and their results.
pub(super) struct Scanned<'a, T, O> {
    pub x: Global<'a, T>,
    pub y: GlobalMut<'a, O>,
    lines: Lines<'a>,
}

/// The elements of each line.
enum Lines<'a> {
    Equal {
        /// The number of lines, and of elements in each.
        count: (usize, usize),
        /// Elements from one line to the next, of both; or from one element of a line to the next, if `is_across`.
        apart: [usize; 2],
        /// Whether the elements of neighbouring lines lie one after another, not those of a line.
        is_across: bool,
    },
    Segments(&'a Segments),
}

/// The parameters of a launch.
pub(super) type ScanParams<'a, T, O> = (
    Global<'a, T>,
    GlobalMut<'a, O>,
    GlobalMut<'a, u64>,
    [T; 1],
    GridConstant<'a, ScanShape>,
    Global<'a, u64>,
    Global<'a, [u64; 3]>,
);

impl<'a, T: Element, O: Element> Scanned<'a, T, O> {
    /// The buffer `x`, whose results go to `y`.
    pub(super) fn buffer(
        device: &Device,
        x: BufferView<'a, T>,
        y: BufferViewMut<'a, O>,
    ) -> Outcome<Self> {
        device.check_reads(|| "the buffer to scan".to_owned(), x.holder())?;
        device.check_writes(|| "the buffer of the results".to_owned(), y.written())?;
        let rule = "one for each element of the buffer to scan";
        check_length("the buffer of the results", y.len(), x.len(), rule)?;
        let lines = Lines::Equal {
            count: (1, x.len()),
            apart: [x.len(), y.len()],
            is_across: false,
        };
        Ok(Self {
            lines,
            x: global(x),
            y: global_mut(y),
        })
    }

    /// The segments of `x`, whose results go to `y`.
    pub(super) fn segments(
        device: &Device,
        x: BufferView<'a, T>,
        y: BufferViewMut<'a, O>,
        segments: &'a Segments,
    ) -> Outcome<Self> {
        segments.check(device, x.len())?;
        Ok(Self {
            lines: Lines::Segments(segments),
            ..Self::buffer(device, x, y)?
        })
    }

    /// The rows or columns of `x`, whose results go to `y`.
    pub(super) fn matrix(
        device: &Device,
        axis: Axis,
        x: MatrixView<'a, T>,
        y: MatrixViewMut<'a, O>,
    ) -> Outcome<Self> {
        const NAMES: [&str; 2] = ["the matrix to scan", "the matrix of the results"];
        device.check_reads(|| NAMES[0].to_owned(), x.holder())?;
        device.check_writes(|| NAMES[1].to_owned(), y.written())?;
        check_shapes(NAMES, x.shape(), y.shape())?;
        Ok(Self {
            lines: Lines::of_matrices(axis, x, y.view())?,
            // SAFETY: for both: the kernels access nothing but the elements of the lines.
            x: unsafe { read_elements(x.into()) },
            // SAFETY: as above.
            y: unsafe { written_by_product(y.into()) },
        })
    }

    /// Runs `submit`, which submits the launch, unless there is nothing to scan. `plan` gives the split of a line.
    ///
    /// The launch meets the requirements of a kernel that `row_scan_kernel!` makes, for an operation whose plan it is:
    /// its grid, lines and state.
    pub(super) fn launch(
        self,
        device: &Device,
        plan: fn(usize) -> ScanPlan,
        kind: Kind<T>,
        submit: impl FnOnce(LaunchConfig, ScanParams<'_, T, O>) -> Outcome<()>,
    ) -> Outcome<()> {
        let Some(Work {
            blocks,
            words,
            shape,
            offsets,
            tiles,
        }) = self.lines.work(device, size_of::<T>(), plan)?
        else {
            return Ok(());
        };
        let blocks = grid_x(blocks, || format!("a grid to scan {} lines", shape.rows))?;
        let mut state = Buffer::<u64>::zeroed(device, words)?;
        let (is_exclusive, initial) = match kind {
            Kind::Exclusive(initial) => (true, initial),
            Kind::Inclusive => (false, None),
        };
        let shape = ScanShape {
            is_exclusive: is_exclusive.into(),
            has_initial: initial.is_some().into(),
            ..shape
        };
        let params = (
            self.x,
            self.y,
            global_mut(state.view_mut()),
            [initial.unwrap_or_else(T::zeroed)],
            GridConstant::new(&shape),
            offsets,
            tiles
                .as_ref()
                .map_or_else(no_operand, |list| global(list.tiles.view())),
        );
        submit(LaunchConfig::new(blocks, SCAN_THREADS), params)
    }
}

/// The work of a launch.
struct Work<'a> {
    blocks: usize,
    /// Words of the state.
    words: usize,
    shape: ScanShape,
    /// The offsets and the listed tiles of segments.
    offsets: Global<'a, u64>,
    tiles: Option<Arc<ScanTiles>>,
}

impl<'a> Lines<'a> {
    /// The rows or columns of `x` and `y`, of one shape.
    fn of_matrices<T: Element, O: Element>(
        axis: Axis,
        x: MatrixView<'_, T>,
        y: MatrixView<'_, O>,
    ) -> Outcome<Self> {
        let (x, y) = match axis {
            Axis::Rows => (x, y),
            Axis::Columns => (x.t(), y.t()),
        };
        if x.is_empty() {
            return Ok(Self::Equal {
                count: (0, 0),
                apart: [0; 2],
                is_across: false,
            });
        }
        let (x, y) = in_one_order(x, y)?;
        Ok(Self::Equal {
            count: x.shape(),
            apart: [x.leading_dimension(), y.leading_dimension()],
            is_across: x.order() == Order::ColumnMajor,
        })
    }

    /// The work of a launch on `device` for elements of `bytes` bytes, unless there are none.
    fn work(
        &self,
        device: &Device,
        bytes: usize,
        plan: fn(usize) -> ScanPlan,
    ) -> Outcome<Option<Work<'a>>> {
        let mut shape = ScanShape::zeroed();
        Ok(Some(match *self {
            Self::Equal {
                count: (rows, len),
                apart: [x_apart, y_apart],
                is_across,
            } => {
                if rows == 0 || len == 0 {
                    return Ok(None);
                }
                shape = ScanShape {
                    rows,
                    len,
                    x_apart,
                    y_apart,
                    is_across: is_across.into(),
                    ..shape
                };
                let plan = plan(len);
                Work {
                    blocks: plan.blocks(rows, is_across),
                    words: plan.state_words() * rows,
                    shape,
                    offsets: no_operand(),
                    tiles: None,
                }
            }
            Self::Segments(segments) => {
                if segments.is_empty() {
                    return Ok(None);
                }
                shape.rows = segments.len();
                let list = segments.scan_tiles(device, bytes, plan)?;
                let tiles = list.tiles.len();
                Work {
                    blocks: tiles + segments.len().div_ceil(SEGMENTS_OF_BLOCK),
                    words: if tiles == 0 {
                        0
                    } else {
                        list.words.max(TICKET_WORDS)
                    },
                    shape,
                    offsets: global(segments.offsets()),
                    tiles: Some(list),
                }
            }
        }))
    }
}

/// The shape of the results of `x`, in its order.
pub(super) fn shape_of<T: Element>(x: MatrixView<'_, T>) -> MatrixShape {
    let (rows, cols) = x.shape();
    MatrixShape {
        rows,
        cols,
        order: x.order(),
    }
}

impl<T> Kind<T> {
    /// Fails if the first result has no value: an exclusive one without an initial value, of an operation that needs
    /// an element.
    pub(super) fn check(&self, needs_an_element: bool) -> Outcome<()> {
        match self {
            Self::Exclusive(None) if needs_an_element => Err(ErrorKind::NoElements {
                what: "the first result of an exclusive scan".to_owned(),
                remedy: "give an initial value",
            }),
            _ => Ok(()),
        }
    }
}
