//! The native module of the Python package `tilewright`: calls of the crate on DLPack tensors.
//!
//! `python/tilewright/__init__.py` is the public interface. It picks the stream, makes room for results in the caller's
//! library, and copies operands whose layout no kernel takes.

mod array;
mod devices;
mod element;
mod errors;
mod held;
mod operand;
mod product;
mod reduction;
mod staged;

/// The functions that the package calls.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::array::Array;
    #[pymodule_export]
    use super::devices::{device_name, is_simulator};
    #[pymodule_export]
    use super::product::{matmul, product_type};
    #[pymodule_export]
    use super::reduction::{reduce, reduced_type};
}
