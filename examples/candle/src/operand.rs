//! Tensors of candle as matrices.

use candle_core::{Layout, Result, bail};
use tilewright::{BufferView, Element, MatrixShape, MatrixView, Order};

/// Where a matrix lies in the storage of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The element that comes first.
    pub start: usize,
    pub shape: MatrixShape,
    leading_dimension: usize,
}

impl Operand {
    pub fn new(layout: &Layout) -> Result<Self> {
        let (&[rows, columns], &[down, across]) = (layout.dims(), layout.stride()) else {
            bail!(
                "a product needs matrices, and a tensor has shape {:?}",
                layout.dims()
            );
        };
        // The stride of a dimension of one element means nothing.
        let lines = |order, (count, apart): (usize, usize), (len, stride): (usize, usize)| {
            let apart = if count <= 1 { len } else { apart };
            let has_lines = (stride == 1 || len <= 1) && apart >= len;
            has_lines.then(|| Self {
                start: layout.start_offset(),
                shape: (rows, columns, order).into(),
                leading_dimension: apart,
            })
        };
        let by_rows = lines(Order::RowMajor, (rows, down), (columns, across));
        match by_rows.or_else(|| lines(Order::ColumnMajor, (columns, across), (rows, down))) {
            Some(operand) => Ok(operand),
            None => bail!("neither rows nor columns are contiguous; call Tensor::contiguous first"),
        }
    }

    /// The matrix in `storage`, which begins with its first element.
    pub fn view<'a, T: Element>(
        &self,
        storage: BufferView<'a, T>,
    ) -> tilewright::Result<MatrixView<'a, T>> {
        storage.as_matrix_strided(self.shape, self.leading_dimension)
    }
}

/// The shape of a product's result.
pub fn product_shape(a: &Operand, b: &Operand) -> Result<(usize, usize)> {
    match a.shape.cols == b.shape.rows {
        true => Ok((a.shape.rows, b.shape.cols)),
        false => bail!(
            "the matrices are {}x{} and {}x{}: the inner sizes must be equal",
            a.shape.rows,
            a.shape.cols,
            b.shape.rows,
            b.shape.cols
        ),
    }
}
