//! Arrays of every layout that `ndarray` has.

use ndarray::Axis;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Slice};
use proptest::prelude::*;

/// How the elements of a view lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    transposed: bool,
    /// Elements from one row, or column, to the next, backwards if negative.
    steps: [isize; 2],
    /// Rows and columns before the first, and after the last.
    margins: [usize; 2],
}

/// Any layout.
pub fn layouts() -> impl Strategy<Value = Layout> {
    let step = || prop::sample::select(vec![1, 2, 3, -1, -2]);
    (any::<bool>(), [step(), step()], [0..3_usize, 0..3]).prop_map(
        |(transposed, steps, margins)| Layout {
            transposed,
            steps,
            margins,
        },
    )
}

/// Elements in some layout, with a filler around and between them.
#[derive(Debug)]
pub struct LaidOut<T> {
    storage: Array2<T>,
    shape: [usize; 2],
    layout: Layout,
}

impl<T: Copy> LaidOut<T> {
    pub fn new(elements: &Array2<T>, filler: T, layout: Layout) -> Self {
        let (rows, columns) = elements.dim();
        let shape = if layout.transposed {
            [columns, rows]
        } else {
            [rows, columns]
        };
        let extent = |axis: usize| {
            shape[axis] * layout.steps[axis].unsigned_abs() + 2 * layout.margins[axis]
        };
        let storage = Array2::from_elem([extent(0), extent(1)], filler);
        let mut laid_out = Self {
            storage,
            shape,
            layout,
        };
        laid_out.view_mut().assign(elements);
        laid_out
    }

    /// The elements, without the fillers.
    pub fn view(&self) -> ArrayView2<'_, T> {
        let mut view = self.storage.view();
        for axis in 0..2 {
            view.slice_axis_inplace(Axis(axis), self.slice(axis));
        }
        if self.layout.transposed {
            view.reversed_axes()
        } else {
            view
        }
    }

    fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        let slices = [self.slice(0), self.slice(1)];
        let mut view = self.storage.view_mut();
        for (axis, slice) in slices.into_iter().enumerate() {
            view.slice_axis_inplace(Axis(axis), slice);
        }
        if self.layout.transposed {
            view.reversed_axes()
        } else {
            view
        }
    }

    fn slice(&self, axis: usize) -> Slice {
        let (start, step) = (self.layout.margins[axis], self.layout.steps[axis]);
        let end = start + self.shape[axis] * step.unsigned_abs();
        Slice::new(start as isize, Some(end as isize), step)
    }
}
