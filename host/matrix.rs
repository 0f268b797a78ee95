//! Matrices in device memory: owned, borrowed, and copied to and from the host.

mod batch;
mod copy;
mod methods;
mod of_buffer;
mod owned;
mod shape;
mod view;
mod view_mut;

pub use batch::{AsMatrixBatchMut, IntoMatrixBatch, MatrixBatch, MatrixBatchMut};
pub use owned::Matrix;
pub(crate) use owned::check_shape;
pub use shape::{MatrixShape, Order};
pub(crate) use view::in_one_order;
pub use view::{IntoMatrixView, MatrixView};
pub use view_mut::{AsMatrixViewMut, MatrixViewMut};
