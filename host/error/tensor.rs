//! What is wrong with a tensor of another library.

/// Why a tensor of another library cannot be a buffer, a matrix or a batch of matrices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// Its description contradicts itself or the protocol.
    #[error("the tensor's description is wrong: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },

    /// Its elements are of another type.
    #[error("the tensor's elements are {found}, and this call needs {expected}")]
    Element {
        /// The type that was asked for.
        expected: &'static str,
        /// The tensor's type, such as `float 32`.
        found: String,
    },

    /// It has another number of dimensions.
    #[error("{needed}, and the tensor's shape is {shape:?}")]
    Dimensions {
        /// How many it needs, such as `a matrix has 2 dimensions`.
        needed: &'static str,
        /// The size of each dimension.
        shape: Vec<i64>,
    },

    /// Its elements have another layout in memory.
    #[error(
        "the elements of a tensor of shape {shape:?} with strides {strides:?} {rule}; copy the tensor to \
         contiguous memory"
    )]
    Strides {
        /// The size of each dimension.
        shape: Vec<i64>,
        /// The distance between neighbours in each dimension, in elements.
        strides: Vec<i64>,
        /// How the elements must lie.
        rule: &'static str,
    },

    /// It must not be written.
    #[error("the tensor is read-only")]
    ReadOnly,
}
