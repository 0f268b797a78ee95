//! The largest elements of buffers and rows, in order.

use crate::buffer::{Buffer, BufferView, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::kernels::{OwnKernel, own_kernels};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, no_operand, read_elements};
use crate::matrix::{IntoMatrixView, Matrix, MatrixView};
use crate::module::Module;
use crate::rows::{apart, check_order};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use half::{bf16, f16};
use tilewright_kernels::for_each_top_k;
use tilewright_kernels::top_k::{self, MOST_OF_CHUNK, MOST_SELECTED, TOP_K_THREADS, TopKShape};

/// Enough chunks, over all rows, to fill a device.
const MANY_CHUNKS: usize = 1024;

/// The fewest elements of a chunk that are worth a block.
const FEWEST_OF_CHUNK: usize = 4096;

/// An element type of [`Device::top_k`]: f32, f64, f16, bf16, i32, u32, i64 and u64.
#[diagnostic::on_unimplemented(
    message = "the largest of `{Self}` cannot be selected",
    note = "top_k is for f32, f64, f16, bf16, i32, u32, i64 and u64"
)]
pub trait TopKElement: sealed::TopKElement {}

mod sealed {
    use super::{Element, Global, GlobalMut, GridConstant, OwnKernel, TopKShape};

    /// An element type with a kernel.
    pub trait TopKElement: Element {
        type Kernel: for<'launch> OwnKernel<
            Params<'launch> = (
                Global<'launch, Self>,
                Global<'launch, u64>,
                GlobalMut<'launch, Self>,
                GlobalMut<'launch, u64>,
                GridConstant<'launch, TopKShape>,
            ),
        >;
    }
}

macro_rules! top_k_elements {
    ($($element:ident: $kernel:ident;)*) => {$(
        own_kernels!(top_k: $kernel);

        impl sealed::TopKElement for $element {
            type Kernel = top_k::$kernel;
        }

        impl TopKElement for $element {}
    )*};
}
for_each_top_k!(top_k_elements);

impl Device {
    /// The `k` largest elements of `x`, in descending order, and their indices.
    ///
    /// Of equal elements, those with lower indices come first. The order is that of the operation `Max`: NaN comes
    /// before all numbers, as the canonical one, and +0 before -0. `k` is at most 2048, and at most the number of
    /// elements. The call does not wait.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[2.0_f32, 7.0, 5.0, 7.0, 1.0])?;
    /// let (values, indices) = device.top_k(&x, 3)?;
    /// assert_eq!(values.to_vec()?, [7.0, 7.0, 5.0]);
    /// assert_eq!(indices.to_vec()?, [1, 3, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if `x` has fewer than `k` elements, or if `k` is more than 2048;
    /// [`ErrorKind::WrongDevice`] if `x` is on another device; [`ErrorKind::NoModule`], and those of [`Device::zeros`].
    pub fn top_k<'x, T: TopKElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
        k: usize,
    ) -> Result<(Buffer<T>, Buffer<u64>)> {
        self.largest_of_buffer(x.into(), k).during("top_k")
    }

    /// The `k` largest elements of each row of `matrix`, in descending order, and their column numbers.
    ///
    /// `matrix` is `&matrix` or a view with contiguous rows. The rules are those of [`Device::top_k`].
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let logits = device.matrix((2, 3), &[0.5_f32, 2.0, 1.0, 3.0, -1.0, 4.0])?;
    /// let (values, columns) = device.top_k_rows(&logits, 2)?;
    /// assert_eq!(values.to_vec()?, [2.0, 1.0, 4.0, 3.0]);
    /// assert_eq!(columns.to_vec()?, [1, 2, 2, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoKernel`] if the rows are not contiguous, and those of [`Device::top_k`].
    pub fn top_k_rows<'m, T: TopKElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        k: usize,
    ) -> Result<(Matrix<T>, Matrix<u64>)> {
        self.largest_of_rows(matrix.into(), k).during("top_k_rows")
    }

    fn largest_of_buffer<T: TopKElement>(
        &self,
        x: BufferView<'_, T>,
        k: usize,
    ) -> Outcome<(Buffer<T>, Buffer<u64>)> {
        self.check_reads(|| "the buffer".to_owned(), x.holder())?;
        check_k(k, x.len(), "elements")?;
        let mut largest = (Buffer::uninit(self, k)?, Buffer::uninit(self, k)?);
        let results = (
            global_mut(largest.0.view_mut()),
            global_mut(largest.1.view_mut()),
        );
        let shape = (1, x.len(), x.len());
        self.select_largest(global(x), shape, k, results)?;
        Ok(largest)
    }

    fn largest_of_rows<T: TopKElement>(
        &self,
        x: MatrixView<'_, T>,
        k: usize,
    ) -> Outcome<(Matrix<T>, Matrix<u64>)> {
        self.check_reads(|| "the matrix".to_owned(), x.holder())?;
        check_order(self, x)?;
        let (rows, len) = x.shape();
        check_k(k, len, "columns")?;
        let shape = (rows, k).into();
        let mut largest = (Matrix::uninit(self, shape)?, Matrix::uninit(self, shape)?);
        let results = (
            global_mut(largest.0.buffer_mut().view_mut()),
            global_mut(largest.1.buffer_mut().view_mut()),
        );
        let shape = (rows, len, apart(x));
        // SAFETY: the kernel reads nothing but the elements of the rows.
        let x = unsafe { read_elements(x.into()) };
        self.select_largest(x, shape, k, results)?;
        Ok(largest)
    }

    /// Writes the `k` largest of each row of `x`, which has rows, their length and the distance from one to the next.
    fn select_largest<T: TopKElement>(
        &self,
        x: Global<'_, T>,
        (rows, len, apart): (usize, usize, usize),
        k: usize,
        results: (GlobalMut<'_, T>, GlobalMut<'_, u64>),
    ) -> Outcome<()> {
        if rows == 0 || k == 0 {
            return Ok(());
        }
        let mut shape = TopKShape {
            rows,
            len,
            apart,
            chunk: chunk_of((rows, len), k),
            selected: k,
        };
        if shape.chunks() == 1 {
            return self.launch_top_k((x, no_operand()), results, &shape);
        }
        let mut candidates = self.candidates::<T>((x, no_operand()), &shape)?;
        loop {
            let len = shape.selected_of_row();
            let chunk = chunk_of((rows, len), k);
            shape = TopKShape {
                len,
                apart: len,
                chunk,
                ..shape
            };
            let operands = (global(candidates.0.view()), global(candidates.1.view()));
            if shape.chunks() == 1 {
                return self.launch_top_k(operands, results, &shape);
            }
            candidates = self.candidates::<T>(operands, &shape)?;
        }
    }

    /// The largest elements of each chunk, and their indices in their rows.
    fn candidates<T: TopKElement>(
        &self,
        operands: (Global<'_, T>, Global<'_, u64>),
        shape: &TopKShape,
    ) -> Outcome<(Buffer<T>, Buffer<u64>)> {
        let len = shape.rows * shape.selected_of_row();
        let mut found = (Buffer::uninit(self, len)?, Buffer::uninit(self, len)?);
        let results = (
            global_mut(found.0.view_mut()),
            global_mut(found.1.view_mut()),
        );
        self.launch_top_k(operands, results, shape)?;
        Ok(found)
    }

    fn launch_top_k<T: TopKElement>(
        &self,
        (x, origins): (Global<'_, T>, Global<'_, u64>),
        (values, indices): (GlobalMut<'_, T>, GlobalMut<'_, u64>),
        shape: &TopKShape,
    ) -> Outcome<()> {
        let blocks = grid_x(shape.rows.saturating_mul(shape.chunks()), || {
            format!("a grid for {} rows of {} elements", shape.rows, shape.len)
        })?;
        let config = LaunchConfig::new(blocks, TOP_K_THREADS);
        let params = (x, origins, values, indices, GridConstant::new(shape));
        // SAFETY: the kernel's requirements: a block for each chunk of each row, whose elements `x` has, and `origins`
        // unless it is empty; the results have the elements of the shape. Views of live memory without conflicting
        // work: the caller borrows them, or frees them after the launch, in the device's order.
        unsafe { Module::launch_own::<T::Kernel>(self, config, params) }
    }
}

/// Elements of a chunk of a row of `len`: as many as fill the device, or all if they are few.
fn chunk_of((rows, len): (usize, usize), k: usize) -> usize {
    if len <= MOST_OF_CHUNK / 4 {
        return len;
    }
    let of_row = (MANY_CHUNKS / rows).max(1);
    let chunk = len.div_ceil(of_row);
    chunk
        .clamp(FEWEST_OF_CHUNK.max(4 * k), MOST_OF_CHUNK)
        .min(len)
}

/// Fails unless `k` elements can be selected of `len`.
fn check_k(k: usize, len: usize, what: &'static str) -> Outcome<()> {
    let remedy = match k {
        _ if k > len => "select at most as many as there are",
        _ if k > MOST_SELECTED => "select at most 2048, or sort",
        _ => return Ok(()),
    };
    Err(ErrorKind::TooLarge {
        what: format!("a selection of {k} of {len} {what}"),
        remedy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_fit_a_block_and_leave_fewer_elements() {
        for rows in [1, 3, 300, 5000] {
            for len in [1, 2048, 5000, 65_536, 65_537, 1 << 20, (1 << 32) + 3] {
                for k in [1, 8, MOST_SELECTED].map(|k| k.min(len)) {
                    let chunk = chunk_of((rows, len), k);
                    assert!(chunk <= MOST_OF_CHUNK && chunk >= k, "{rows} {len} {k}");
                    let shape = TopKShape {
                        rows,
                        len,
                        apart: len,
                        chunk,
                        selected: k,
                    };
                    let is_less = shape.selected_of_row() <= len / 2 + k;
                    assert!(shape.chunks() == 1 || is_less, "{rows} {len} {k}");
                }
            }
        }
    }
}
