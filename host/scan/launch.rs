//! Launches of kernels that scan rows: of a matrix, or of a buffer as one row.

use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, MUST_BE_EQUAL, Outcome, check_length};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, read_elements, written_by_product};
use crate::matrix::{MatrixView, MatrixViewMut};
use crate::rows::{apart, check_order};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::scan::{SCAN_THREADS, ScanPlan, ScanShape};

/// Which elements a result includes.
#[derive(Clone, Copy)]
pub(super) enum Kind<T> {
    /// Those before it, and its own.
    Inclusive,
    /// Those before it, after an initial value if there is one.
    Exclusive(Option<T>),
}

/// Elements to scan, and their results.
pub(super) struct Scanned<'a, T, O> {
    pub x: Global<'a, T>,
    pub y: GlobalMut<'a, O>,
    /// The number of rows, and of elements in each.
    rows: (usize, usize),
    /// Elements from one row to the next, of both.
    apart: [usize; 2],
}

/// The parameters of a launch.
pub(super) type ScanParams<'a, T, O> = (
    Global<'a, T>,
    GlobalMut<'a, O>,
    GlobalMut<'a, u64>,
    [T; 1],
    GridConstant<'a, ScanShape>,
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
        Ok(Self {
            rows: (1, x.len()),
            apart: [x.len(), y.len()],
            x: global(x),
            y: global_mut(y),
        })
    }

    /// The rows of `x`, whose results go to `y`.
    pub(super) fn rows(
        device: &Device,
        x: MatrixView<'a, T>,
        y: MatrixViewMut<'a, O>,
    ) -> Outcome<Self> {
        const NAMES: [&str; 2] = ["the matrix to scan", "the matrix of the results"];
        device.check_reads(|| NAMES[0].to_owned(), x.holder())?;
        check_order(device, x)?;
        device.check_writes(|| NAMES[1].to_owned(), y.written())?;
        check_order(device, y.view())?;
        if x.shape() != y.shape() {
            return Err(ErrorKind::ShapeMismatch {
                operands: NAMES,
                left: x.shape(),
                right: y.shape(),
                rule: MUST_BE_EQUAL,
            });
        }
        let apart = [apart(x), apart(y.view())];
        Ok(Self {
            rows: x.shape(),
            apart,
            // SAFETY: for both: the kernels access nothing but the elements of the rows.
            x: unsafe { read_elements(x.into()) },
            // SAFETY: as above.
            y: unsafe { written_by_product(y.into()) },
        })
    }

    /// Runs `submit`, which submits the launch, unless there is nothing to scan. `plan` gives the split of a row.
    ///
    /// The launch meets the requirements of a kernel that `row_scan_kernel!` makes, for an operation whose plan it is:
    /// its grid, rows and state.
    pub(super) fn launch(
        self,
        device: &Device,
        plan: fn(usize) -> ScanPlan,
        kind: Kind<T>,
        submit: impl FnOnce(LaunchConfig, ScanParams<'_, T, O>) -> Outcome<()>,
    ) -> Outcome<()> {
        let (rows, len) = self.rows;
        if rows == 0 || len == 0 {
            return Ok(());
        }
        let plan = plan(len);
        let blocks = rows.saturating_mul(plan.tiles).div_ceil(plan.rows_of_block);
        let blocks = grid_x(blocks, || {
            format!("a grid to scan {rows} rows of {len} elements")
        })?;
        let words = plan.state_words() * rows;
        let mut state = Buffer::<u64>::zeroed(device, words)?;
        let initial = match kind {
            Kind::Exclusive(initial) => initial,
            Kind::Inclusive => None,
        };
        let shape = ScanShape {
            rows,
            len,
            x_apart: self.apart[0],
            y_apart: self.apart[1],
            is_exclusive: u32::from(matches!(kind, Kind::Exclusive(_))),
            has_initial: u32::from(initial.is_some()),
        };
        let initial = [initial.unwrap_or_else(T::zeroed)];
        let state = global_mut(state.view_mut());
        let params = (self.x, self.y, state, initial, GridConstant::new(&shape));
        submit(LaunchConfig::new(blocks, SCAN_THREADS), params)
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
